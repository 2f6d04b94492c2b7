import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readDefinitions } from "../../lib/local/definitions.ts";

async function fileWith(name: string, text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "punctual-files-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, name), text);
  return join(directory, name);
}

describe("a file of schedules", () => {
  it.each([
    ["a JSON list", "list.json", '[{"scheduleId":"a","rate":"1 minute"},{"scheduleId":"b","cron":"@daily"}]'],
    ["a YAML list", "list.yaml", "- scheduleId: a\n  rate: 1 minute\n- scheduleId: b\n  cron: '@daily'\n"],
    [
      "a map with a list",
      "map.yaml",
      "schedules:\n- {scheduleId: a, rate: 1 minute}\n- {scheduleId: b, cron: '@daily'}\n",
    ],
  ])("may be %s", async (_, name, text) => {
    expect(await readDefinitions(await fileWith(name, text))).toEqual([
      { scheduleId: "a", rate: "1 minute" },
      { scheduleId: "b", cron: "@daily" },
    ]);
  });

  it("may be a single definition", async () => {
    expect(await readDefinitions(await fileWith("one.json", '{"scheduleId":"a","at":"2030-01-01T00:00:00Z"}'))).toEqual(
      [{ scheduleId: "a", at: "2030-01-01T00:00:00Z" }],
    );
  });

  it.each([
    ["missing", undefined, "ENOENT"],
    ["no YAML", "a: [", "Flow sequence"],
    ["about something else", '["a"]', "no list of maps with a scheduleId"],
  ])("is refused in one line when it is %s", async (_, text, why) => {
    const path = text === undefined ? "/nowhere/schedules.json" : await fileWith("bad.yaml", text);
    const error = await readDefinitions(path).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(`--schedules must be a JSON or YAML file of schedules, got ${path}: `);
    expect(String(error)).toContain(why);
    expect(String(error)).not.toContain("\n");
  });
});

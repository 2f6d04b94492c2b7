import { expect, test } from "vitest";
import { loadSimulation } from "./bundle.ts";
import { MUTANTS } from "./mutants/index.ts";
import type { Patch } from "./patch.ts";
import { simulate } from "./simulate.ts";

/** Runs the command on production code with `patches`. */
async function run(argv: readonly string[], patches: readonly Patch[] = []) {
  let out = "";
  let err = "";
  const code = await simulate(argv, {
    stdout: (text) => {
      out += text;
    },
    stderr: (text) => {
      err += text;
    },
    load: () => loadSimulation(`simulate-${patches.length}`, patches),
  });
  return { code, out, err };
}

const planted = MUTANTS.filter(({ name }) => name === "a retry sent with the bare id");

test("tells the seed, the invariant and the run's timeline of a planted bug, and the way to the same again", async () => {
  const { code, out } = await run(["--seeds", "100", "--minutes", "12"], planted);
  expect(code).toBe(1);
  const lines = out.trimEnd().split("\n");
  const seed = /^seed (\d+) breaks "messages carry their attempts"$/.exec(lines[0] ?? "")?.[1];
  expect(lines[1]).toMatch(/^s\d@\S+: the first message of attempt \d+ was swallowed \(at \S+Z\)$/);
  // Each line of the timeline: when, who, and what became of the run or its schedule.
  const timeline = lines.slice(2, -1);
  expect(timeline.length).toBeGreaterThan(5);
  for (const line of timeline) expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} \S+ +\S/);
  expect(timeline.join("\n")).toMatch(/dispatcher-\d#\d+ +s\d@\S+ [A-Z]+ -> DISPATCHED +token \d/);
  expect(lines.at(-1)).toBe(`again: npm run simulate -- --seed ${seed} --minutes 12`);

  const again = await run(["--seed", String(seed), "--minutes", "12"], planted);
  expect([again.code, again.out]).toEqual([code, out]);
  const mended = await run(["--seed", String(seed), "--minutes", "12"]);
  expect(mended.code).toBe(0);
});

test("sums up in one last line what was simulated", async () => {
  const { code, out } = await run(["--seeds", "3", "--minutes", "6"]);
  expect(code).toBe(0);
  const [, faults, kinds] =
    /^3 seeds, \d+ simulated hours, \d+ exchanges, (\d+) faults \((.*)\); per CPU-minute \d+ hours and \d+ faults\n$/.exec(
      out,
    ) ?? [];
  const sum = (kinds ?? "").split(", ").reduce((total, kind) => total + Number(/^[a-z-]+ (\d+)$/.exec(kind)?.[1]), 0);
  expect(sum).toBe(Number(faults));
});

test.each([
  ["--seeds many", "--seeds must be a whole number, got many"],
  ["--sedes 5", "Unknown option '--sedes'"],
])("refuses %s, and says what is right", async (options, problem) => {
  const { code, out, err } = await run(options.split(" "));
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(problem);
  expect(err).toContain("npm run simulate -- [--seeds N] [--seed S] [--minutes M]");
});

test("tells its options when asked", async () => {
  const { code, out } = await run(["--help"]);
  expect(code).toBe(0);
  expect(out).toContain("--minutes");
});

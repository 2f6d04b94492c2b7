import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duration } from "aws-cdk-lib";
import { describe, expect, it, onTestFinished } from "vitest";
import { settingsFromContext } from "../../lib/construct/context.ts";
import { InvalidDeploymentError } from "../../lib/construct/errors.ts";

function fileWith(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), "punctual-queues-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "queues.yaml");
  writeFileSync(file, text);
  return file;
}

const propsOf = (file: string) => settingsFromContext({ queues: file }).props;

describe("a file of queues", () => {
  it("says in plain numbers what the construct's props say", () => {
    const file = fileWith(`
default: { retry: { maxAttempts: 4 } }
reports:
  jobs: ./reports.ts
  consumerTimeoutSeconds: 900
  consumerMemorySize: 1024
  batchSize: 1
  retry: { baseDelaySeconds: 0.5, maxDelaySeconds: 60, jitter: false }
workers: { consumer: false, timeoutMaxSeconds: 7200, visibilityTimeoutSeconds: 60 }
plain: { completion: enqueued }
`);
    expect(propsOf(file)).toEqual({
      retry: { maxAttempts: 4 },
      queues: {
        reports: {
          jobs: join(file, "../reports.ts"),
          consumerTimeout: Duration.seconds(900),
          consumerMemorySize: 1_024,
          batchSize: 1,
          retry: { baseDelay: Duration.millis(500), maxDelay: Duration.millis(60_000), jitter: false },
        },
        workers: { consumer: false, timeoutMax: Duration.seconds(7_200), visibilityTimeout: Duration.seconds(60) },
        plain: { completion: "enqueued" },
      },
    });
  });

  it("may be JSON", () => {
    expect(propsOf(fileWith('{"plain": {"completion": "enqueued"}}'))).toEqual({
      queues: { plain: { completion: "enqueued" } },
    });
  });

  it("is refused with the path of all that is wrong in it", () => {
    const file = fileWith("default: { batchSize: 1 }\nreports: { consumerTimeoutSeconds: long, memory: 5 }\nplain: on");
    expect(() => propsOf(file)).toThrow(InvalidDeploymentError);
    for (const problem of [
      `queues must be a JSON or YAML file of queues, got ${file}: default.batchSize: is not known here`,
      'reports.consumerTimeoutSeconds: must be a whole number of seconds, got "long"',
      "reports.memory: is not known here; remove it or mend its spelling",
      'plain: must be a map of a queue\'s settings, got "on"',
    ])
      expect(() => propsOf(file)).toThrow(problem);
  });

  it.each([
    ["- a\n- b", /must be a map of queues by their names/],
    ["a: [", /got \S+queues\.yaml: [^\n]+$/],
  ])("is refused in one line where it is %j", (text, message) => {
    const file = fileWith(text);
    expect(() => propsOf(file)).toThrow(message);
  });

  it("is refused where it does not exist", () => {
    expect(() => propsOf("/no/such/queues.yaml")).toThrow(/got \/no\/such\/queues\.yaml: ENOENT/);
  });
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createClosing } from "../../lib/local/closing.ts";
import { startEngines } from "../../lib/local/engines/start.ts";
import { startScheduler } from "../../lib/local/start.ts";
import { synthesizedTemplate } from "../../lib/local/template/synthesize.ts";
import { consumerHere } from "../support/consumer-here.ts";

const ROOT = join(import.meta.dirname, "../..");

it("the local engine serves the queues of a file: by a consumer of their own, and done once SQS has the run", async () => {
  const directory = await mkdtemp(join(tmpdir(), "punctual-queues-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "queues.yaml");
  await writeFile(file, "reports: { retry: { maxAttempts: 2, baseDelaySeconds: 0 } }\nplain: { completion: enqueued }");
  const closing = createClosing();
  onTestFinished(() => closing.close());
  const engines = await startEngines({ dynamodbPort: 0, sqsPort: 0, onBusEvent: () => {} }, closing);
  const template = await synthesizedTemplate(ROOT, join(ROOT, ".punctual"), new AbortController().signal, file);
  const attempts: string[] = [];
  const ended = new Map<string, (line: string) => void>();
  const end = (name: string) => new Promise<string>((resolve) => ended.set(name, resolve));
  const ends = Promise.all([end("DEAD_LETTERED reports@"), end("SUCCEEDED plain@")]);
  const scheduler = await startScheduler({
    engines,
    template,
    closing,
    makeConsumer: consumerHere({
      fails: (_, { attempt, maxAttempts }) => {
        attempts.push(`${attempt} of ${maxAttempts}`);
        throw new Error("no");
      },
    }),
    checkpointDir: undefined,
    print: () => {},
    tell: (line) => {
      for (const [name, resolve] of ended) if (name.split(" ").every((part) => line.includes(part))) resolve(line);
    },
  });
  const at = new Date(Date.now() + 500).toISOString();
  await scheduler.put([
    { scheduleId: "reports", at, queue: "reports", job: "fails" },
    { scheduleId: "plain", at, queue: "plain", job: "fails" },
  ]);
  await ends;
  expect(attempts).toEqual(["1 of 2", "2 of 2"]);
  await expect(scheduler.put([{ scheduleId: "lost", at, queue: "nowhere" }])).rejects.toThrow(
    'queue: must be a queue of this deployment (default, reports, plain), got "nowhere"',
  );
});

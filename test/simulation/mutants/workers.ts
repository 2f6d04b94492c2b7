import type { Mutant } from "./mutant.ts";

const FLOOR = "lib/app/engine/worker/floor.ts";
const LINE = "lib/app/engine/worker/waiting-line.ts";

/** Bugs planted into what is the long-polling worker's own. */
export const WORKER_MUTANTS: readonly Mutant[] = [
  {
    name: "a worker that acknowledges before it starts",
    shownBy: { world: "a worker with a job that kills its process" },
    file: FLOOR,
    find: "const result = await runDelivery({",
    replace: "receipts.acknowledge(message);\n      const result = await runDelivery({",
  },
  {
    name: "a worker that acknowledges as the job begins",
    shownBy: { world: "a worker with a job that kills its process" },
    file: FLOOR,
    find: "begun.job = runner.execute(attempt);",
    replace:
      "begun.job = runner.execute(attempt);\n      for (const held of this.#running) if (held.message.id === id) this.#options.receipts.acknowledge(held.message);",
  },
  {
    name: "a worker that acknowledges what it could not start",
    shownBy: { world: "a worker whose starts are not taken for a while" },
    file: FLOOR,
    find: 'if (result.kind === "hand-back") {',
    replace: 'if (result.kind === "hand-back" && message.receives > 9) {',
  },
  {
    name: "waiting messages that are not kept hidden, and started though others may have them",
    shownBy: { world: "workers that can hide nothing" },
    file: LINE,
    find: "      await this.#hideAll();\n",
    replace: "",
    also: [{ file: LINE, find: "if (!this.#hasLapsed(next)) return next;", replace: "return next;" }],
  },
  {
    name: "suspects that a worker runs beside their neighbours",
    shownBy: { world: "a worker with a job that kills its process" },
    file: FLOOR,
    find: "return line.firstSuspect === undefined || this.#atWork === 0;",
    replace: "return true;",
    also: [
      {
        file: FLOOR,
        find: "if (line.length === 0 || this.#runsAlone || this.#atWork >= concurrency) return false;",
        replace: "if (line.length === 0 || this.#atWork >= concurrency) return false;",
      },
    ],
  },
  {
    name: "a worker that goes on with what waits after its shutdown",
    shownBy: { world: "a worker that is shut down: one job ends within the grace, one that waits is handed back" },
    file: FLOOR,
    find: "line.takeAll().map(({ message }) => message),",
    replace: "[],",
    also: [
      {
        file: FLOOR,
        find: "if (this.#closed !== undefined) return receipts.handBack([message], 0, CLOSED);",
        replace: "",
      },
    ],
  },
  {
    name: "a shutdown that waits for jobs that pay no heed",
    shownBy: { world: "a worker that is shut down: one job does not end within the grace, one pays no heed" },
    file: "lib/app/engine/run-occurrence.ts",
    find: "await host.sleep(ABORT_GRACE_MS, ended.signal);",
    replace: "await job;",
  },
  {
    name: "a shutdown whose grace has no end",
    shownBy: { world: "a worker that is shut down: one job does not end within the grace, one pays no heed" },
    file: "lib/jobs/create-worker.ts",
    find: 'if (!over.signal.aborted) abort.abort(new DOMException("the worker is shutting down", "AbortError"));',
    replace: "",
  },
  {
    name: "a worker that receives no more after a receive that failed",
    shownBy: { world: "a receive whose answer is lost: its messages come again" },
    file: "lib/app/engine/worker/run-worker.ts",
    find: "await host.sleep(retryDelayMs(RECEIVE_BACKOFF, failures, engine.random()), over);\n      continue;",
    replace: "return;",
  },
];

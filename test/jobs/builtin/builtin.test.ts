import { describe, expect, it } from "vitest";
import { createMemoryBus } from "../../../lib/adapters/memory/bus.ts";
import { createEventJob } from "../../../lib/jobs/builtin/event.ts";
import { createBuiltinJobs } from "../../../lib/jobs/builtin/index.ts";
import { logJob } from "../../../lib/jobs/builtin/log.ts";
import { outcomeOf } from "../../../lib/jobs/outcomes.ts";
import { parsePayload } from "../../../lib/jobs/payload.ts";
import { OCCURRENCE_ID, testContext } from "./context.ts";

const run = { occurrenceId: OCCURRENCE_ID, scheduleId: "hello", scheduledFor: "2026-11-29T09:00:00.000Z" };

describe("the log job", () => {
  it("logs the run and its payload, and returns nothing", async () => {
    const { context, lines } = testContext();
    expect(await logJob({ greeting: "hi" }, context)).toBeUndefined();
    expect(lines).toEqual([
      { message: "Ran", fields: expect.objectContaining({ ...run, attempt: 2, payload: { greeting: "hi" } }) },
    ]);
  });
});

describe("the event job", () => {
  it("puts the payload's event on the bus, with the run in it", async () => {
    const bus = createMemoryBus();
    const job = createEventJob(bus);
    const payload = await parsePayload(job.schema, { detailType: "Report Due", detail: { report: 7 } });
    await job.handler(payload, testContext().context);
    expect(bus.published).toEqual([
      {
        detailType: "Report Due",
        detail: { report: 7, punctual: expect.objectContaining({ ...run, attempt: 2, fencingToken: 3 }) },
      },
    ]);
  });

  it("is retried when the bus does not take the event", async () => {
    const cause = new Error("throttled");
    const job = createEventJob(createMemoryBus(() => cause));
    const failed = Promise.resolve(job.handler({ detailType: "Report Due", detail: {} }, testContext().context));
    await expect(failed).rejects.toMatchObject({ message: "the event did not get to the bus", cause });
    expect(outcomeOf(await failed.catch((error: unknown) => error))).toEqual({ kind: "retryable" });
  });

  it.each([[{}], [{ detailType: "" }], [{ detailType: "x".repeat(129) }], [{ detailType: "x", detail: [] }]])(
    "fails for good on the payload %j",
    async (payload) => {
      const { schema } = createEventJob(createMemoryBus());
      await expect(parsePayload(schema, payload)).rejects.toThrow(/payload\.detail/);
    },
  );
});

describe("the built-in jobs", () => {
  it("are log and http, and event where there is a bus for it", () => {
    expect(Object.keys(createBuiltinJobs())).toEqual(["log", "http"]);
    expect(Object.keys(createBuiltinJobs({ bus: createMemoryBus() }))).toEqual(["log", "http", "event"]);
  });

  it("cannot be made with an allow-list that cannot be read", () => {
    expect(() => createBuiltinJobs({ http: { allow: ["*"] } })).toThrow("an entry of the allow-list must be");
  });
});

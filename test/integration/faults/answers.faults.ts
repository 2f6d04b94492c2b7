import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import { type FaultEngines, SCENARIO_TIMEOUT_MS, START_TIMEOUT_MS } from "../../support/faults/engines.ts";
import type { Intercept, ProxiedAnswer } from "../../support/faults/proxy.ts";
import { type FaultWorld, newFaultWorld } from "../../support/faults/world.ts";

/** One-shots that are due together. */
async function putOneShots(into: FaultWorld, scheduleIds: readonly string[]) {
  const at = toIso(plusMs(into.now(), 1_000));
  await into.put(scheduleIds.map((scheduleId) => ({ scheduleId, at })));
  return scheduleIds.map((scheduleId) => ({ scheduleId, firing: at }));
}

const batch = z.object({
  QueueUrl: z.string(),
  Entries: z.array(z.looseObject({ Id: z.string(), MessageBody: z.string() })),
});
const taken = z.looseObject({ Successful: z.array(z.unknown()).default([]) });

/** SQS as it takes all of a batch but the messages of `scheduleIds`, which it answers with `failure`. */
const refusing =
  (scheduleIds: readonly string[], failure: { Code: string; SenderFault: boolean }): Intercept =>
  async (request, forward) => {
    const { Entries, ...rest } = batch.parse(request.body);
    const isRefused = ({ MessageBody }: { MessageBody: string }) =>
      scheduleIds.some((scheduleId) => MessageBody.includes(`"${scheduleId}"`));
    const others = Entries.filter((entry) => !isRefused(entry));
    const { status, body } =
      others.length > 0 ? await forward({ ...rest, Entries: others }) : { status: 200, body: {} };
    const Failed = Entries.filter(isRefused).map(({ Id }) => ({ Id, ...failure, Message: "refused by the test" }));
    return { status, body: { ...taken.parse(body), Failed } };
  };

const lost: Intercept = async (_, forward) => {
  await forward();
  return "lost";
};

const throttled: ProxiedAnswer = {
  status: 400,
  body: {
    __type: "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
    message: "the test's own throttle",
  },
};

/** What holds where SQS refuses, DynamoDB throttles, or answers are lost. */
export function answerFaults(engines: () => FaultEngines): void {
  // One deployment for nearly all of it: each test has schedules of its own, and its faults strike no others.
  let world: FaultWorld;
  beforeAll(async () => {
    world = await newFaultWorld(engines());
    world.startDispatcher();
    world.startConsumer();
  }, START_TIMEOUT_MS);
  afterAll(() => world.close());

  describe.concurrent("a batch of ten of which SQS refuses three", { timeout: SCENARIO_TIMEOUT_MS }, () => {
    it("sends the seven, and the three again: nothing is stranded and nothing costs an attempt", async ({
      onTestFinished,
    }) => {
      const own = await newFaultWorld(engines());
      onTestFinished(() => own.close());
      const ids = Array.from({ length: 10 }, (_, index) => `ten-${index}`);
      const refused = ["ten-2", "ten-5", "ten-7"];
      const which = { operation: "SendMessageBatch", mentions: ids };
      own.sqs.intercept(which, refusing(refused, { Code: "InternalError", SenderFault: false }));
      const keys = await putOneShots(own, ids);
      // Only now, so that it finds all ten together however long it took to put them.
      own.startDispatcher();
      own.startConsumer();
      const rows = await Promise.all(keys.map((key) => own.until(key, ({ status }) => status === "SUCCEEDED")));
      expect(rows.map(({ scheduleId, attempts, fencingToken }) => ({ scheduleId, attempts, fencingToken }))).toEqual(
        ids.map((scheduleId) => ({ scheduleId, attempts: 1, fencingToken: refused.includes(scheduleId) ? 2 : 1 })),
      );
      await own.queue.drained();
      expect(ids.map((scheduleId) => own.starts(scheduleId).length)).toEqual(ids.map(() => 1));
    });
  });

  describe.concurrent("a message that SQS can never take", { timeout: SCENARIO_TIMEOUT_MS }, () => {
    it("fails its run with SQS's reason, and its neighbour goes out", async () => {
      const failure = { Code: "InvalidMessageContents", SenderFault: true };
      world.sqs.intercept({ operation: "SendMessageBatch", mentions: ["never"] }, refusing(["never"], failure));
      const [never, beside] = await putOneShots(world, ["never", "beside"]);
      if (never === undefined || beside === undefined) throw new Error("two schedules were put");
      await world.until(beside, ({ status }) => status === "SUCCEEDED");
      expect(await world.until(never, ({ status }) => status === "FAILED")).toMatchObject({
        deadLetterReason: "rejected-by-queue",
        lastError: { name: "InvalidMessageContents", message: "refused by the test" },
      });
      expect(world.starts("never")).toEqual([]);
    });
  });

  describe.concurrent("a claim that DynamoDB throttles", { timeout: SCENARIO_TIMEOUT_MS }, () => {
    it.each([
      { scheduleId: "throttled-request", answer: throttled },
      {
        scheduleId: "throttled-statement",
        answer: { status: 200, body: { Responses: [{ Error: { Code: "ThrottlingError", Message: "slow down" } }] } },
      },
    ])("is made later and counted once ($scheduleId)", async ({ scheduleId, answer }) => {
      const which = { operation: "BatchExecuteStatement", mentions: ["claimedAt", scheduleId] };
      // Both tries of the SDK, and the next look's.
      world.dynamodb.intercept(which, async () => answer, 3);
      const [key] = await putOneShots(world, [scheduleId]);
      if (key === undefined) throw new Error("one schedule was put");
      const row = await world.until(key, ({ status }) => status === "SUCCEEDED");
      expect(row).toMatchObject({ attempts: 1, fencingToken: 1 });
      expect(world.starts(scheduleId)).toHaveLength(1);
    });
  });

  describe.concurrent("an answer that is lost after its request took effect", { timeout: SCENARIO_TIMEOUT_MS }, () => {
    it.each([
      { what: "claim", operation: "BatchExecuteStatement", mentions: ["claimedAt"] },
      { what: "start", operation: "BatchExecuteStatement", mentions: ["startedAt", "RUNNING"] },
      { what: "report", operation: "BatchExecuteStatement", mentions: ["endedAt"] },
    ])("of a $what: the run is started once and recorded once", async ({ what, operation, mentions }) => {
      const scheduleId = `lost-${what}`;
      world.dynamodb.intercept({ operation, mentions: [...mentions, scheduleId] }, lost);
      const [key] = await putOneShots(world, [scheduleId]);
      if (key === undefined) throw new Error("one schedule was put");
      const row = await world.until(key, ({ status }) => status === "SUCCEEDED");
      expect(row).toMatchObject({ attempts: 1, fencingToken: 1 });
      expect(world.starts(scheduleId)).toHaveLength(1);
      await world.queue.drained();
    });

    it("of a send: SQS swallows the second one", async () => {
      world.sqs.intercept({ operation: "SendMessageBatch", mentions: ["lost-send"] }, lost);
      const [key] = await putOneShots(world, ["lost-send"]);
      if (key === undefined) throw new Error("one schedule was put");
      const row = await world.until(key, ({ status }) => status === "SUCCEEDED");
      expect(row).toMatchObject({ attempts: 1, fencingToken: 1 });
      await world.queue.drained();
      expect(world.starts("lost-send")).toHaveLength(1);
    });

    it("of a successor's insertion: the chain goes on without a gap", async () => {
      world.dynamodb.intercept(
        { operation: "BatchExecuteStatement", mentions: ["INSERT INTO", "lost-insert"] },
        lost,
        3,
      );
      const startAt = toIso(plusMs(world.now(), 1_000));
      const endAt = toIso(plusMs(world.now(), 5_000));
      await world.put([{ scheduleId: "lost-insert", rate: "1 second", startAt, endAt }]);
      const rows = await world.untilWritten(async () => {
        const found = await world.history("lost-insert");
        return found.length >= 4 && found.every(({ status }) => status === "SUCCEEDED") ? found : undefined;
      });
      expect(rows.map(({ firing, attempts }) => ({ firing, attempts }))).toEqual(
        rows.map((_, index) => ({
          firing: toIso(plusMs(rows[0]?.scheduledFor ?? world.now(), index * 1_000)),
          attempts: 1,
        })),
      );
    });
  });
}

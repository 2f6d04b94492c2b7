import { describe, expect, it } from "vitest";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import { LEASES } from "../../../lib/core/lease.ts";
import { type FaultEngines, SCENARIO_TIMEOUT_MS } from "../../support/faults/engines.ts";
import type { Report } from "../../support/faults/protocol.ts";
import { type FaultWorld, isStart, newFaultWorld } from "../../support/faults/world.ts";

const PAST_RUN_LEASE_MS = LEASES.runLeaseMs + LEASES.leaseMarginMs;

/** Runs whose jobs wait for the test, due together; resolves when SQS has the messages of all of them. */
async function dispatched(world: FaultWorld, scheduleIds: readonly string[]): Promise<string> {
  const at = toIso(plusMs(world.now(), 1_500));
  await world.put(scheduleIds.map((scheduleId) => ({ scheduleId, at, payload: "wait" })));
  world.startDispatcher();
  await sentAttempts(world, scheduleIds, 1);
  return at;
}

/** Resolves when SQS has accepted a message of each schedule for the attempt with `token`. */
const sentAttempts = (world: FaultWorld, scheduleIds: readonly string[], token: number) =>
  Promise.all(
    scheduleIds.map((scheduleId) =>
      world.sqs.exchanges.first(({ operation, status, text }) => {
        const sent = text.replaceAll("\\", "");
        const named = sent.includes(`"scheduleId":"${scheduleId}"`) && sent.includes(`"fencingToken":${token},`);
        return operation === "SendMessageBatch" && status === 200 && named;
      }),
    ),
  );

const started = (world: FaultWorld, scheduleId: string, token: number) =>
  world.reports.first((report) => isStart(report) && report.scheduleId === scheduleId && report.fencingToken === token);

/** Whether a report tells that an attempt's job ended. */
const isEndOf =
  (attempt: { readonly scheduleId: string; readonly fencingToken: number }) =>
  (report: Report): boolean =>
    report.kind === "ended" && report.scheduleId === attempt.scheduleId && report.fencingToken === attempt.fencingToken;

/** The most jobs that ran at a time, going by what they told. */
function mostAtATime(reports: readonly Report[]): number {
  let running = 0;
  let most = 0;
  for (const { kind } of reports) {
    if (kind === "started") running += 1;
    if (kind === "ended") running -= 1;
    most = Math.max(most, running);
  }
  return most;
}

/** What holds of consumers that are killed or stand still. */
export function consumerFaults(engines: () => FaultEngines): void {
  describe.concurrent("a consumer that is killed in the middle of jobs", { timeout: SCENARIO_TIMEOUT_MS }, () => {
    it("costs each of them one attempt; the next ones run alone, so that a killer costs no neighbour another", async ({
      onTestFinished,
    }) => {
      const world = await newFaultWorld(engines());
      onTestFinished(() => world.close());
      const neighbours = ["neighbour-1", "neighbour-2"];
      const all = ["killer", ...neighbours];
      const firing = await dispatched(world, all);
      const first = world.startConsumer();
      await Promise.all(all.map((scheduleId) => started(world, scheduleId, 1)));
      await first.kill();

      world.advance(PAST_RUN_LEASE_MS);
      await sentAttempts(world, all, 2);
      const toldBefore = world.reports.entries.length;
      // The killer takes its process along once more; its neighbours are let through, those behind it by another process.
      let consumer = world.startConsumer();
      const ended = new Set<string>();
      for (const _ of all) {
        const next = await world.reports.first(
          (report) => isStart(report) && report.fencingToken === 2 && !ended.has(report.scheduleId),
        );
        if (!isStart(next)) throw new Error("a start was waited for");
        ended.add(next.scheduleId);
        if (next.scheduleId === "killer") {
          await consumer.kill();
          await world.queue.redeliver();
          consumer = world.startConsumer();
        } else {
          await consumer.finish(next);
          await world.until({ scheduleId: next.scheduleId, firing }, ({ status }) => status === "SUCCEEDED");
        }
      }
      const alone = world.reports.entries
        .slice(toldBefore)
        .filter((report) => !("scheduleId" in report && report.scheduleId === "killer"));
      expect(mostAtATime(alone)).toBe(1);

      world.advance(PAST_RUN_LEASE_MS);
      await started(world, "killer", 3);
      await consumer.finish({ scheduleId: "killer", fencingToken: 3 });
      await world.until({ scheduleId: "killer", firing }, ({ status }) => status === "SUCCEEDED");
      await world.queue.drained();
      const rows = await Promise.all(all.map((scheduleId) => world.row({ scheduleId, firing })));
      expect(rows.map(({ status, attempts }) => `${status} ${attempts}`)).toEqual([
        "SUCCEEDED 3",
        "SUCCEEDED 2",
        "SUCCEEDED 2",
      ]);
      expect(all.map((scheduleId) => world.starts(scheduleId).length)).toEqual([3, 2, 2]);
    });
  });

  describe.concurrent("a consumer that stands still beyond lease and visibility", {
    timeout: SCENARIO_TIMEOUT_MS,
  }, () => {
    it("changes nothing when it goes on: its message is history, its lease lost, its report stale", async ({
      onTestFinished,
    }) => {
      const world = await newFaultWorld(engines());
      onTestFinished(() => world.close());
      // One asks for its lease before it ends, the other just reports.
      const ids = ["asks", "reports"];
      const firing = await dispatched(world, ids);
      const untilSucceeded = (scheduleId: string) =>
        world.until({ scheduleId, firing }, ({ status }) => status === "SUCCEEDED");
      const first = world.startConsumer();
      await Promise.all(ids.map((scheduleId) => started(world, scheduleId, 1)));
      first.stop();

      world.advance(PAST_RUN_LEASE_MS);
      await world.queue.redeliver();
      const second = world.startConsumer();
      for (const _ of ids) {
        // They are suspects now, and run one after the other.
        const next = await world.reports.first(
          (report) => isStart(report) && report.fencingToken === 2 && !world.reports.entries.some(isEndOf(report)),
        );
        if (!isStart(next)) throw new Error("a start was waited for");
        await second.finish(next);
        await untilSucceeded(next.scheduleId);
      }
      const before = await Promise.all(ids.map(untilSucceeded));
      expect(before).toMatchObject(ids.map(() => ({ attempts: 2, fencingToken: 2, output: '{"token":2}' })));

      first.resume();
      await first.finish({ scheduleId: "asks", fencingToken: 1 }, true);
      await first.finish({ scheduleId: "reports", fencingToken: 1 });
      const asked = { scheduleId: "asks", fencingToken: 1 };
      expect(await world.reports.first(isEndOf(asked))).toMatchObject({
        leaseLost: expect.stringContaining("LeaseLostError"),
      });
      const tooLate = "a report came too late and changed nothing";
      await world.reports.atLeast(2, (report) => report.kind === "log" && report.message === tooLate);
      expect(await Promise.all(ids.map((scheduleId) => world.row({ scheduleId, firing })))).toEqual(before);
      await world.queue.drained();
      expect(ids.map((scheduleId) => world.starts(scheduleId).length)).toEqual([2, 2]);
    });
  });
}

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import { LEASES } from "../../../lib/core/lease.ts";
import { startDynamoDb } from "../../../lib/local/engines/dynamodb.ts";
import { type FaultEngines, SCENARIO_TIMEOUT_MS } from "../../support/faults/engines.ts";
import { processesWith } from "../../support/faults/system-processes.ts";
import { isStart, newFaultWorld } from "../../support/faults/world.ts";

const ONE_SHOTS = 8;
const BEAT_MS = 3_000;

/** What holds of a store that is killed: its files outlive it. */
export function storeFaults(engines: () => FaultEngines): void {
  describe.concurrent("a store that is killed in the middle of its work", { timeout: SCENARIO_TIMEOUT_MS }, () => {
    it("and started again on its files loses no run, and none is recorded twice", async ({ onTestFinished }) => {
      const dataDir = await mkdtemp(join(tmpdir(), "punctual-killed-"));
      onTestFinished(() => rm(dataDir, { recursive: true }));
      const first = await startDynamoDb({ dataDir });
      onTestFinished(() => first.close());
      const world = await newFaultWorld({ ...engines(), dynamodb: first });
      onTestFinished(() => world.close());
      const startAt = plusMs(world.now(), 2_000);
      const shots = Array.from({ length: ONE_SHOTS }, (_, index) => ({
        scheduleId: `shot-${index}`,
        firing: toIso(plusMs(startAt, index * 300)),
      }));
      const working = { scheduleId: "working", firing: toIso(startAt) };
      await world.put([
        { scheduleId: "beat", rate: "3 seconds" },
        { scheduleId: working.scheduleId, at: working.firing, payload: "wait-once" },
        ...shots.map(({ scheduleId, firing }) => ({ scheduleId, at: firing })),
      ]);
      const claiming = world.dynamodb.hold(
        { operation: "BatchExecuteStatement", mentions: ["claimedAt", "shot-3"] },
        "answer",
      );
      world.startDispatcher();
      const consumer = world.startConsumer();
      const attempt = await world.reports.first((report) => isStart(report) && report.scheduleId === "working");
      await claiming.reached;

      for (const pid of await processesWith(dataDir)) process.kill(pid, "SIGKILL");
      await first.ended;
      claiming.release();
      // A job that ends while nobody can take its report, and a dispatcher that looks in vain.
      if (isStart(attempt)) await consumer.finish(attempt);
      await world.dynamodb.exchanges.first(({ status }) => status === undefined);
      const again = await startDynamoDb({ dataDir });
      world.moveStore(again.endpoint);
      onTestFinished(() => again.close());
      // What lost its lease over it comes up again.
      world.advance(LEASES.claimLeaseMs + LEASES.leaseMarginMs);
      const upTo = world.now();

      for (const key of [working, ...shots]) {
        const row = await world.until(key, ({ status }) => status === "SUCCEEDED");
        expect(row.attempts).toBe(row.fencingToken);
        // One start an attempt; another attempt only where the last one's lease was lost.
        expect(world.starts(key.scheduleId).length).toBeLessThanOrEqual(row.attempts);
        expect(world.starts(key.scheduleId).length).toBeGreaterThanOrEqual(1);
      }
      const beats = await world.untilWritten(async () => {
        const rows = (await world.history("beat")).filter(({ scheduledFor }) => scheduledFor <= upTo);
        return rows.every(({ status }) => status === "SUCCEEDED") ? rows : undefined;
      });
      const [earliest, last] = [beats[0]?.scheduledFor ?? 0, beats.at(-1)?.scheduledFor ?? 0];
      expect(last).toBeGreaterThan(upTo - BEAT_MS);
      expect(beats.map(({ scheduledFor }) => scheduledFor)).toEqual(
        Array.from({ length: beats.length }, (_, index) => earliest + index * BEAT_MS),
      );
    });
  });
}

import { describe, expect, it } from "vitest";
import { SEND_TRIES } from "../../../lib/adapters/sqs/send-batch.ts";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import { LEASES } from "../../../lib/core/lease.ts";
import { type FaultEngines, SCENARIO_TIMEOUT_MS } from "../../support/faults/engines.ts";
import { type Intercept, isMeant } from "../../support/faults/proxy.ts";
import { type FaultWorld, newFaultWorld } from "../../support/faults/world.ts";

/** A one-shot that is due `inMs` from now. */
async function putOneShot(world: FaultWorld, scheduleId: string, inMs = 1_000) {
  const at = toIso(plusMs(world.now(), inMs));
  await world.put([{ scheduleId, at }]);
  return { scheduleId, firing: at };
}

const CLAIM = { operation: "BatchExecuteStatement", mentions: ["claimedAt"] };
const SEND = { operation: "SendMessageBatch" };
/** Past the end of a claim lease, however close the store's clock is known. */
const PAST_CLAIM_LEASE_MS = LEASES.claimLeaseMs + LEASES.leaseMarginMs;
/** How much of a lease is left at the store when a dispatcher 20 s fast would find it over. */
const LEASE_LEFT_MS = 15_000;

/** What holds of dispatchers that are killed, stand still or have a wrong clock. */
export function dispatcherFaults(engines: () => FaultEngines): void {
  describe.concurrent("a dispatcher that is killed", { timeout: SCENARIO_TIMEOUT_MS }, () => {
    it("between claim and send leaves an attempt that is sent after its lease, and counted once", async ({
      onTestFinished,
    }) => {
      const world = await newFaultWorld(engines());
      onTestFinished(() => world.close());
      const key = await putOneShot(world, "unsent");
      const sending = world.sqs.hold(SEND, "request");
      const first = world.startDispatcher();
      await sending.reached;
      await first.kill();
      expect(await world.row(key)).toMatchObject({ status: "DISPATCHED", attempts: 1, fencingToken: 1 });

      world.advance(PAST_CLAIM_LEASE_MS);
      world.startDispatcher();
      world.startConsumer();
      const row = await world.until(key, ({ status }) => status === "SUCCEEDED");
      expect(row).toMatchObject({ attempts: 1, fencingToken: 1 });
      expect(world.starts("unsent")).toHaveLength(1);
      await world.queue.drained();
    });

    it("after SQS took its message leaves one that is not run twice", async ({ onTestFinished }) => {
      const world = await newFaultWorld(engines());
      onTestFinished(() => world.close());
      const key = await putOneShot(world, "sent");
      const sending = world.sqs.hold(SEND, "answer");
      const first = world.startDispatcher();
      await sending.reached;
      await first.kill();

      world.advance(PAST_CLAIM_LEASE_MS);
      world.startDispatcher();
      // Only once SQS has accepted the second send is the run left to the queue.
      await world.until(key, ({ leaseUntil = 0 }) => leaseUntil > plusMs(world.now(), LEASES.claimLeaseMs));
      world.startConsumer();
      const row = await world.until(key, ({ status }) => status === "SUCCEEDED");
      expect(row).toMatchObject({ attempts: 1, fencingToken: 1 });
      await world.queue.drained();
      expect(world.starts("sent")).toHaveLength(1);
    });
  });

  describe.concurrent("a dispatcher that gets no answer to any try of a send", { timeout: SCENARIO_TIMEOUT_MS }, () => {
    it("leaves the attempt to its lease and sends the same one again, which SQS swallows", async ({
      onTestFinished,
    }) => {
      const world = await newFaultWorld(engines());
      onTestFinished(() => world.close());
      const key = await putOneShot(world, "in-doubt");
      const lost: Intercept = async (_, forward) => {
        await forward();
        return "lost";
      };
      world.sqs.intercept(SEND, lost, SEND_TRIES);
      world.startDispatcher();
      await world.sqs.exchanges.atLeast(SEND_TRIES, ({ status }) => status === undefined);

      world.advance(PAST_CLAIM_LEASE_MS);
      await world.sqs.exchanges.first(({ status }) => status === 200);
      world.startConsumer();
      const row = await world.until(key, ({ status }) => status === "SUCCEEDED");
      expect(row).toMatchObject({ attempts: 1, fencingToken: 1 });
      await world.queue.drained();
      expect(world.starts("in-doubt")).toHaveLength(1);
    });
  });

  describe.concurrent("a dispatcher that stands still beyond its lease", { timeout: SCENARIO_TIMEOUT_MS }, () => {
    it("between claim and send changes nothing when it goes on", async ({ onTestFinished }) => {
      const world = await newFaultWorld(engines());
      onTestFinished(() => world.close());
      const key = await putOneShot(world, "paused");
      const claiming = world.dynamodb.hold(CLAIM, "answer");
      const first = world.startDispatcher();
      await claiming.reached;
      first.stop();
      claiming.release();

      world.advance(PAST_CLAIM_LEASE_MS);
      const second = world.startDispatcher();
      world.startConsumer();
      const before = await world.until(key, ({ status }) => status === "SUCCEEDED");
      await second.kill();
      first.resume();
      // That it carries this one out shows that it is at work again, and through with what it held.
      const marker = await putOneShot(world, "after");
      await world.until(marker, ({ status }) => status === "SUCCEEDED");
      await world.queue.drained();
      expect(await world.row(key)).toEqual(before);
      expect(world.starts("paused")).toHaveLength(1);
    });
  });

  describe.concurrent.each([
    { aheadMs: 20_000, how: "20 s fast" },
    { aheadMs: -20_000, how: "20 s slow" },
  ])("a dispatcher whose own clock is $how", { timeout: SCENARIO_TIMEOUT_MS }, ({ aheadMs }) => {
    it("fires when it is time at the store, and takes no lease that still runs there", async ({ onTestFinished }) => {
      const world = await newFaultWorld(engines());
      onTestFinished(() => world.close());
      const leased = await putOneShot(world, "leased");
      const sending = world.sqs.hold(SEND, "request");
      const first = world.startDispatcher();
      await sending.reached;
      await first.kill();
      const held = await world.row(leased);

      // By its own clock, if fast, the lease is over; at the store the rest of it is left.
      world.advance(LEASES.claimLeaseMs - LEASE_LEFT_MS);
      const before = world.dynamodb.exchanges.entries.length;
      world.startDispatcher({ wallClockAheadMs: world.dynamodb.dateOffsetMs + aheadMs });
      const since = (operation: string, ...mentions: string[]) =>
        world.dynamodb.exchanges.until(() =>
          world.dynamodb.exchanges.entries.slice(before).find((each) => isMeant({ operation, mentions }, each)),
        );
      await since("Query");
      const onTime = await putOneShot(world, "on-time", 2_000);
      const claimed = await since(CLAIM.operation, "claimedAt", "on-time");
      const lateMs = claimed.atMs - Date.parse(onTime.firing);
      expect(lateMs).toBeGreaterThanOrEqual(0);
      expect(lateMs).toBeLessThan(Math.abs(aheadMs) * 0.75);

      world.advance(LEASE_LEFT_MS);
      const again = await since(CLAIM.operation, "leaseUntil", "leased");
      expect(again.atMs).toBeGreaterThanOrEqual(held.leaseUntil ?? Number.POSITIVE_INFINITY);
      expect(await world.until(leased, ({ owner }) => owner !== held.owner)).toMatchObject({
        attempts: 1,
        fencingToken: 1,
      });
    });
  });
}

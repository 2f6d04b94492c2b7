import { describe, expect, it } from "vitest";
import type { Engine } from "../../../lib/app/engine/engine.ts";
import { visitRows } from "../../../lib/app/engine/visit-rows.ts";
import type { OccurrenceWrite, SendVerdict, WriteVerdict } from "../../../lib/app/ports.ts";
import { plusMs } from "../../../lib/core/instant.ts";
import { LEASES } from "../../../lib/core/lease.ts";
import { forgetfulClock } from "../../support/forgetful-clock.ts";
import { NOON } from "../../support/occurrences.ts";
import { dueAtNextMinute, newWorld, visitDue, type World } from "../../support/world.ts";

const MINUTE = 60_000;
const START = plusMs(NOON, -10_000);
const error = new Error("connection reset");
const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
const everyMinute = (scheduleId: string, given: Record<string, unknown> = {}) => ({
  scheduleId,
  rate: "1 minute",
  ...given,
});

/** A queue's answer in place of the real one: `delivered` where it took the message nonetheless. */
interface Answer {
  readonly verdict: SendVerdict;
  readonly delivered: boolean;
}

/** A world at noon, with schedules `names` due, whose queue answers as `answer` says. */
async function worldAtNoon(
  scheduleIds: readonly string[],
  answer: (scheduleId: string) => Answer | undefined,
  given = {},
) {
  const world: World = newWorld({
    start: START,
    queue: (real) => ({
      send: async (messages) => {
        const answers = messages.map(({ body }) => answer(String(JSON.parse(body).scheduleId)));
        const through = messages.filter((_, index) => answers[index]?.delivered ?? true);
        const verdicts = [...(await real.send(through))];
        return answers.map((one) => {
          const real = (one?.delivered ?? true) ? verdicts.shift() : undefined;
          return one?.verdict ?? real ?? { kind: "accepted" };
        });
      },
    }),
  });
  await dueAtNextMinute(
    world,
    scheduleIds.map((id) => everyMinute(id, given)),
  );
  return world;
}

const refused: Answer = { verdict: { kind: "refused", error }, delivered: false };
const inDoubt = (delivered: boolean): Answer => ({ verdict: { kind: "unknown", error }, delivered });

describe("a batch of claims", () => {
  it("releases exactly the three of ten that SQS refused, and the other seven go out", async () => {
    let refusing = new Set(["s2", "s5", "s9"]);
    const world = await worldAtNoon(names, (id) => (refusing.has(id) ? refused : undefined));
    await visitDue(world);
    for (const id of names)
      expect(world.row(id, NOON)).toMatchObject(
        refusing.has(id)
          ? { status: "PENDING", attempts: 0, fencingToken: 1, dueAt: plusMs(NOON, 1_000) }
          : { status: "DISPATCHED", attempts: 1, fencingToken: 1 },
      );
    expect(world.messages().map(({ scheduleId }) => scheduleId)).toEqual(names.filter((id) => !refusing.has(id)));
    expect(world.counts.get("Releases")).toBe(3);

    // They come again with a new token, and so a new deduplication id; nothing is stranded.
    refusing = new Set();
    world.time.leap(1_000);
    await visitDue(world);
    expect(world.messages()).toHaveLength(10);
    const { occurrenceId } = world.row("s2", NOON);
    expect(world.queues.peek("default").map(({ deduplicationId }) => deduplicationId)).toContain(`${occurrenceId}:2`);
    expect(world.row("s2", NOON)).toMatchObject({ status: "DISPATCHED", attempts: 1, fencingToken: 2 });
  });

  it("fails at once what SQS can never take, and sends the rest", async () => {
    const problem = { name: "InvalidMessageContents", message: "no" };
    const world = await worldAtNoon(names, (id) =>
      id === "s3" ? { verdict: { kind: "rejected", error: problem }, delivered: false } : undefined,
    );
    await visitDue(world);
    expect(world.row("s3", NOON)).toMatchObject({
      status: "FAILED",
      deadLetterReason: "rejected-by-queue",
      lastError: problem,
      deadLetteredAt: NOON,
    });
    expect(world.messages()).toHaveLength(9);
    expect(world.counts.get("DeadLetters")).toBe(1);
  });

  it("waits longer with every refusal in a row, and burns no attempt (an hour without SQS)", async () => {
    const world = await worldAtNoon(["a"], () => refused);
    const waits: number[] = [];
    for (let visits = 0; visits < 9; visits += 1) {
      await visitDue(world);
      const row = world.row("a", NOON);
      waits.push(Number(row.dueAt) - world.time.now());
      expect(row.attempts).toBe(0);
      world.time.leap(waits.at(-1) ?? 0);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it("is done once SQS has it, on a queue that promises no more", async () => {
    const world = await worldAtNoon(["a"], () => undefined, { queue: "plain" });
    await visitDue(world);
    expect(world.row("a", NOON)).toMatchObject({ status: "SUCCEEDED", attempts: 1 });
    expect(world.messages("plain")).toHaveLength(1);
    expect(world.counts.get("Succeeded")).toBe(1);
  });
});

describe("a send in doubt", () => {
  it.each([
    ["had reached SQS, and the second is swallowed", true],
    ["had not reached SQS, and the second delivers", false],
  ])("is sent again under the same id once the claim lease is over: it %s", async (_, delivered) => {
    let answer: Answer | undefined = inDoubt(delivered);
    const world = await worldAtNoon(["a"], () => answer);
    await visitDue(world);
    const first = world.row("a", NOON);
    expect(first).toMatchObject({ status: "DISPATCHED", dueAt: plusMs(NOON, LEASES.claimLeaseMs) });
    expect(world.messages()).toHaveLength(delivered ? 1 : 0);

    answer = undefined;
    world.time.leap(LEASES.claimLeaseMs);
    await visitDue(world);
    const second = world.row("a", NOON);
    expect(second).toMatchObject({ status: "DISPATCHED", attempts: 1, fencingToken: 1 });
    expect(second.owner).not.toBe(first.owner);
    expect(world.messages().filter(({ firing }) => firing === second.firing)).toHaveLength(1);
    // Only now is it known that the queue holds it.
    expect(second.leaseUntil).toBe(plusMs(NOON, LEASES.claimLeaseMs + LEASES.queueLeaseMs));
  });

  it("gets no queue lease as long as it stays in doubt", async () => {
    const world = await worldAtNoon(["a"], () => inDoubt(false));
    await visitDue(world);
    world.time.leap(LEASES.claimLeaseMs);
    await visitDue(world);
    expect(world.row("a", NOON).leaseUntil).toBe(plusMs(NOON, 2 * LEASES.claimLeaseMs));
  });

  it("lets a backlog burn no attempts and multiply no messages: nobody reads for three hours", async () => {
    const world = await worldAtNoon(["a"], () => undefined);
    for (let minutes = 0; minutes < 180; minutes += 1) {
      await visitDue(world);
      world.time.leap(MINUTE);
    }
    expect(world.row("a", NOON)).toMatchObject({ status: "DISPATCHED", attempts: 1, fencingToken: 1 });
    const copies = world.messages().filter(({ firing }) => firing === world.row("a", NOON).firing);
    // One an hour at the most: SQS forgets a deduplication id after five minutes.
    expect(copies.length).toBeLessThanOrEqual(3);
  });
});

describe("a claim whose answer was lost", () => {
  /** A world at noon whose first claim is answered `unknown`, after it took effect or without. */
  async function unansweredClaim(takesEffect: boolean): Promise<World> {
    let pending = true;
    const world = newWorld({
      start: START,
      occurrences: (real) => ({
        write: async (writes: readonly OccurrenceWrite[]): Promise<readonly WriteVerdict[]> => {
          if (!pending) return real.write(writes);
          pending = false;
          if (takesEffect) await real.write(writes);
          return writes.map(() => ({ kind: "unknown", error }));
        },
      }),
    });
    await dueAtNextMinute(world, [everyMinute("a")]);
    return world;
  }

  it("is settled by the owner it wrote, and sent", async () => {
    const world = await unansweredClaim(true);
    await visitDue(world);
    expect(world.messages()).toHaveLength(1);
    expect(world.row("a", NOON)).toMatchObject({ status: "DISPATCHED", attempts: 1 });
  });

  it("is not sent where it did not take effect; the next visit claims", async () => {
    const world = await unansweredClaim(false);
    await visitDue(world);
    expect(world.messages()).toEqual([]);
    expect(world.row("a", NOON).status).toBe("PENDING");
    await visitDue(world);
    expect(world.messages()).toHaveLength(1);
  });
});

describe("a claim that the store throttled", () => {
  it("is counted and left to the next visit, and its neighbours go out", async () => {
    let throttled = true;
    const world = newWorld({
      start: START,
      occurrences: (real) => ({
        write: async (writes) => {
          const isHit = ({ key }: OccurrenceWrite) => throttled && key.scheduleId === "s1";
          const verdicts = [...(await real.write(writes.filter((write) => !isHit(write))))];
          return writes.map((write) =>
            isHit(write) ? { kind: "failed", error } : (verdicts.shift() ?? { kind: "refused" }),
          );
        },
      }),
    });
    await dueAtNextMinute(
      world,
      names.map((id) => everyMinute(id)),
    );
    await visitDue(world);
    expect(world.messages()).toHaveLength(9);
    expect(world.counts.get("StoreFailures")).toBe(1);
    throttled = false;
    await visitDue(world);
    expect(world.messages()).toHaveLength(10);
    expect(world.row("s1", NOON).attempts).toBe(1);
  });
});

/** An engine whose host stands still for `ms` with each write, and does not know the store's time then until it reads. */
function standingStill({ engine, time }: World, ms: number): Engine {
  const { occurrences } = engine;
  const { clock, forget, learn } = forgetfulClock(engine.clock);
  return {
    ...engine,
    clock,
    occurrences: {
      ...occurrences,
      write: async (writes) => {
        const verdicts = await occurrences.write(writes);
        time.leap(ms);
        forget();
        return verdicts;
      },
      read: (keys) => {
        learn();
        return occurrences.read(keys);
      },
    },
  };
}

describe("a dispatcher that paused between claim and send", () => {
  it("does not send once its claim lease is over: the row is anybody's by then", async () => {
    const world = newWorld({
      start: START,
      occurrences: (real) => ({
        write: async (writes) => {
          const verdicts = await real.write(writes);
          world.time.leap(LEASES.claimLeaseMs);
          return verdicts;
        },
      }),
    });
    await dueAtNextMinute(world, [everyMinute("a")]);
    await visitDue(world);
    expect(world.messages()).toEqual([]);
    expect(world.row("a", NOON)).toMatchObject({ status: "DISPATCHED", fencingToken: 1 });
  });

  it("sends also where the store's time is not known any more, and asks for it before it notes what SQS answered", async () => {
    const world = await worldAtNoon(["a", "b"], (id) => (id === "b" ? refused : undefined));
    const { rows } = await world.engine.occurrences.due({ shard: 0, until: world.time.now(), limit: 10 });
    const engine = standingStill(world, 0);
    await world.time.finish(visitRows(engine, rows));
    expect(world.messages().map(({ scheduleId }) => scheduleId)).toEqual(["a"]);
    expect(world.row("b", NOON)).toMatchObject({ status: "PENDING", attempts: 0, fencingToken: 1 });
  });

  it("asks for the time before it sends where that was lost: what it held an hour ago was sent by others", async () => {
    const world = newWorld({ start: START });
    await dueAtNextMinute(world, [everyMinute("a")]);
    const { rows } = await world.engine.occurrences.due({ shard: 0, until: world.time.now(), limit: 10 });
    const engine = standingStill(world, 60 * MINUTE);
    await world.time.finish(visitRows(engine, rows));
    expect(world.messages()).toEqual([]);
  });
});

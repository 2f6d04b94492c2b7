import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import { LEASES } from "../../../lib/core/lease.ts";
import { type FaultEngines, SCENARIO_TIMEOUT_MS } from "../../support/faults/engines.ts";
import { failsByChance, type Report } from "../../support/faults/protocol.ts";
import { type FaultWorld, isStart, newFaultWorld } from "../../support/faults/world.ts";
import { anOccurrence, NOON } from "../../support/occurrences.ts";

const PAST_RUN_LEASE_MS = LEASES.runLeaseMs + LEASES.leaseMarginMs;

/** Puts runs that are due in a moment, with a payload that says what their jobs do. */
async function due(world: FaultWorld, scheduleIds: readonly string[], payload: unknown = "wait"): Promise<string> {
  const at = toIso(plusMs(world.now(), 1_000));
  await world.put(scheduleIds.map((scheduleId) => ({ scheduleId, at, payload })));
  return at;
}

const started = (world: FaultWorld, scheduleId: string, token: number) =>
  world.reports.first((report) => isStart(report) && report.scheduleId === scheduleId && report.fencingToken === token);

const eventsOf = (reports: readonly Report[], kind: string) =>
  reports.flatMap((report) => (report.kind === "event" && report.event.kind === kind ? [report.event] : []));

/** Resolves when workers have told so many events of a kind. */
const events = (world: FaultWorld, kind: string, count: number) =>
  world.reports.until(() => {
    const found = eventsOf(world.reports.entries, kind);
    return found.length >= count ? found : undefined;
  });

/** Resolves once a delivery has come to `result`, whatever became of others beside it: the other attempt, redeliveries. */
const endedWith = (world: FaultWorld, result: object) =>
  world.reports.until(() =>
    eventsOf(world.reports.entries, "ended").find((event) => isDeepStrictEqual(event["result"], result)),
  );

const succeeded = (world: FaultWorld, scheduleId: string, firing: string) =>
  world.until({ scheduleId, firing }, ({ status }) => status === "SUCCEEDED");

/** What holds of workers that are killed, told to end, or held up. */
export function workerFaults(engines: () => FaultEngines): void {
  describe.concurrent("a worker that is killed in the middle of jobs", { timeout: SCENARIO_TIMEOUT_MS }, () => {
    it("costs each of them one attempt; the next ones are suspects and run alone", async ({ onTestFinished }) => {
      const world = await newFaultWorld(engines());
      onTestFinished(() => world.close());
      const ids = ["one", "two"];
      const firing = await due(world, ids);
      world.startDispatcher();
      const first = world.startWorker();
      await Promise.all(ids.map((scheduleId) => started(world, scheduleId, 1)));
      await first.kill();

      world.advance(PAST_RUN_LEASE_MS);
      const second = world.startWorker();
      const ended = new Set<string>();
      for (const _ of ids) {
        const next = await world.reports.first(
          (report) => isStart(report) && report.fencingToken === 2 && !ended.has(report.scheduleId),
        );
        if (!isStart(next)) throw new Error("a start was waited for");
        // Both messages are there, and only one has been started.
        expect(world.reports.entries.filter((report) => isStart(report) && report.fencingToken === 2)).toHaveLength(
          ended.size + 1,
        );
        ended.add(next.scheduleId);
        await second.finish(next);
        expect(await succeeded(world, next.scheduleId, firing)).toMatchObject({ attempts: 2, fencingToken: 2 });
      }
      await world.workedOff();
      expect(ids.map((scheduleId) => world.starts(scheduleId).length)).toEqual([2, 2]);
    });
  });

  describe.concurrent("a worker that gets SIGTERM in the middle of jobs", { timeout: SCENARIO_TIMEOUT_MS }, () => {
    it("lets them finish, aborts what outlasts the grace as retryable, and hands back what it has not started", async ({
      onTestFinished,
    }) => {
      const world = await newFaultWorld(engines());
      onTestFinished(() => world.close());
      const first = world.startWorker({
        concurrency: 2,
        prefetch: 2,
        graceSeconds: 5,
        visibilityTimeoutSeconds: 3_600,
      });
      world.startDispatcher();
      const firing = await due(world, ["quick"]);
      const overlongFiring = await due(world, ["overlong"], "wait-or-abort");
      await Promise.all([started(world, "quick", 1), started(world, "overlong", 1)]);
      const late = ["late-1", "late-2"];
      const lateFiring = await due(world, late, "none");
      await events(world, "received", 4);

      const exit = first.terminate();
      await events(world, "handed-back", 2);
      await first.finish({ scheduleId: "quick", fencingToken: 1 });
      expect(await succeeded(world, "quick", firing)).toMatchObject({ attempts: 1, output: '{"token":1}' });
      // An hour's visibility would keep them from it, were they not handed back.
      const second = world.startWorker();
      for (const scheduleId of late)
        expect(await succeeded(world, scheduleId, lateFiring)).toMatchObject({ attempts: 1, fencingToken: 1 });
      expect(await exit).toBe(0);

      await started(world, "overlong", 2);
      await second.finish({ scheduleId: "overlong", fencingToken: 2 });
      const overlong = await succeeded(world, "overlong", overlongFiring);
      expect(overlong.attempts).toBe(2);
      expect(overlong.log[0]).toMatchObject({
        error: { name: "AbortError", message: "the worker is shutting down" },
      });
      await world.workedOff();
    });

    it("ends all the same when a job ignores its abort, with an exit code that says so", async ({ onTestFinished }) => {
      const world = await newFaultWorld(engines());
      onTestFinished(() => world.close());
      const worker = world.startWorker({ graceSeconds: 0 });
      world.startDispatcher();
      const firing = await due(world, ["deaf"]);
      await started(world, "deaf", 1);
      expect(await worker.terminate()).toBe(1);
      const { log } = await world.row({ scheduleId: "deaf", firing });
      expect(log[0]).toMatchObject({ attempt: 1, error: { name: "AbortError" } });
      const [stopped] = eventsOf(world.reports.entries, "stopped");
      expect(stopped).toMatchObject({ report: { abandoned: [`deaf@${firing}`] } });
    });
  });

  describe.concurrent("a job that outlasts three visibility timeouts and its first lease", {
    timeout: SCENARIO_TIMEOUT_MS,
  }, () => {
    it("is kept by its renewals; its message is acknowledged when it comes again", async ({ onTestFinished }) => {
      const world = await newFaultWorld(engines());
      onTestFinished(() => world.close());
      const visibilityTimeoutSeconds = 3;
      const worker = world.startWorker({ visibilityTimeoutSeconds });
      world.startDispatcher();
      const firing = await due(world, ["long"]);
      const key = { scheduleId: "long", firing };
      await started(world, "long", 1);
      const { leaseUntil: first = 0 } = await world.row(key);
      // Two renewals: by then the visibility has ended six times over.
      const renewedMs = 2 * LEASES.renewEveryMs;
      expect(renewedMs).toBeGreaterThan(3 * visibilityTimeoutSeconds * 1000);
      await world.until(key, ({ leaseUntil = 0 }) => leaseUntil >= first + renewedMs - 1_000);
      await world.workedOff();
      await worker.finish({ scheduleId: "long", fencingToken: 1 });
      expect(await succeeded(world, "long", firing)).toMatchObject({ attempts: 1, fencingToken: 1 });
      expect(world.starts("long")).toHaveLength(1);
      expect(eventsOf(world.reports.entries, "ended")).toContainEqual(
        expect.objectContaining({ result: { kind: "not-mine" } }),
      );
    });
  });

  describe.concurrent("a job that blocks its process beyond its lease", { timeout: SCENARIO_TIMEOUT_MS }, () => {
    it("reports too late, which changes nothing and is counted", async ({ onTestFinished }) => {
      const world = await newFaultWorld(engines());
      onTestFinished(() => world.close());
      const directory = await mkdtemp(join(tmpdir(), "punctual-blocked-"));
      onTestFinished(() => rm(directory, { recursive: true }));
      const leave = join(directory, "leave");
      world.startWorker();
      world.startDispatcher();
      const firing = await due(world, ["blocked"], { blockUntil: leave });
      // Its process can tell nothing any more: the row does.
      await world.until({ scheduleId: "blocked", firing }, ({ status }) => status === "RUNNING");

      world.advance(PAST_RUN_LEASE_MS);
      world.startWorker();
      const before = await succeeded(world, "blocked", firing);
      expect(before).toMatchObject({ attempts: 2, fencingToken: 2 });
      await writeFile(leave, "");
      const stale = (report: Report) =>
        report.kind === "log" && report.message === "a report came too late and changed nothing";
      await world.reports.first(stale);
      await endedWith(world, { kind: "stale", abandoned: false });
      expect(await world.row({ scheduleId: "blocked", firing })).toEqual(before);
      await world.workedOff();
    });
  });

  // By itself: it keeps a machine busy.
  describe("a thousand runs of which every fifth attempt fails", { timeout: SCENARIO_TIMEOUT_MS }, () => {
    it("all end through a worker, each as its attempts decide, and none takes effect twice", async ({
      onTestFinished,
    }) => {
      const world = await newFaultWorld(engines());
      onTestFinished(() => world.close());
      const maxAttempts = 3;
      const retry = { maxAttempts, baseDelaySeconds: 0, multiplier: 1, maxDelaySeconds: 1, jitter: false };
      const now = world.now();
      const leaseUntil = plusMs(now, LEASES.queueLeaseMs);
      // Their first claims and sends are what a dispatcher does: the test has it do those of the retries alone.
      const claimed = {
        status: "DISPATCHED",
        owner: "d",
        leaseUntil,
        dueAt: leaseUntil,
        attempts: 1,
        fencingToken: 1,
      } as const;
      const rows = Array.from({ length: 1_000 }, (_, index) =>
        anOccurrence({
          scheduleId: "many",
          kind: "backfill",
          scheduledFor: plusMs(NOON, index * 1_000),
          firstDueAt: now,
          createdAt: now,
          payload: '"flaky"',
          job: "default",
          maxAttempts,
          retry,
          ...claimed,
        }),
      );
      world.startDispatcher();
      world.startWorker({ concurrency: 20, prefetch: 20, visibilityTimeoutSeconds: 60 });
      await world.dispatched(rows);
      // What becomes of each is known beforehand: the attempt that is the first to go well, or none.
      const tokens = Array.from({ length: maxAttempts }, (_, index) => index + 1);
      const goodToken = (firing: string) => tokens.find((fencingToken) => !failsByChance({ firing, fencingToken }));
      const attempts = rows.flatMap(({ firing }) =>
        tokens.slice(0, goodToken(firing)).map((fencingToken) => `${firing} ${fencingToken}`),
      );
      await world.reports.atLeast(
        attempts.length,
        (report) => report.kind === "event" && report.event.kind === "ended",
      );

      const ended = await world.history("many");
      expect(ended.map(({ firing, status, attempts: made }) => `${firing} ${status} ${made}`)).toEqual(
        rows.map(({ firing }) => {
          const good = goodToken(firing);
          return `${firing} ${good === undefined ? `DEAD_LETTERED ${maxAttempts}` : `SUCCEEDED ${good}`}`;
        }),
      );
      expect(ended.some(({ status }) => status === "DEAD_LETTERED")).toBe(true);
      // Every attempt started, and none of them twice.
      const starts = world.starts("many").map(({ firing, fencingToken }) => `${firing} ${fencingToken}`);
      expect(starts.toSorted()).toEqual(attempts.toSorted());
      // A fenced store takes an effect whose token is larger than the last.
      const effects = new Map<string, number[]>();
      for (const report of world.reports.entries)
        if (report.kind === "ended" && report.fencingToken > (effects.get(report.firing)?.at(-1) ?? 0))
          effects.set(report.firing, [...(effects.get(report.firing) ?? []), report.fencingToken]);
      const succeededRows = ended.filter(({ status }) => status === "SUCCEEDED");
      expect([...effects.values()].map(({ length }) => length)).toEqual(succeededRows.map(() => 1));
      await world.workedOff();
    });
  });
}

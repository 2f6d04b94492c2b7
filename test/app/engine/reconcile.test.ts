import { describe, expect, it } from "vitest";
import { reconcile } from "../../../lib/app/engine/reconcile.ts";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import { definitionVersion } from "../../../lib/core/schedule-version.ts";
import { NOON } from "../../support/occurrences.ts";
import { newWorld, visitDue } from "../../support/world.ts";

import { edit, HOUR, halfHours, hourly, MINUTE, ONE, reconciled, statusOf, TWO, worldOf } from "./reconciled-world.ts";

describe("a new schedule", () => {
  it("gets its first head, and says that it is active, of which version and since when", async () => {
    const world = await worldOf(hourly());
    expect(world.history("a")).toEqual([`${toIso(ONE)} PENDING`]);
    expect(statusOf(world)).toMatchObject({
      state: "ACTIVE",
      version: definitionVersion(hourly()),
      since: toIso(plusMs(NOON, 10 * MINUTE)),
    });
  });

  it("is left as it is by every further reconcile (F203, F205, F239)", async () => {
    const world = await worldOf(hourly());
    const before = world.store.allOccurrences();
    for (let times = 0; times < 3; times += 1) expect(await reconciled(world, 0)).toMatchObject({ changed: false });
    expect(world.store.allOccurrences()).toEqual(before);
  });

  it("counts from when it was put, not from when a reconcile got to it", async () => {
    const world = newWorld({ start: plusMs(NOON, 500) });
    world.put(hourly());
    await reconciled(world, 700);
    expect(world.history("a")).toEqual([`${toIso(NOON)} PENDING`]);
    expect(statusOf(world)).toMatchObject({ since: toIso(plusMs(NOON, -200)) });
  });

  it("counts from its record also where a sweep came before that", async () => {
    const world = newWorld({ start: plusMs(NOON, 500) });
    world.put(hourly());
    await reconciled(world);
    expect(world.history("a")).toEqual([`${toIso(ONE)} PENDING`]);
    await reconciled(world, 700);
    expect(world.history("a")).toEqual([`${toIso(NOON)} PENDING`, `${toIso(ONE)} PENDING`]);
    expect(statusOf(world)).toMatchObject({ since: toIso(plusMs(NOON, -200)) });
  });

  it("counts from its record also where another release, which hashes versions otherwise, noted it since", async () => {
    const world = newWorld({ start: plusMs(NOON, 10 * MINUTE) });
    const since = toIso(plusMs(NOON, 5 * MINUTE));
    world.put({ ...hourly(), status: { state: "PAUSED", version: "2:0123456789abcdef-0123456789abcdef", since } });
    await reconciled(world, 7 * MINUTE);
    expect(world.history("a")).toEqual([`${toIso(ONE)} PENDING`]);
    expect(statusOf(world)).toMatchObject({ state: "ACTIVE", since: toIso(plusMs(NOON, 3 * MINUTE)) });
  });

  it("that is invalid fires nothing and says what would be right", async () => {
    const world = await worldOf(hourly({ cron: "61 * * * *" }));
    expect(world.history("a")).toEqual([]);
    expect(statusOf(world)).toMatchObject({ state: "INVALID", problem: expect.stringContaining("61") });
  });

  it("warns of what nothing reads", async () => {
    const world = await worldOf(hourly({ cronn: "x" }));
    expect(statusOf(world)).toMatchObject({ state: "ACTIVE", warnings: [expect.stringContaining("cronn")] });
  });
});

describe("an edit", () => {
  it("takes the future head that it no longer fires, and gives the one that it does (F242, F257)", async () => {
    const world = await worldOf(hourly());
    edit(world, halfHours());
    await reconciled(world, 0);
    expect(world.history("a")).toEqual([`${toIso(plusMs(NOON, 30 * MINUTE))} PENDING`]);
  });

  it("of the payload alone keeps the head, whose claim reads the new one", async () => {
    const world = await worldOf(hourly());
    const before = world.row("a", ONE);
    edit(world, hourly({ payload: { v: 2 } }));
    await reconciled(world, 0);
    expect(world.row("a", ONE)).toEqual(before);
    world.time.leap(50 * MINUTE);
    await visitDue(world);
    expect(world.messages()).toMatchObject([{ payload: { v: 2 } }]);
  });

  it("a moment before the instant decides it, however late the reconcile", async () => {
    const world = await worldOf(hourly());
    world.time.leap(50 * MINUTE + 500);
    // At 12:59:59.8 the schedule came to fire at the half hours.
    edit(world, halfHours());
    await reconciled(world, 700);
    // One o'clock is due, and the dispatcher's to pass over; half past is the next.
    await visitDue(world);
    expect(world.history("a")).toEqual([`${toIso(ONE)} SKIPPED`, `${toIso(plusMs(ONE, 30 * MINUTE))} PENDING`]);
  });

  it("to an instant that lies between it and its reconcile still fires there", async () => {
    const world = await worldOf(halfHours(), plusMs(NOON, 40 * MINUTE));
    world.time.leap(20 * MINUTE + 500);
    edit(world, hourly());
    await reconciled(world, 700);
    expect(world.row("a", ONE)).toMatchObject({ status: "PENDING", dueAt: ONE });
  });

  it("a moment after the instant owes nothing from before it (F206, F241)", async () => {
    const world = await worldOf(halfHours(), plusMs(NOON, 40 * MINUTE));
    world.time.leap(20 * MINUTE + 500);
    edit(world, hourly());
    await reconciled(world, 200);
    expect(world.history("a")).toEqual([`${toIso(TWO)} PENDING`]);
  });

  it("of a paused schedule leaves it paused (F256)", async () => {
    const world = await worldOf(hourly({ paused: true }));
    edit(world, halfHours({ paused: true }));
    await reconciled(world, 0);
    expect(world.history("a")).toEqual([]);
    expect(statusOf(world)).toMatchObject({ state: "PAUSED", version: definitionVersion(halfHours()) });
  });

  it("that mends an invalid definition starts from when it was made", async () => {
    const world = await worldOf(hourly());
    edit(world, hourly({ timezone: "Mars/Olympus" }));
    await reconciled(world, 0);
    expect(world.history("a")).toEqual([]);
    world.time.leap(2 * HOUR);
    edit(world, hourly());
    await reconciled(world, 0);
    expect(world.history("a")).toEqual([`${toIso(plusMs(NOON, 3 * HOUR))} PENDING`]);
    expect(statusOf(world)).not.toHaveProperty("problem");
  });

  it("is not judged by the record of an older one: that one is outdated", async () => {
    const world = await worldOf(hourly());
    edit(world, halfHours());
    const outcome = await world.time.finish(
      reconcile(world.engine, "a", { at: world.time.now(), version: definitionVersion(hourly()) }),
    );
    expect(outcome).toMatchObject({ state: "OUTDATED" });
    // The unwanted head goes nonetheless; the new one is for the edit's own record to give.
    expect(world.history("a")).toEqual([]);
    await reconciled(world, 0);
    expect(world.history("a")).toEqual([`${toIso(plusMs(NOON, 30 * MINUTE))} PENDING`]);
  });

  it("that comes while it is reconciled makes it start over", async () => {
    let edits = 1;
    const world = newWorld({
      start: plusMs(NOON, 10 * MINUTE),
      occurrences: (real) => ({
        removeHead: (head, asRead) => {
          if (edits-- > 0) world.put(hourly({ payload: 2 }));
          return real.removeHead(head, asRead);
        },
      }),
    });
    world.put(hourly());
    await reconciled(world);
    edit(world, halfHours());
    // Back to the hours before the head was gone: it stays.
    await reconciled(world);
    expect(world.history("a")).toEqual([`${toIso(ONE)} PENDING`]);
  });
});

describe("a due head", () => {
  it("is the dispatcher's, and its successor is seen to: nothing removes it (pause, resume, late delete)", async () => {
    const world = await worldOf(hourly());
    world.time.leap(51 * MINUTE);
    await reconciled(world);
    expect(world.history("a")).toEqual([`${toIso(ONE)} PENDING`, `${toIso(TWO)} PENDING`]);
    edit(world, hourly({ paused: true }));
    await reconciled(world, 0);
    expect(world.history("a")).toEqual([`${toIso(ONE)} PENDING`]);
    await world.engine.schedules.remove("a");
    await reconciled(world, 0);
    expect(world.history("a")).toEqual([`${toIso(ONE)} PENDING`]);
  });
});

import { reconcile } from "../../../lib/app/engine/reconcile.ts";
import { type Instant, plusMs } from "../../../lib/core/instant.ts";
import { definitionVersion } from "../../../lib/core/schedule-version.ts";
import { NOON } from "../../support/occurrences.ts";
import { newWorld, type World } from "../../support/world.ts";

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;
export const hourly = (given: Record<string, unknown> = {}) => ({ scheduleId: "a", cron: "0 * * * *", ...given });
export const halfHours = (given: Record<string, unknown> = {}) => ({ scheduleId: "a", cron: "30 * * * *", ...given });

/** Reconciles as for the record of a write that the item as it stands was made by, `agoMs` ago. */
export async function reconciled(world: World, agoMs?: number) {
  const item = world.store.allSchedules().find(({ scheduleId }) => scheduleId === "a");
  const at = plusMs(world.time.now(), -(agoMs ?? 0));
  const written = agoMs === undefined ? undefined : { at, version: item && definitionVersion(item) };
  return world.time.finish(reconcile(world.engine, "a", written));
}

/** A world with one schedule in it, reconciled, ten minutes past noon unless `start` says otherwise. */
export async function worldOf(
  item: { readonly scheduleId: string },
  start: Instant = plusMs(NOON, 10 * MINUTE),
): Promise<World> {
  const world = newWorld({ start });
  world.put(item);
  await reconciled(world);
  return world;
}

/** Puts `item` as an edit in the console does: what others wrote on it stays. */
export const edit = (world: World, item: { readonly scheduleId: string }) => {
  const standing = world.store.allSchedules().find(({ scheduleId }) => scheduleId === item.scheduleId);
  const { status, paused, resumedAt } = Object(standing);
  world.put({ ...(status && { status }), ...(paused && { paused }), ...(resumedAt && { resumedAt }), ...item });
};
export const statusOf = (world: World) => world.store.allSchedules()[0]?.["status"];
export const ONE = plusMs(NOON, HOUR);
export const TWO = plusMs(NOON, 2 * HOUR);

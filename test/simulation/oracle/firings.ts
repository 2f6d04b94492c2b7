/**
 * When a schedule fires, by arithmetic of its own: nothing here is shared with the code under test. It knows the few shapes
 * of timing that simulated schedules have; every zone in them is whole hours from UTC, so that minutes are the same there.
 */

const MINUTE_MS = 60_000;

/** 02:30 local time, daily, while worlds last: after the gap in spring, the first pass in autumn. */
const DAILY_AT_HALF_PAST_TWO: Readonly<Record<string, readonly string[]>> = {
  "Europe/Berlin": ["2026-03-29T01:00:00Z", "2026-06-11T00:30:00Z", "2026-10-25T00:30:00Z"],
  "America/New_York": ["2026-03-08T07:00:00Z", "2026-03-29T06:30:00Z", "2026-10-25T06:30:00Z"],
};

/** The expression that {@link DAILY_AT_HALF_PAST_TWO} tells of. */
export const HALF_PAST_TWO = "30 2 * * *";

type Item = Readonly<Record<string, unknown>>;

/** Whether the definition in `item` has a firing at the instant `at`, whatever pauses it. */
export function hasFiringAt(item: Item, at: number): boolean {
  const { rate, cron, at: once, startAt, timezone } = item;
  const start = typeof startAt === "string" ? Date.parse(startAt) : undefined;
  if (start !== undefined && at < start) return false;
  if (typeof once === "string") return at === Date.parse(once);
  if (typeof rate === "string") return modulo(at - (start ?? 0), intervalMs(rate)) === 0;
  if (typeof cron !== "string")
    throw new RangeError(`the oracle must know a schedule's timing, got ${JSON.stringify(item)}`);
  if (cron === HALF_PAST_TWO)
    return (DAILY_AT_HALF_PAST_TWO[String(timezone)] ?? []).some((instant) => at === Date.parse(instant));
  if (modulo(at, MINUTE_MS) !== 0) return false;
  const minute = modulo(at / MINUTE_MS, 60);
  const [field = ""] = cron.split(" ");
  return field.startsWith("*/") ? minute % Number(field.slice(2)) === 0 : minute === Number(field);
}

/** Every firing of `item` in (after, before), oldest first. */
export function firingsWithin(item: Item, after: number, before: number): number[] {
  const firings: number[] = [];
  const { rate, at: once, startAt } = item;
  const anchor = typeof startAt === "string" ? Date.parse(startAt) : 0;
  if (typeof once === "string") return Date.parse(once) > after && Date.parse(once) < before ? [Date.parse(once)] : [];
  const stepMs = typeof rate === "string" ? intervalMs(rate) : MINUTE_MS;
  const base = typeof rate === "string" ? anchor : 0;
  for (let at = base + (Math.floor((after - base) / stepMs) + 1) * stepMs; at < before; at += stepMs)
    if (hasFiringAt(item, at)) firings.push(at);
  return firings;
}

function intervalMs(rate: string): number {
  const [count = "", unit = ""] = rate.split(" ");
  return Number(count) * (unit.startsWith("minute") ? MINUTE_MS : 1_000);
}

const modulo = (value: number, by: number): number => ((value % by) + by) % by;

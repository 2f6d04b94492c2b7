import { Duration } from "luxon";
import { type Instant, instant } from "../instant.ts";
import { shown } from "../validation.ts";
import { HORIZON } from "./horizon.ts";
import type { NominalFiring, RateTiming } from "./timing.ts";

const SECOND_MS = 1000;
const UNIT_MS: Readonly<Record<string, number>> = {
  second: SECOND_MS,
  minute: 60 * SECOND_MS,
  hour: 3600 * SECOND_MS,
  day: 86_400 * SECOND_MS,
};
/** A hundred years: longer than any interval that could fire twice before the horizon. */
const MAX_INTERVAL_DAYS = 36_500;

const RATE_FORM = /^rate\s*\((.*)\)$/is;
const WORDS = /^(\d{1,12})\s+(second|minute|hour|day)s?$/i;
const ISO = /^P(?=\d|T\d)(\d{1,12}D)?(T(?=\d)(\d{1,12}H)?(\d{1,12}M)?(\d{1,12}S)?)?$/;
const ALLOWED =
  'an interval such as "5 minutes", "rate(5 minutes)" or "PT5M", in whole seconds, minutes, hours or days';

function milliseconds(text: string): number | undefined {
  const [, count, unit] = WORDS.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return Number(count) * (UNIT_MS[unit.toLowerCase()] ?? Number.NaN);
  return ISO.test(text) ? Duration.fromISO(text).toMillis() : undefined;
}

/** Reads `rate`: the interval in milliseconds, or the sentence about what it must be. */
export function parseRate(rawText: string): number | string {
  const text = rawText.trim();
  const inner = (RATE_FORM.exec(text)?.[1] ?? text).trim();
  const intervalMs = milliseconds(inner);
  const got = `got ${shown(rawText)}`;
  if (intervalMs === undefined) {
    const calendar = /month|year|^P\d+[YM]/i.test(inner) ? "; months and years differ in length: use cron" : "";
    return `must be ${ALLOWED}, ${got}${calendar}`;
  }
  if (intervalMs < SECOND_MS || intervalMs > MAX_INTERVAL_DAYS * (UNIT_MS["day"] ?? 0))
    return `must be 1 second to ${MAX_INTERVAL_DAYS} days, ${got}`;
  return intervalMs;
}

/** How many firings lie at or before `at`, counted from the anchor; none before it. */
const ordinal = ({ anchor, intervalMs }: RateTiming, at: number): number => Math.floor((at - anchor) / intervalMs);

/** The first firing strictly after `after`, computed from the anchor alone. A rate without `startAt` reaches back before its anchor, the epoch. */
export function nextOfRate(timing: RateTiming, after: Instant): NominalFiring | undefined {
  const at = timing.anchor + (ordinal(timing, after) + 1) * timing.intervalMs;
  return at < HORIZON ? { at: instant(at) } : undefined;
}

/** The number of firings in `(after, upTo]`. */
export const countOfRate = (timing: RateTiming, after: Instant, upTo: Instant): number =>
  Math.max(0, ordinal(timing, upTo) - ordinal(timing, after));

import cronstrue from "cronstrue";
import { toIso } from "../instant.ts";
import type { CronExpression } from "./calendar.ts";
import type { CronTiming, RateTiming, Timing } from "./timing.ts";

const UNITS = [
  { name: "day", seconds: 86_400 },
  { name: "hour", seconds: 3_600 },
  { name: "minute", seconds: 60 },
  { name: "second", seconds: 1 },
] as const;

/** `1 day 12 hours`: a whole number of seconds in words. */
function durationWords(totalSeconds: number): string {
  const parts: string[] = [];
  let left = totalSeconds;
  for (const { name, seconds } of UNITS) {
    const count = Math.floor(left / seconds);
    left -= count * seconds;
    if (count > 0) parts.push(`${count} ${name}${count === 1 ? "" : "s"}`);
  }
  return parts.join(" ");
}

const DAY_NOTES: Readonly<Record<CronExpression["dayRule"], string>> = {
  any: "",
  one: "",
  both: " (only on days that match both day fields)",
  either: " (on days that match either day field)",
};

function cronWords({ calendar: { expression } }: CronTiming): string {
  const { text, dayPhrases } = expression.wording;
  const words = cronstrue.toString(text, { use24HourTimeFormat: true });
  return [words, ...dayPhrases].join(", ") + DAY_NOTES[expression.dayRule];
}

const rateWords = ({ intervalMs, anchor, startAt }: RateTiming): string =>
  `Every ${durationWords(intervalMs / 1000).replace(/^1 (\w+)$/, "$1")}${startAt === undefined ? `, counted from ${toIso(anchor)}` : ""}`;

function kindWords(timing: Timing): string {
  switch (timing.kind) {
    case "cron":
      return `${cronWords(timing)}, time zone ${timing.timezone}`;
    case "rate":
      return rateWords(timing);
    case "at":
      return `Once at ${timing.firings.map(({ at }) => toIso(at)).join(" and again at ")}, time zone ${timing.timezone}`;
    default:
      return timing satisfies never;
  }
}

/** The timing in plain English: when, in which zone, within which window, with how much jitter. */
export function describeTiming(timing: Timing): string {
  const { startAt, endAt, jitterMs } = timing;
  return [
    kindWords(timing),
    ...(startAt === undefined ? [] : [`from ${toIso(startAt)}`]),
    ...(endAt === undefined ? [] : [`until ${toIso(endAt)}`]),
    ...(jitterMs === 0 ? [] : [`each up to ${durationWords(jitterMs / 1000)} late`]),
  ].join(", ");
}

import { announcementOf, type News, PAUSED_BY_ITSELF, scheduleNews } from "../../lib/core/announcement.ts";
import { plusMs, toIso } from "../../lib/core/instant.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import { anOccurrence, NOON } from "./occurrences.ts";
import { claimedRow, failureOf, LATER, reportOf, runningRow, step } from "./transitions.ts";

const ALL = { deployment: "Punctual", started: true, succeeded: true, retrying: true };
const LAST = { maxAttempts: 1 };
const MISFIRE = { policy: "skip", count: 3, more: false, from: plusMs(NOON, -7_200_000), to: NOON } as const;

/** A change by which each kind of news comes about, in the order in which docs/events.md tells of them. */
const CHANGES: readonly (readonly [Occurrence, Occurrence])[] = [
  [runningRow(LAST), step(runningRow(LAST), failureOf(runningRow(LAST)), LATER)],
  [runningRow(), step(runningRow(), failureOf(runningRow(), true), LATER)],
  [anOccurrence(), step(anOccurrence(), { type: "skip", reason: "misfire", misfire: MISFIRE }, LATER)],
  [claimedRow(), step(claimedRow(), { type: "cancel", reason: "requested" }, LATER)],
  [claimedRow(), runningRow()],
  [runningRow(), step(runningRow(), failureOf(runningRow()), LATER)],
  [runningRow(), step(runningRow(), { type: "succeed", ...reportOf(runningRow()) }, LATER)],
];

const item = { scheduleId: "nightly", cron: "61 * * * *" };
const status = {
  state: "INVALID",
  version: "0123456789abcdef",
  since: toIso(NOON),
  problem: 'cron: minute must be from 0 to 59, got "61"',
};
const paused = {
  at: toIso(NOON),
  by: PAUSED_BY_ITSELF,
  note: "3 dead letters in a row, the last nightly@2026-11-29T12:00:00.000Z",
};

/** One of each kind of news, as the code tells it. */
export const NEWS: readonly News[] = [
  ...CHANGES.flatMap(([before, after]) => announcementOf(before, after, ALL) ?? []),
  ...scheduleNews(item, { ...item, status }, ALL),
  ...scheduleNews(item, { ...item, paused }, ALL),
];

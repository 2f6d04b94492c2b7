import type { Problem } from "../errors.ts";
import type { Instant } from "../instant.ts";
import { instant } from "../instant.ts";
import { shown } from "../validation.ts";
import { BoundedCache } from "./bounded-cache.ts";
import type { Calendar, CronExpression } from "./calendar.ts";
import { parseCron } from "./cron.ts";
import { parseAt, parseInstant } from "./date-time.ts";
import { parseRate } from "./rate.ts";
import { parseTimezone, type TimezoneResult } from "./timezone.ts";
import {
  type DstPolicy,
  GAP_POLICIES,
  REPEATED_POLICIES,
  type Timing,
  type TimingDefinition,
  type TimingResult,
} from "./timing.ts";

/** A day: more would leave the reader of a schedule no idea when it runs. */
const MAX_JITTER_SECONDS = 86_400;

/** A statement of a time of day: it fires once on every day, so a gap shifts it and a repeat counts once. */
const FIXED_POLICY: DstPolicy = { gap: "shift", repeated: "first" };
/** A pace: it follows elapsed time, so what a gap leaves out never was and what repeats happens twice. */
const WILDCARD_POLICY: DstPolicy = { gap: "skip", repeated: "both" };

const MAX_CALENDARS = 4_096;
const MAX_ZONE_NAMES = 1_024;
const calendars = new BoundedCache<string, Calendar>(MAX_CALENDARS);
const zones = new BoundedCache<string, TimezoneResult>(MAX_ZONE_NAMES);

/** One calendar for all schedules that share expression, zone and policy, so that they share what is remembered of it. */
const calendarOf = (expression: CronExpression, zone: string, dst: DstPolicy): Calendar =>
  calendars.get(`${expression.dialect} ${expression.canonical} ${zone} ${dst.gap} ${dst.repeated}`, () => ({
    expression,
    zone,
    dst,
  }));

function policy(defaults: DstPolicy, dst: TimingDefinition["dst"]): DstPolicy {
  return { gap: dst?.gap ?? defaults.gap, repeated: dst?.repeated ?? defaults.repeated };
}

class Problems {
  readonly found: Problem[] = [];

  add(path: string, message: string): void {
    this.found.push({ path, message });
  }
}

function checkDst(dst: TimingDefinition["dst"], problems: Problems): void {
  const check = (path: string, value: string | undefined, allowed: readonly string[]) => {
    if (value !== undefined && !allowed.includes(value))
      problems.add(path, `must be ${allowed.join(" or ")}, got ${shown(value)}`);
  };
  check("dst.gap", dst?.gap, GAP_POLICIES);
  check("dst.repeated", dst?.repeated, REPEATED_POLICIES);
}

function readInstant(path: "startAt" | "endAt", text: string | undefined, problems: Problems): Instant | undefined {
  if (text === undefined) return undefined;
  const at = parseInstant(text);
  if (typeof at === "number") return at;
  problems.add(path, at);
  return undefined;
}

function readJitterMs(jitterSeconds: number | undefined, problems: Problems): number {
  const seconds = jitterSeconds ?? 0;
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_JITTER_SECONDS) return seconds * 1000;
  problems.add("jitterSeconds", `must be a whole number 0-${MAX_JITTER_SECONDS}, got ${seconds}`);
  return 0;
}

function readTimezone(name: string | undefined, problems: Problems): string | undefined {
  const result = zones.get(name ?? "UTC", () => parseTimezone(name ?? "UTC"));
  if (result.kind === "valid") return result.name;
  problems.add("timezone", result.message);
  return undefined;
}

type Common = Pick<Timing, "scheduleId" | "timezone" | "startAt" | "endAt" | "jitterMs">;

function readCron(definition: TimingDefinition, text: string, common: Common, problems: Problems): Timing | undefined {
  const result = parseCron(text, definition.scheduleId);
  if (result.kind === "invalid") {
    for (const message of result.messages) problems.add("cron", message);
    return undefined;
  }
  const defaults = result.expression.fixed ? FIXED_POLICY : WILDCARD_POLICY;
  const calendar = calendarOf(result.expression, common.timezone, policy(defaults, definition.dst));
  return { kind: "cron", ...common, calendar };
}

function readRate(text: string, common: Common, problems: Problems): Timing | undefined {
  const intervalMs = parseRate(text);
  if (typeof intervalMs === "number")
    return { kind: "rate", ...common, intervalMs, anchor: common.startAt ?? instant(0) };
  problems.add("rate", intervalMs);
  return undefined;
}

function readAt(definition: TimingDefinition, text: string, common: Common, problems: Problems): Timing | undefined {
  const firings = parseAt(text, common.timezone, policy(FIXED_POLICY, definition.dst));
  if (typeof firings !== "string") return { kind: "at", ...common, firings };
  problems.add("at", firings);
  return undefined;
}

function readKind(definition: TimingDefinition, common: Common, problems: Problems): Timing | undefined {
  const { cron, rate, at } = definition;
  const given = Object.entries({ cron, rate, at }).filter(([, text]) => text !== undefined);
  if (given.length !== 1) {
    const got = given.length === 0 ? "none" : given.map(([name]) => name).join(" and ");
    problems.add("", `exactly one of cron, rate and at must be given, got ${got}`);
  }
  // All that are given are read, so that every problem is told at once.
  const timings = [
    cron === undefined ? undefined : readCron(definition, cron, common, problems),
    rate === undefined ? undefined : readRate(rate, common, problems),
    at === undefined ? undefined : readAt(definition, at, common, problems),
  ];
  return timings.find((timing) => timing !== undefined);
}

/** Reads the timing of a definition and reports every problem in it, `path` being the attribute's name (empty for the whole). */
export function parseTiming(definition: TimingDefinition): TimingResult {
  const problems = new Problems();
  checkDst(definition.dst, problems);
  const timezone = readTimezone(definition.timezone, problems);
  const startAt = readInstant("startAt", definition.startAt, problems);
  const endAt = readInstant("endAt", definition.endAt, problems);
  if (startAt !== undefined && endAt !== undefined && startAt >= endAt)
    problems.add("endAt", `must be after startAt (${definition.startAt}), got ${shown(definition.endAt)}`);
  const common: Common = {
    scheduleId: definition.scheduleId ?? "",
    // With an unknown zone the rest is still checked, as if in UTC, so that its problems are told too; the result is invalid either way.
    timezone: timezone ?? "UTC",
    jitterMs: readJitterMs(definition.jitterSeconds, problems),
    ...(startAt === undefined ? {} : { startAt }),
    ...(endAt === undefined ? {} : { endAt }),
  };
  const timing = readKind(definition, common, problems);
  if (timing === undefined || problems.found.length > 0) return { kind: "invalid", problems: problems.found };
  return { kind: "valid", timing };
}

import { type Instant, plusMs } from "../../core/instant.ts";
import type { Schedule } from "../../core/schedule.ts";
import { upcoming } from "../firings.ts";
import { plainValue, utc } from "./text.ts";

/** How many firings a diff shows on either side. */
const FIRINGS_SHOWN = 3;

/** What a put is about to change: the schedule as it stands (`undefined`: new) and as it will be. */
export interface PlannedPut {
  readonly before: { readonly attributes: Readonly<Record<string, unknown>>; readonly schedule?: Schedule } | undefined;
  readonly after: { readonly attributes: Readonly<Record<string, unknown>>; readonly schedule: Schedule };
}

/** A planned put for people: what changes, attribute by attribute, and when it fires before and after. */
export function diffLines({ before, after }: PlannedPut, now: Instant): string[] {
  const { scheduleId } = after.schedule;
  const lines = attributeLines(before?.attributes ?? {}, after.attributes);
  if (before !== undefined && lines.length === 0) return [`  ${scheduleId} (unchanged)`];
  const next = firingsOf(after.schedule, now);
  if (before === undefined) return [`+ ${scheduleId} (new)`, ...lines, `    next: ${next}`];
  const previous =
    before.schedule === undefined ? "none: the definition is not valid" : firingsOf(before.schedule, now);
  const same = previous === next;
  return [
    `~ ${scheduleId}`,
    ...lines,
    ...(same ? [`    next: ${next} (as before)`] : [`    next before: ${previous}`, `    next after:  ${next}`]),
  ];
}

/** One line an attribute that comes or goes. The id stands above them. */
function attributeLines(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => name !== "scheduleId");
  return names.flatMap((name) => {
    const [old, fresh] = [before[name], after[name]];
    if (canonical(old) === canonical(fresh)) return [];
    return [
      ...(old === undefined ? [] : [`    - ${name}: ${plainValue(old)}`]),
      ...(fresh === undefined ? [] : [`    + ${name}: ${plainValue(fresh)}`]),
    ];
  });
}

function firingsOf(schedule: Schedule, now: Instant): string {
  if (!schedule.enabled) return "none: it is disabled";
  if (schedule.paused) return "none: it is paused";
  const firings = upcoming(schedule.timing, now, FIRINGS_SHOWN);
  if (firings.length > 0) return firings.map(({ scheduledFor }) => utc(scheduledFor)).join(", ");
  return isOwed(schedule, now)
    ? "none: its instant has passed; unless it ran, it runs once, now"
    : "none: it has ended";
}

/** A one-shot without a row is owed as long as its instant lies within the catch-up window. */
const isOwed = ({ timing, snapshot }: Schedule, now: Instant): boolean =>
  timing.kind === "at" &&
  upcoming(timing, plusMs(now, -snapshot.misfirePolicy.catchupWindowSeconds * 1000), 1).length > 0;

/** JSON with the members of maps in one order: DynamoDB keeps none. */
const canonical = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );

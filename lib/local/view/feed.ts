import type { DynamoDBStreamEvent } from "aws-lambda";
import { scheduleChange as changedSchedule, rowChange } from "../../adapters/dynamodb/stream-records.ts";
import type { ScheduleItem, ScheduleStore } from "../../app/ports.ts";
import { formatProblems } from "../../core/errors.ts";
import { type Instant, instant } from "../../core/instant.ts";
import { parseSchedule, type ScheduleLimits } from "../../core/schedule.ts";
import type { ScheduleDefinition } from "../../core/schedule-definition.ts";
import { occurrenceChange, scheduleChange, scheduleRemoval } from "./changes.ts";
import type { ScheduleLine, View } from "./state.ts";

/** What the feed works with. */
export interface FeedOptions {
  readonly view: View;
  readonly schedules: Pick<ScheduleStore, "read">;
  readonly limits: ScheduleLimits;
  /** Takes a line for each change worth one; what happened before `since` is shown, but not told again. */
  readonly tell: (line: string) => void;
  readonly since: Instant;
}

/** Handlers of the two tables' streams, as functions have them, that keep a view up to date. */
export interface Feed {
  onOccurrences(event: DynamoDBStreamEvent): Promise<void>;
  onSchedules(event: DynamoDBStreamEvent): Promise<void>;
}

/** Streams date their records to the second, DynamoDB Local those of before its start to the minute. */
const DATING_MS = 60_000;

/** A feed for `view`. */
export function createFeed({ view, schedules, limits, tell, since }: FeedOptions): Feed {
  const now = (): Instant => instant(Date.now());
  const isOld = (seconds: number | undefined): boolean => (seconds ?? 0) * 1_000 < since - DATING_MS;
  return {
    onOccurrences: async ({ Records }) => {
      for (const record of Records) {
        const change = rowChange(record);
        if (change.kind === "change") {
          view.putOccurrence(change.after, change.before);
          const line = occurrenceChange(change.after, change.before, now());
          if (line !== undefined && !isOld(record.dynamodb?.ApproximateCreationDateTime)) tell(line);
        } else if (change.kind === "malformed") {
          tell(change.error.message);
        } else {
          const { scheduleId, firing } = record.dynamodb?.Keys ?? {};
          if (record.eventName === "REMOVE" && scheduleId?.S !== undefined && firing?.S !== undefined)
            view.removeOccurrence({ scheduleId: scheduleId.S, firing: firing.S });
        }
      }
    },
    onSchedules: async ({ Records }) => {
      // The item as it stands is what counts, not each step that led to it.
      const ids = [...new Set(Records.map((record) => changedSchedule(record).scheduleId))];
      for (const [index, verdict] of (await schedules.read(ids)).entries()) {
        const id = ids[index] ?? "";
        if (verdict.kind === "found") {
          const line = scheduleLine(verdict.row, limits);
          const told = scheduleChange(line, view.state.schedules.get(id), now());
          view.putSchedule(line);
          if (told !== undefined) tell(told);
        } else if (verdict.kind === "missing") {
          view.removeSchedule(id);
          tell(scheduleRemoval(id, now()));
        } else {
          throw verdict.error;
        }
      }
    },
  };
}

/** A schedule's item as the view shows it: judged as the scheduler judges it, with the state it last wrote. */
export function scheduleLine(item: ScheduleItem, limits: ScheduleLimits): ScheduleLine {
  const { scheduleId } = item;
  const parsed = parseSchedule(item, limits);
  if (parsed.kind === "invalid")
    return { scheduleId, when: "", state: "INVALID", problem: formatProblems(parsed.problems) };
  const { status, definition } = parsed.schedule;
  return { scheduleId, when: timingWords(definition), state: status?.state ?? "NEW", problem: status?.problem };
}

/** `cron 0 9 * * MON-FRI (Europe/Paris)`, `rate(5 minutes)`: as the author wrote it. */
function timingWords({ cron, rate, at, timezone }: ScheduleDefinition): string {
  const [kind, text] = cron !== undefined ? ["cron", cron] : rate !== undefined ? ["rate", rate] : ["at", at];
  const words = text?.startsWith(`${kind}(`) ? text : `${kind} ${text}`;
  return timezone === undefined || timezone === "UTC" ? words : `${words} (${timezone})`;
}

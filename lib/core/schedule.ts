import * as z from "zod";
import type { Problem } from "./errors.ts";
import { parseTiming, type Timing } from "./firing/index.ts";
import { fromIso, type Instant } from "./instant.ts";
import { DEFAULT_RETRY, type RetryPolicy } from "./retry.ts";
import {
  DEFINITION,
  DEFINITION_ATTRIBUTES,
  PAYLOAD_MAX_BYTES,
  type ScheduleDefinition,
} from "./schedule-definition.ts";
import { definitionVersion } from "./schedule-version.ts";
import { problemsOf, shown } from "./validation.ts";

/** Attributes of an item that the system or an operator writes, never the author. */
export const SYSTEM_ATTRIBUTES: readonly string[] = ["paused", "resumedAt", "status"];

const paused = z.object({ at: z.string(), by: z.optional(z.string()), note: z.optional(z.string()) });
const isoInstant = z.string().transform((value, context) => {
  const at = fromIso(value);
  if (at !== undefined) return at;
  context.addIssue({ code: "custom", message: "must be an ISO instant" });
  return z.NEVER;
});
const status = z.object({
  state: z.enum(["ACTIVE", "PAUSED", "DISABLED", "ENDED", "INVALID"]),
  version: z.optional(z.string()),
  since: isoInstant,
  provisional: z.optional(z.boolean()),
  problem: z.optional(z.string()),
});

/**
 * Why a schedule fires or does not. `version` and `since`: the definition this was said of, and from when it counts;
 * `provisional` while the record that says when it was written is still to come.
 */
export type ScheduleStatus = z.infer<typeof status>;
export type ScheduleState = ScheduleStatus["state"];

/** How a head that comes up late is dealt with. */
export interface MisfirePolicy {
  readonly policy: "coalesce" | "all" | "skip";
  readonly graceSeconds: number;
  readonly catchupWindowSeconds: number;
}

/** What one run of a schedule needs, copied onto its row so that later edits do not reach it. */
export interface ScheduleSnapshot {
  readonly scheduleVersion: string;
  /** JSON text, at most {@link PAYLOAD_MAX_BYTES}: kept as text so that every number and key survives to the letter. */
  readonly payload: string;
  readonly job: string;
  readonly queue: string;
  readonly retry: RetryPolicy;
  readonly timeoutSeconds: number;
  readonly startDeadlineSeconds: number;
  readonly timezone: string;
  readonly misfirePolicy: MisfirePolicy;
  readonly overlap: "allow" | "skip" | "wait" | "replace";
}

/** A definition with its defaults filled in, its timing parsed, and what others wrote on the item. */
export interface Schedule {
  readonly scheduleId: string;
  readonly definition: ScheduleDefinition;
  readonly timing: Timing;
  readonly snapshot: ScheduleSnapshot;
  /** The hash of the canonical definition: derived, never assigned, so that a raw `PutItem` cannot lose it. */
  readonly version: string;
  readonly enabled: boolean;
  readonly deleteAfterCompletion: boolean;
  readonly paused: boolean;
  readonly resumedAt?: Instant;
  readonly status?: ScheduleStatus;
  /** What is accepted but deserves a look: attributes that nothing reads, effects that may happen twice. */
  readonly warnings: readonly string[];
}

/** What a deployment allows its schedules. */
export interface ScheduleLimits {
  /** The named queues, each with the longest `timeoutSeconds` its consumer can give. */
  readonly queues: Readonly<
    Record<string, { readonly timeoutMaxSeconds: number; readonly retry?: Partial<RetryPolicy> }>
  >;
  /** How long finished rows are kept: no catch-up reaches further back. */
  readonly historySeconds: number;
}

/** The outcome of {@link parseSchedule}. An invalid item still tells its state, so that its `status` can be kept right. */
export type ScheduleResult =
  | { readonly kind: "valid"; readonly schedule: Schedule }
  | {
      readonly kind: "invalid";
      readonly scheduleId: string | undefined;
      readonly problems: readonly Problem[];
      readonly version: string;
      readonly status?: ScheduleStatus;
    };

const DEFAULT_TIMEOUT_SECONDS = 60;
/**
 * Within this a firing is on time: a dispatcher looks once a second, and goes by the earliest that the store's time can be,
 * which is up to two seconds behind, until it is known closely.
 */
const ON_TIME_SECONDS = 3;
/** Grace before a late head counts as a misfire, and how far back `all` catches up. */
export const DEFAULT_MISFIRE: MisfirePolicy = { policy: "coalesce", graceSeconds: 120, catchupWindowSeconds: 86_400 };
/** How long a run may wait for its start before it is a dead letter. */
export const DEFAULT_START_DEADLINE_SECONDS = 86_400;

/**
 * Turns an item of the Schedules table (plain JavaScript values) into a schedule, or lists everything that is wrong with
 * it. Attributes outside {@link DEFINITION_ATTRIBUTES} change nothing but earn a warning: an older version of this code
 * must not stop a schedule that a newer one wrote.
 */
export function parseSchedule(item: Readonly<Record<string, unknown>>, limits: ScheduleLimits): ScheduleResult {
  const version = definitionVersion(item);
  const known = statusNote(item);
  const parsed = DEFINITION.safeParse(item);
  const shape = parsed.success ? [] : problemsOf(parsed.error, item);
  const timing = parseTiming(timingPart(item, new Set(shape.map(({ path }) => path.split(".")[0] ?? ""))));
  const problems = [
    ...shape,
    ...(timing.kind === "invalid" ? timing.problems.filter((problem) => !isSaidBy(shape, problem)) : []),
    ...(parsed.success ? deploymentProblems(parsed.data, limits) : []),
  ];
  if (!parsed.success || timing.kind === "invalid" || problems.length > 0)
    return {
      kind: "invalid",
      scheduleId: typeof item["scheduleId"] === "string" ? item["scheduleId"] : undefined,
      problems,
      version,
      ...(known && { status: known }),
    };
  const resumedAt = isoInstant.safeParse(item["resumedAt"]);
  return {
    kind: "valid",
    schedule: {
      scheduleId: parsed.data.scheduleId,
      definition: parsed.data,
      timing: timing.timing,
      snapshot: snapshotOf(parsed.data, timing.timing, version, limits),
      version,
      enabled: parsed.data.enabled ?? true,
      deleteAfterCompletion: parsed.data.deleteAfterCompletion ?? false,
      paused: isPaused(item["paused"]),
      ...(resumedAt.success && { resumedAt: resumedAt.data }),
      ...(known && { status: known }),
      warnings: warningsOf(item, parsed.data),
    },
  };
}

/**
 * Whether problems of an item's shape make a problem of its timing idle: the same attribute, or that none says when it fires
 * where one does, in the wrong type.
 */
const isSaidBy = (shape: readonly Problem[], { path }: Problem): boolean =>
  shape.some((problem) => problem.path === path || (path === "" && SAYS_WHEN.has(problem.path)));

/** The attributes of which a definition has exactly one. */
const SAYS_WHEN: ReadonlySet<string> = new Set(["cron", "rate", "at"]);

/** Whether an item's attribute `paused` pauses it. Any value at all does: an operator who typed `true` by hand meant it. */
export const isPaused = (value: unknown): boolean => value !== undefined && value !== null && value !== false;

/** The state of an item as it was written on it; `undefined` where none was, or nothing of the kind. */
export function statusNote(item: Readonly<Record<string, unknown>>): ScheduleStatus | undefined {
  const parsed = status.safeParse(item["status"]);
  return parsed.success ? parsed.data : undefined;
}

/** The note an operator left with a pause, for display; `undefined` where the schedule is not paused or carries none. */
export function pauseNote(
  item: Readonly<Record<string, unknown>>,
): { at: string; by?: string; note?: string } | undefined {
  const parsed = paused.safeParse(item["paused"]);
  if (!parsed.success) return undefined;
  const { at, by, note } = parsed.data;
  return { at, ...(by !== undefined && { by }), ...(note !== undefined && { note }) };
}

function timingPart(item: Readonly<Record<string, unknown>>, wrong: ReadonlySet<string>) {
  const usable = <K extends keyof ScheduleDefinition>(key: K): Pick<ScheduleDefinition, K> | undefined => {
    const parsed = wrong.has(key) ? undefined : DEFINITION.shape[key].safeParse(item[key]);
    return parsed?.success && parsed.data !== undefined
      ? ({ [key]: parsed.data } as Pick<ScheduleDefinition, K>)
      : undefined;
  };
  return {
    ...usable("scheduleId"),
    ...usable("cron"),
    ...usable("rate"),
    ...usable("at"),
    ...usable("timezone"),
    ...usable("dst"),
    ...usable("startAt"),
    ...usable("endAt"),
    ...usable("jitterSeconds"),
  };
}

/** The deployment's queue of that name; a name like `constructor`, which every object answers to, is none by that. */
const queueOf = (queueName: string, { queues }: ScheduleLimits) =>
  Object.hasOwn(queues, queueName) ? queues[queueName] : undefined;

function deploymentProblems(definition: ScheduleDefinition, limits: ScheduleLimits): Problem[] {
  const problems: Problem[] = [];
  const queueName = definition.queue ?? "default";
  const queue = queueOf(queueName, limits);
  const timeoutSeconds = definition.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS;
  if (queue === undefined) {
    const names = Object.keys(limits.queues).join(", ");
    problems.push({ path: "queue", message: `must be a queue of this deployment (${names}), got ${shown(queueName)}` });
  } else if (timeoutSeconds > queue.timeoutMaxSeconds && definition.timeoutSeconds !== undefined) {
    problems.push({
      path: "timeoutSeconds",
      message: `must be at most the ${queue.timeoutMaxSeconds} that queue ${shown(queueName)} can give, got ${timeoutSeconds}`,
    });
  }
  const catchupWindowSeconds = definition.misfire?.catchupWindowSeconds ?? DEFAULT_MISFIRE.catchupWindowSeconds;
  if (catchupWindowSeconds > limits.historySeconds)
    problems.push({
      path: "misfire.catchupWindowSeconds",
      message: `must be at most the ${limits.historySeconds} for which history is kept, got ${catchupWindowSeconds}`,
    });
  const payloadBytes = Buffer.byteLength(JSON.stringify(definition.payload ?? {}));
  if (payloadBytes > PAYLOAD_MAX_BYTES)
    problems.push({
      path: "payload",
      message: `must be at most ${PAYLOAD_MAX_BYTES} bytes of JSON, got ${payloadBytes}; keep larger data in S3 and put its key here`,
    });
  return problems;
}

function snapshotOf(
  definition: ScheduleDefinition,
  timing: Timing,
  scheduleVersion: string,
  limits: ScheduleLimits,
): ScheduleSnapshot {
  const queueName = definition.queue ?? "default";
  const queue = queueOf(queueName, limits);
  const timeoutMaxSeconds = queue?.timeoutMaxSeconds ?? DEFAULT_TIMEOUT_SECONDS;
  return {
    scheduleVersion,
    payload: JSON.stringify(definition.payload ?? {}),
    job: definition.job ?? "default",
    queue: queueName,
    retry: defined({ ...DEFAULT_RETRY, ...queue?.retry }, definition.retry),
    timeoutSeconds: definition.timeoutSeconds ?? Math.min(DEFAULT_TIMEOUT_SECONDS, timeoutMaxSeconds),
    startDeadlineSeconds: definition.startDeadlineSeconds ?? DEFAULT_START_DEADLINE_SECONDS,
    timezone: timing.timezone,
    misfirePolicy: defined(DEFAULT_MISFIRE, definition.misfire),
    overlap: definition.overlap ?? "allow",
  };
}

/** `defaults` with the members that `given` sets to something other than `undefined`. */
function defined<T extends object>(defaults: T, given: { [K in keyof T]?: T[K] | undefined } | undefined): T {
  const set = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) };
}

function warningsOf(item: Readonly<Record<string, unknown>>, definition: ScheduleDefinition): string[] {
  const misfire = defined(DEFAULT_MISFIRE, definition.misfire);
  const known = new Set([...DEFINITION_ATTRIBUTES, ...SYSTEM_ATTRIBUTES]);
  const unread = Object.keys(item).filter((key) => !known.has(key));
  return [
    ...unread.map((key) => `${key}: is no attribute of a schedule and changes nothing`),
    ...(definition.effects === "none"
      ? [
          "effects: 'none' says that a second run would do harm; a run is dispatched at least once, so it may happen twice",
        ]
      : []),
    ...(misfire.graceSeconds < ON_TIME_SECONDS
      ? [
          `misfire.graceSeconds: a firing on time may come up ${ON_TIME_SECONDS} seconds late, and is a misfire with a grace of ${misfire.graceSeconds}`,
        ]
      : []),
  ];
}

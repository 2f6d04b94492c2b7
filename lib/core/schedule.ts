import * as z from "zod";
import type { Problem } from "./errors.ts";
import { parseTiming, type Timing } from "./firing/index.ts";
import { contentHash } from "./ids.ts";
import { fromIso, type Instant } from "./instant.ts";
import { payloadProblem } from "./payload.ts";
import { DEFAULT_RETRY, type RetryPolicy } from "./retry.ts";
import { jsonValue, problemsOf, shown } from "./validation.ts";

/** The longest and the shape of a schedule's id: it stands in keys, message attributes and `<scheduleId>@<firing>`. */
const SCHEDULE_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The largest payload, as UTF-8 JSON: every transition of a run writes it. Larger data belongs in S3, with its key as payload. */
export const PAYLOAD_MAX_BYTES = 32 * 1024;

/** The most attempts a run may be given: bounds the row's log and what a poison job can cost. */
export const MAX_ATTEMPTS_LIMIT = 100;

/** SQS keeps a message for at most 14 days (Amazon SQS quotas, "Message retention"), so nothing waits longer to start. */
const START_DEADLINE_MAX_SECONDS = 14 * 86_400;

/** The longest backoff: a run that must wait longer is better a schedule of its own. */
export const DELAY_MAX_SECONDS = 7 * 86_400;

/** The longest time that one attempt can be given: what must run longer is better cut into runs. */
export const TIMEOUT_MAX_SECONDS = 7 * 86_400;

const seconds = (min: number, max: number) =>
  z.number(range(min, max)).min(min, range(min, max)).max(max, range(min, max));
const wholeNumber = (min: number, max: number) =>
  z
    .int(`must be a whole number from ${min} to ${max}`)
    .min(min, `must be a whole number from ${min} to ${max}`)
    .max(max, `must be a whole number from ${min} to ${max}`);
const range = (min: number, max: number) => `must be a number of seconds from ${min} to ${max}`;
const name = z.string("must be text").regex(SCHEDULE_ID, "must be 1-128 letters, digits, '.', '_' or '-'");
const oneOf = <const T extends readonly string[]>(values: T) => z.enum(values, `must be one of ${values.join(", ")}`);
const text = (rule: string) => z.string(rule).max(1024, `${rule} of at most 1,024 characters`);
const flag = z.boolean("must be true or false");
const dst = z.strictObject(
  { gap: z.optional(oneOf(["shift", "skip"])), repeated: z.optional(oneOf(["first", "second", "both"])) },
  "must be a map of gap and repeated",
);
const retry = z.strictObject(
  {
    maxAttempts: z.optional(wholeNumber(1, MAX_ATTEMPTS_LIMIT)),
    baseDelaySeconds: z.optional(seconds(0, DELAY_MAX_SECONDS)),
    multiplier: z.optional(
      z
        .number("must be a number from 1 to 100")
        .min(1, "must be a number from 1 to 100")
        .max(100, "must be a number from 1 to 100"),
    ),
    maxDelaySeconds: z.optional(seconds(0, DELAY_MAX_SECONDS)),
    jitter: z.optional(flag),
  },
  "must be a map of maxAttempts, baseDelaySeconds, multiplier, maxDelaySeconds and jitter",
);
const misfire = z.strictObject(
  {
    policy: z.optional(oneOf(["coalesce", "all", "skip"])),
    graceSeconds: z.optional(seconds(0, 365 * 86_400)),
    catchupWindowSeconds: z.optional(seconds(0, 365 * 86_400)),
  },
  "must be a map of policy, graceSeconds and catchupWindowSeconds",
);
const payload = jsonValue("must be a JSON value (text, number, boolean, null, list or map)").superRefine(
  (value, context) => {
    const message = payloadProblem(value);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  },
);

/** The attributes an author writes. `paused`, `resumedAt` and `status` are others' and no part of the definition. */
const definition = z.object(
  {
    scheduleId: name,
    cron: z.optional(z.string("must be text")),
    rate: z.optional(z.string("must be text, for example '5 minutes'")),
    at: z.optional(z.string("must be text, an ISO date-time")),
    timezone: z.optional(z.string("must be an IANA time zone name")),
    dst: z.optional(dst),
    enabled: z.optional(flag),
    payload: z.optional(payload),
    job: z.optional(name),
    queue: z.optional(name),
    group: z.optional(name),
    startAt: z.optional(z.string("must be text, an ISO instant")),
    endAt: z.optional(z.string("must be text, an ISO instant")),
    jitterSeconds: z.optional(seconds(0, 86_400)),
    misfire: z.optional(misfire),
    overlap: z.optional(oneOf(["allow", "skip", "wait", "replace"])),
    retry: z.optional(retry),
    timeoutSeconds: z.optional(seconds(1, TIMEOUT_MAX_SECONDS)),
    startDeadlineSeconds: z.optional(seconds(60, START_DEADLINE_MAX_SECONDS)),
    effects: z.optional(oneOf(["idempotent", "fenced", "none"])),
    deleteAfterCompletion: z.optional(flag),
    pauseAfterDeadLetters: z.optional(wholeNumber(1, 1000)),
    description: z.optional(text("must be text")),
    tags: z.optional(z.record(z.string(), text("must be text"), "must be a map of text to text")),
    managedBy: z.optional(text("must be text")),
  },
  "must be a map of a schedule's attributes",
);

/** What a user writes: the author's attributes of an item of the Schedules table, as plain JavaScript values. */
export type ScheduleDefinition = z.infer<typeof definition>;

/** The names of the author's attributes, in the order in which they are documented. */
export const DEFINITION_ATTRIBUTES: readonly string[] = Object.keys(definition.shape);

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

/** The attributes that decide when a schedule fires. */
const TIMING_ATTRIBUTES = ["cron", "rate", "at", "timezone", "dst", "startAt", "endAt", "jitterSeconds"] as const;

/**
 * The version of an item's definition, valid or not: the hash of what decides when it fires, a hyphen, and the hash of all
 * the author's attributes, whatever order they came in. It stands on rows for as long as these are kept: a release that
 * hashes otherwise puts a mark and a colon before it.
 */
export const definitionVersion = (item: Readonly<Record<string, unknown>>): string =>
  `${hashOf(item, TIMING_ATTRIBUTES)}-${hashOf(item, DEFINITION_ATTRIBUTES)}`;

const hashOf = (item: Readonly<Record<string, unknown>>, attributes: readonly string[]): string =>
  contentHash(Object.fromEntries(attributes.map((key) => [key, item[key]])));

/** Whether two versions were hashed alike: those of releases that hash otherwise tell nothing of each other. */
export const areHashedAlike = (left: string, right: string): boolean => markOf(left) === markOf(right);

/**
 * Whether two versions of one schedule fire at the same instants. Those that were not hashed alike are taken for the same: no
 * firing is lost because a release was deployed or rolled back.
 */
export const isSameTiming = (left: string, right: string): boolean =>
  !areHashedAlike(left, right) || timingOf(left) === timingOf(right);

const markOf = (version: string): string => version.slice(0, version.indexOf(":") + 1);
const timingOf = (version: string): string => version.slice(0, version.indexOf("-"));

/**
 * Turns an item of the Schedules table (plain JavaScript values) into a schedule, or lists everything that is wrong with
 * it. Attributes outside {@link DEFINITION_ATTRIBUTES} change nothing but earn a warning: an older version of this code
 * must not stop a schedule that a newer one wrote.
 */
export function parseSchedule(item: Readonly<Record<string, unknown>>, limits: ScheduleLimits): ScheduleResult {
  const version = definitionVersion(item);
  const known = statusNote(item);
  const parsed = definition.safeParse(item);
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
    const parsed = wrong.has(key) ? undefined : definition.shape[key].safeParse(item[key]);
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

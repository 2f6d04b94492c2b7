import * as z from "zod";
import { payloadProblem } from "./payload.ts";
import { jsonValue } from "./validation.ts";

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
export const DEFINITION = z.object(
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
export type ScheduleDefinition = z.infer<typeof DEFINITION>;

/** The names of the author's attributes, in the order in which they are documented. */
export const DEFINITION_ATTRIBUTES: readonly string[] = Object.keys(DEFINITION.shape);

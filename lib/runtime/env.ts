import * as z from "zod";
import { formatProblems, type Problem, PunctualError } from "../core/errors.ts";
import type { RetryPolicy } from "../core/retry.ts";
import { assertTiming, DEFAULT_NUMBERS, type QueueTiming, type TimingNumbers } from "../core/timing.ts";
import { problemsOf } from "../core/validation.ts";

/** The queue behind which every deployment has its consumer function. */
export const DEFAULT_QUEUE = "default";

/** How verbose the logs are: the least severe level that is written. */
export const LOG_LEVELS = ["DEBUG", "INFO", "WARN", "ERROR"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Announcements that go to the event bus only where asked for: each costs one event a run. */
export const OPTIONAL_ANNOUNCEMENTS = ["started", "succeeded", "retrying"] as const;
export type OptionalAnnouncement = (typeof OPTIONAL_ANNOUNCEMENTS)[number];

/** One named queue of a deployment. */
export interface QueueSettings {
  readonly url: string;
  /** The longest `timeoutSeconds` a schedule may ask of this queue. */
  readonly timeoutMaxSeconds: number;
  /** What schedules of this queue retry by unless they say otherwise. */
  readonly retry?: Partial<RetryPolicy>;
  /** `enqueued`: a run is done once SQS has its message. Else a consumer reports the end. */
  readonly completion?: "enqueued";
  /** The timeout of the function that consumes it, where one does, and how long a message that it received stays hidden. */
  readonly consumerTimeoutSeconds?: number;
  readonly visibilityTimeoutSeconds?: number;
}

/** What a deployment allows its built-in jobs: nothing where nothing is said. */
export interface BuiltinJobSettings {
  /** The hosts and origins that `http` may call. */
  readonly httpAllowedHosts: readonly string[];
  /** The ARNs of the functions that `lambda` may invoke. */
  readonly lambdaFunctions: readonly string[];
  /** The source of the events that `event` puts on the deployment's bus; without one it puts none. */
  readonly eventJobSource?: string;
}

/**
 * What a deployment tells its functions. As {@link environmentOf} writes it and {@link readEnvironment} reads it back; the
 * `queues` and `historySeconds` are also the limits that schedules are checked against.
 */
export interface Settings {
  /** Names the deployment in metrics, so that two in one account do not merge. */
  readonly deployment: string;
  readonly schedulesTable: string;
  readonly occurrencesTable: string;
  /** By name; `default` is always there. */
  readonly queues: Readonly<Record<string, QueueSettings>>;
  readonly deadLetterQueueUrl: string;
  readonly eventBusName: string;
  readonly shards: number;
  readonly dispatchers: number;
  /** How long finished rows are kept. */
  readonly historySeconds: number;
  readonly messageRetentionSeconds: number;
  readonly maxReceiveCount: number;
  readonly announce: readonly OptionalAnnouncement[];
  /** Whether the numbers of runs are written by schedule too: each schedule's are metrics of their own, and cost as such. */
  readonly metricsBySchedule: boolean;
  readonly builtinJobs: BuiltinJobSettings;
  readonly logLevel: LogLevel;
}

/** The environment variable behind each setting. */
export const ENVIRONMENT_NAMES = {
  deployment: "PUNCTUAL_DEPLOYMENT",
  schedulesTable: "PUNCTUAL_SCHEDULES_TABLE",
  occurrencesTable: "PUNCTUAL_OCCURRENCES_TABLE",
  queues: "PUNCTUAL_QUEUES",
  deadLetterQueueUrl: "PUNCTUAL_DEAD_LETTER_QUEUE_URL",
  eventBusName: "PUNCTUAL_EVENT_BUS_NAME",
  shards: "PUNCTUAL_SHARDS",
  dispatchers: "PUNCTUAL_DISPATCHERS",
  historySeconds: "PUNCTUAL_HISTORY_SECONDS",
  messageRetentionSeconds: "PUNCTUAL_MESSAGE_RETENTION_SECONDS",
  maxReceiveCount: "PUNCTUAL_MAX_RECEIVE_COUNT",
  announce: "PUNCTUAL_ANNOUNCE",
  metricsBySchedule: "PUNCTUAL_METRICS_BY_SCHEDULE",
  builtinJobs: "PUNCTUAL_BUILTIN_JOBS",
  logLevel: "PUNCTUAL_LOG_LEVEL",
} as const satisfies Record<keyof Settings, string>;

/** A deployment's numbers for `checkTiming`: its settings, and the constants of this build for the rest. */
export const timingOf = ({
  historySeconds,
  messageRetentionSeconds,
  maxReceiveCount,
  queues,
}: Pick<Settings, "historySeconds" | "messageRetentionSeconds" | "maxReceiveCount"> & {
  readonly queues: Readonly<Record<string, QueueTiming>>;
}): TimingNumbers => ({ ...DEFAULT_NUMBERS, historySeconds, messageRetentionSeconds, maxReceiveCount, queues });

const settingNames = Object.keys(ENVIRONMENT_NAMES).filter(isSetting);

function isSetting(name: string): name is keyof Settings {
  return name in ENVIRONMENT_NAMES;
}

/** The settings as environment variables: text as it is, numbers and switches as JavaScript writes them, lists and maps as JSON. */
export function environmentOf(settings: Settings): Record<string, string> {
  const textOf = (value: Settings[keyof Settings]) =>
    typeof value === "object" ? JSON.stringify(value) : String(value);
  return Object.fromEntries(settingNames.map((setting) => [ENVIRONMENT_NAMES[setting], textOf(settings[setting])]));
}

const text = z.string("must be set").min(1, "must not be empty");
const count = (rule: string) =>
  z
    .string(rule)
    .regex(/^[1-9]\d{0,9}$/, rule)
    .transform(Number);
const seconds = count("must be a positive whole number of seconds");
const positive = "must be a positive number";
/** What a queue allows the schedules that name it. */
export const queueLimits = z.object(
  {
    timeoutMaxSeconds: z.number(positive).positive(positive),
    retry: z.exactOptional(
      z.object({
        maxAttempts: z.exactOptional(z.int(positive).positive(positive)),
        baseDelaySeconds: z.exactOptional(z.number("must be a number of seconds").nonnegative("must not be negative")),
        multiplier: z.exactOptional(z.number("must be a number from 1").min(1, "must be a number from 1")),
        maxDelaySeconds: z.exactOptional(z.number("must be a number of seconds").nonnegative("must not be negative")),
        jitter: z.exactOptional(z.boolean("must be true or false")),
      }),
    ),
    completion: z.exactOptional(z.literal("enqueued", "must be 'enqueued' where it is given")),
  },
  "must be a queue's settings: a map with url and timeoutMaxSeconds",
);
const queue = queueLimits.extend({
  url: z.string("must be the queue's URL").min(1, "must be the queue's URL"),
  consumerTimeoutSeconds: z.exactOptional(z.number(positive).positive(positive)),
  visibilityTimeoutSeconds: z.exactOptional(z.number(positive).positive(positive)),
});
const ANNOUNCE_RULE = `must be a JSON list of ${OPTIONAL_ANNOUNCEMENTS.join(", ")}`;
const announcement = z.enum(OPTIONAL_ANNOUNCEMENTS, ANNOUNCE_RULE);
const schema: z.ZodType<Settings> = z.object({
  deployment: text,
  schedulesTable: text,
  occurrencesTable: text,
  queues: z.intersection(
    z.object({ [DEFAULT_QUEUE]: queue }, `must be a JSON map of queues with one named ${DEFAULT_QUEUE}`),
    z.record(z.string(), queue, `must be a JSON map of queues with one named ${DEFAULT_QUEUE}`),
  ),
  deadLetterQueueUrl: text,
  eventBusName: text,
  shards: count("must be a positive whole number"),
  dispatchers: count("must be a positive whole number"),
  historySeconds: seconds,
  messageRetentionSeconds: seconds,
  maxReceiveCount: count("must be a positive whole number"),
  announce: z.array(announcement, ANNOUNCE_RULE),
  metricsBySchedule: z.enum(["true", "false"], "must be true or false").transform((text) => text === "true"),
  builtinJobs: z.object(
    {
      httpAllowedHosts: z.array(text, "must be a list of hosts and origins"),
      lambdaFunctions: z.array(text, "must be a list of functions' ARNs"),
      eventJobSource: z.exactOptional(text),
    },
    "must be a JSON map of httpAllowedHosts, lambdaFunctions and eventJobSource",
  ),
  logLevel: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`),
});

/** Environment variables are missing or wrong. The message lists every one, not only the first. */
export class InvalidEnvironmentError extends PunctualError {
  constructor(problems: readonly Problem[]) {
    super("InvalidEnvironment", `the environment is not valid: ${formatProblems(problems)}`);
  }
}

/**
 * Reads what {@link environmentOf} wrote. Throws {@link InvalidEnvironmentError} naming every variable that is missing or
 * wrong, and `InvalidTimingError` where the numbers do not fit together: functions start with a checked deployment or not
 * at all.
 */
export function readEnvironment(env: NodeJS.ProcessEnv): Settings {
  const given = Object.fromEntries(settingNames.map((setting) => [setting, env[ENVIRONMENT_NAMES[setting]]]));
  const input = {
    ...given,
    queues: fromJson(given["queues"]),
    announce: fromJson(given["announce"]),
    builtinJobs: fromJson(given["builtinJobs"]),
  };
  const parsed = schema.safeParse(input);
  if (parsed.success) {
    assertTiming(timingOf(parsed.data));
    return parsed.data;
  }
  throw new InvalidEnvironmentError(
    problemsOf(parsed.error, input).map(({ path, message }) => ({ path: variablePath(path), message })),
  );
}

/** The value of a JSON text; a text that is none stands for itself and is refused by the schema, which quotes it. */
function fromJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `queues.default.url` as `PUNCTUAL_QUEUES.default.url`. */
function variablePath(path: string): string {
  const [setting = "", ...rest] = path.split(".");
  return [isSetting(setting) ? ENVIRONMENT_NAMES[setting] : setting, ...rest].join(".");
}

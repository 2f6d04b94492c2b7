import { expect, test } from "vitest";
import { InvalidTimingError } from "../../lib/core/timing.ts";
import { environmentOf, InvalidEnvironmentError, readEnvironment, type Settings } from "../../lib/runtime/env.ts";

const SETTINGS: Settings = {
  deployment: "Punctual/Scheduler",
  schedulesTable: "Schedules",
  occurrencesTable: "Occurrences",
  queues: {
    default: {
      url: "https://sqs.example/1/main.fifo",
      timeoutMaxSeconds: 290,
      consumerTimeoutSeconds: 300,
      visibilityTimeoutSeconds: 330,
    },
    plain: {
      url: "https://sqs.example/1/plain.fifo",
      timeoutMaxSeconds: 0.5,
      retry: { maxAttempts: 3, jitter: false },
      completion: "enqueued",
    },
  },
  deadLetterQueueUrl: "https://sqs.example/1/dead.fifo",
  eventBusName: "default",
  shards: 8,
  dispatchers: 2,
  historySeconds: 2_592_000,
  messageRetentionSeconds: 1_209_600,
  maxReceiveCount: 20,
  announce: ["started", "retrying"],
  metricsBySchedule: false,
  builtinJobs: { httpAllowedHosts: ["api.example.com"], lambdaFunctions: ["arn:x"], eventJobSource: "acme.jobs" },
  logLevel: "INFO",
};

const messageOf = (env: NodeJS.ProcessEnv): string => {
  try {
    readEnvironment(env);
  } catch (error) {
    if (error instanceof InvalidEnvironmentError) return error.message;
    throw error;
  }
  throw new Error("the environment was accepted");
};

test("what the construct writes is what the handlers read", () => {
  expect(readEnvironment(environmentOf(SETTINGS))).toEqual(SETTINGS);
});

test("no announcements is an empty list, not a missing variable", () => {
  const settings: Settings = { ...SETTINGS, announce: [] };
  expect(readEnvironment(environmentOf(settings))).toEqual(settings);
});

test("every missing variable is named in one error", () => {
  const message = messageOf({});
  for (const name of Object.keys(environmentOf(SETTINGS))) expect(message).toContain(`${name}: must be`);
});

test("missing and wrong variables are reported together, each with what it got", () => {
  const { PUNCTUAL_SCHEDULES_TABLE: _, ...rest } = environmentOf(SETTINGS);
  const message = messageOf({
    ...rest,
    PUNCTUAL_SHARDS: "0",
    PUNCTUAL_LOG_LEVEL: "loud",
    PUNCTUAL_ANNOUNCE: '["started","ended"]',
    PUNCTUAL_METRICS_BY_SCHEDULE: "yes",
  });
  expect(message).toContain("PUNCTUAL_SCHEDULES_TABLE: must be set, got nothing");
  expect(message).toContain('PUNCTUAL_SHARDS: must be a positive whole number, got "0"');
  expect(message).toContain('PUNCTUAL_LOG_LEVEL: must be one of DEBUG, INFO, WARN, ERROR, got "loud"');
  expect(message).toContain('PUNCTUAL_METRICS_BY_SCHEDULE: must be true or false, got "yes"');
  expect(message).toContain('PUNCTUAL_ANNOUNCE.1: must be a JSON list of started, succeeded, retrying, got "ended"');
});

test.each([
  ["text that is no JSON", "https://sqs", 'got "https://sqs"'],
  [
    "a map without the default queue",
    '{"other":{"url":"u","timeoutMaxSeconds":1}}',
    "PUNCTUAL_QUEUES.default: must be",
  ],
  [
    "a queue without its URL",
    '{"default":{"timeoutMaxSeconds":1}}',
    "PUNCTUAL_QUEUES.default.url: must be the queue's URL",
  ],
  [
    "a completion nobody knows",
    '{"default":{"url":"u","timeoutMaxSeconds":1,"completion":"sent"}}',
    "PUNCTUAL_QUEUES.default.completion: must be 'enqueued' where it is given, got \"sent\"",
  ],
])("refuses queues that are %s", (_, queues, expected) => {
  const message = messageOf({ ...environmentOf(SETTINGS), PUNCTUAL_QUEUES: queues });
  expect(message.split("PUNCTUAL_QUEUES")).toHaveLength(2);
  expect(message).toContain(expected);
});

test("a number that is not written in plain decimal is refused", () => {
  for (const text of ["", "1e3", " 5", "-1", "1.5", "0x10"])
    expect(messageOf({ ...environmentOf(SETTINGS), PUNCTUAL_HISTORY_SECONDS: text })).toContain(
      "PUNCTUAL_HISTORY_SECONDS",
    );
});

test("numbers that do not fit together are refused as the handler starts, with the numbers", () => {
  const short = { url: "q.fifo", timeoutMaxSeconds: 290, consumerTimeoutSeconds: 300, visibilityTimeoutSeconds: 300 };
  const env = environmentOf({ ...SETTINGS, queues: { default: short }, historySeconds: 3_600 });
  expect(() => readEnvironment(env)).toThrow(InvalidTimingError);
  expect(() => readEnvironment(env)).toThrow(
    /queues\.default\.visibilityTimeoutSeconds: must be at least consumerTimeoutSeconds 300 \+ 30 = 330, .*, got 300; historySeconds: must be at least catchupWindowSeconds 86400, .*, got 3600/,
  );
});

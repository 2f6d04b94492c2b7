import { expect, test } from "vitest";
import { SQS_REQUEST_TIMEOUT_MS } from "../../lib/adapters/sqs/client.ts";
import { SEND_TRIES } from "../../lib/adapters/sqs/send-batch.ts";
import {
  assertTiming,
  checkTiming,
  DEFAULT_NUMBERS,
  InvalidTimingError,
  type QueueTiming,
  type TimingNumbers,
} from "../../lib/core/timing.ts";

const withNumbers = (numbers: Partial<TimingNumbers>): TimingNumbers => ({ ...DEFAULT_NUMBERS, ...numbers });
const withQueue = (queue: QueueTiming): TimingNumbers => withNumbers({ queues: { slow: queue } });

/** Each rule at its boundary: the last numbers that fit, the first that do not, and what the message must name. */
const RULES: [rule: string, fits: TimingNumbers, breaks: TimingNumbers, path: string, quoted: readonly number[]][] = [
  [
    "sending, with its retries, ends within the claim lease",
    withNumbers({ sendTimeoutMs: 16_666, sendTries: 3 }),
    withNumbers({ sendTimeoutMs: 25_000, sendTries: 2 }),
    "claimLeaseMs",
    [25_000, 2, 60_000],
  ],
  [
    "a second send falls within SQS's deduplication window",
    withNumbers({ claimLeaseMs: 209_999 }),
    withNumbers({ claimLeaseMs: 210_000 }),
    "claimLeaseMs",
    [300_000, 210_000],
  ],
  [
    "the run lease holds three renewals",
    withNumbers({ runLeaseMs: 29_000 }),
    withNumbers({ runLeaseMs: 28_999 }),
    "runLeaseMs",
    [9_000, 2_000, 29_000, 28_999],
  ],
  [
    "the run lease is no false economy",
    withNumbers({ runLeaseMs: 10_000, renewEveryMs: 2_000 }),
    withNumbers({ runLeaseMs: 9_999, renewEveryMs: 2_000 }),
    "runLeaseMs",
    [10_000, 9_999],
  ],
  [
    "the queue lease ends before the start deadline",
    withNumbers({ startDeadlineSeconds: 3_601 }),
    withNumbers({ startDeadlineSeconds: 3_600 }),
    "queueLeaseMs",
    [3_600, 3_600_000],
  ],
  [
    "a job's end can be reported within the consumer's timeout",
    withQueue({ timeoutMaxSeconds: 50, consumerTimeoutSeconds: 60 }),
    withQueue({ timeoutMaxSeconds: 51, consumerTimeoutSeconds: 60 }),
    "queues.slow.consumerTimeoutSeconds",
    [51, 61, 60],
  ],
  [
    "a queue leaves a job some time",
    withQueue({ timeoutMaxSeconds: 1 }),
    withQueue({ timeoutMaxSeconds: 0 }),
    "queues.slow.timeoutMaxSeconds",
    [0],
  ],
  [
    "a message stays hidden as long as its consumer may work",
    withQueue({ timeoutMaxSeconds: 50, consumerTimeoutSeconds: 60, visibilityTimeoutSeconds: 90 }),
    withQueue({ timeoutMaxSeconds: 50, consumerTimeoutSeconds: 60, visibilityTimeoutSeconds: 89 }),
    "queues.slow.visibilityTimeoutSeconds",
    [60, 90, 89],
  ],
  [
    "SQS keeps a message as long as its run may start",
    withNumbers({ messageRetentionSeconds: 86_400 }),
    withNumbers({ messageRetentionSeconds: 86_399 }),
    "messageRetentionSeconds",
    [86_400, 86_399],
  ],
  [
    "the loss of one dispatcher is no misfire",
    withNumbers({ misfireGraceSeconds: 91 }),
    withNumbers({ misfireGraceSeconds: 90 }),
    "misfireGraceSeconds",
    [90],
  ],
  [
    "history reaches as far back as catching up",
    withNumbers({ historySeconds: 86_400 }),
    withNumbers({ historySeconds: 86_399 }),
    "historySeconds",
    [86_400, 86_399],
  ],
  [
    "the dispatcher outlives its minute and its overlap",
    withNumbers({ dispatcherTimeoutSeconds: 81 }),
    withNumbers({ dispatcherTimeoutSeconds: 80 }),
    "dispatcherTimeoutSeconds",
    [60_000, 20_000, 80],
  ],
  [
    "a message survives being handed back",
    withNumbers({ maxReceiveCount: 20 }),
    withNumbers({ maxReceiveCount: 19 }),
    "maxReceiveCount",
    [20, 19],
  ],
];

test.each(RULES)("%s", (_, fits, breaks, path, quoted) => {
  expect(checkTiming(fits)).toEqual([]);
  const problems = checkTiming(breaks);
  expect(problems.map((problem) => problem.path)).toEqual([path]);
  for (const number of quoted) expect(problems[0]?.message).toContain(String(number));
});

test("a queue that no function reads bounds its jobs by nothing else", () => {
  expect(checkTiming(withQueue({ timeoutMaxSeconds: 86_400 }))).toEqual([]);
});

test("every broken rule is reported, in one error", () => {
  const numbers = withNumbers({ maxReceiveCount: 3, misfireGraceSeconds: 1 });
  expect(() => assertTiming(numbers)).toThrow(InvalidTimingError);
  expect(() => assertTiming(numbers)).toThrow(
    "misfireGraceSeconds: must be more than latenessBoundSeconds 90, so that the loss of one dispatcher is no misfire, got 1; " +
      "maxReceiveCount: must be at least 20, since handing a message back costs a receive, got 3",
  );
});

test("the defaults speak of the sends that the adapter makes", () => {
  expect(DEFAULT_NUMBERS.sendTimeoutMs).toBe(SQS_REQUEST_TIMEOUT_MS);
  expect(DEFAULT_NUMBERS.sendTries).toBe(SEND_TRIES);
});

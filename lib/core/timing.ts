import { formatProblems, type Problem, PunctualError } from "./errors.ts";
import { DEFAULT_HISTORY_SECONDS, LEASES } from "./lease.ts";
import { DEFAULT_MISFIRE, DEFAULT_START_DEADLINE_SECONDS } from "./schedule.ts";

/**
 * How long SQS FIFO swallows a known deduplication id (Amazon SQS Developer Guide, "Exactly-once processing in Amazon SQS":
 * 5 minutes).
 */
const SQS_DEDUPLICATION_WINDOW_MS = 300_000;

/** The least lease: a few seconds are lost to one slow answer or one pause of the process. */
const RUN_LEASE_MIN_MS = 10_000;

/** A receive is spent on every hand-back, crash and look in the console, so a message must have many. */
export const RECEIVE_COUNT_MIN = 20;

/** What a rule leaves for everything that is not in its numbers: clocks, networks, a process that is slow to wake. */
const MARGINS = {
  /** Between a claim and the send that follows it, and between its last answer and the write that records it. */
  sendMs: 10_000,
  /** Between the end of a claim lease and the second send: a dispatcher's poll, takeover, a tick that comes late. */
  sendAgainMs: 90_000,
  /** Between the end of a consumer's invocation and its messages' return. */
  visibilitySeconds: 30,
  /** Between the end of a job and the write that reports it, with its retries. */
  reportSeconds: 10,
} as const;

/** How the dispatcher is kept running: a tick a minute, each at work for that minute and an overlap with its successor. */
export const DISPATCHER = { minuteMs: 60_000, overlapMs: 20_000, timeoutSeconds: 100 } as const;

/**
 * How late a head comes up at most when a dispatcher dies and nothing else goes wrong: the next tick may be a minute away
 * and several seconds late, and has a cold start.
 */
const LATENESS_BOUND_SECONDS = 90;

/** What a queue allows a job, and the function that runs it; without a function (a worker reads it) nothing bounds the job. */
export interface QueueTiming {
  readonly timeoutMaxSeconds: number;
  readonly consumerTimeoutSeconds?: number;
  readonly visibilityTimeoutSeconds?: number;
}

/** Every length, deadline and count that must fit together with others. */
export interface TimingNumbers {
  /** One send's limit, and how often a batch is tried before its outcome counts as in doubt. */
  readonly sendTimeoutMs: number;
  readonly sendTries: number;
  readonly claimLeaseMs: number;
  readonly queueLeaseMs: number;
  readonly runLeaseMs: number;
  readonly renewEveryMs: number;
  readonly leaseMarginMs: number;
  readonly queues: Readonly<Record<string, QueueTiming>>;
  readonly startDeadlineSeconds: number;
  readonly messageRetentionSeconds: number;
  readonly misfireGraceSeconds: number;
  readonly latenessBoundSeconds: number;
  readonly catchupWindowSeconds: number;
  readonly historySeconds: number;
  readonly dispatcherTimeoutSeconds: number;
  readonly dispatcherMinuteMs: number;
  readonly dispatcherOverlapMs: number;
  readonly maxReceiveCount: number;
}

/** The longest job timeout that a consumer function can give. */
export const timeoutMaxSecondsOf = (consumerTimeoutSeconds: number): number =>
  consumerTimeoutSeconds - MARGINS.reportSeconds;

/** The visibility timeout of a queue that a consumer function reads. */
export const visibilityTimeoutSecondsOf = (consumerTimeoutSeconds: number): number =>
  consumerTimeoutSeconds + MARGINS.visibilitySeconds;

/** The consumer function's timeout unless the deployment says otherwise. */
export const DEFAULT_CONSUMER_TIMEOUT_SECONDS = 300;

/** How long queues keep messages: as long as SQS can (Amazon SQS quotas, "Message retention": 14 days). */
export const MESSAGE_RETENTION_SECONDS = 14 * 86_400;

/** The numbers of a deployment that sets none of its own. */
export const DEFAULT_NUMBERS: TimingNumbers = {
  sendTimeoutMs: 2_000,
  sendTries: 2,
  claimLeaseMs: LEASES.claimLeaseMs,
  queueLeaseMs: LEASES.queueLeaseMs,
  runLeaseMs: LEASES.runLeaseMs,
  renewEveryMs: LEASES.renewEveryMs,
  leaseMarginMs: LEASES.leaseMarginMs,
  queues: {
    default: {
      timeoutMaxSeconds: timeoutMaxSecondsOf(DEFAULT_CONSUMER_TIMEOUT_SECONDS),
      consumerTimeoutSeconds: DEFAULT_CONSUMER_TIMEOUT_SECONDS,
      visibilityTimeoutSeconds: visibilityTimeoutSecondsOf(DEFAULT_CONSUMER_TIMEOUT_SECONDS),
    },
  },
  startDeadlineSeconds: DEFAULT_START_DEADLINE_SECONDS,
  messageRetentionSeconds: MESSAGE_RETENTION_SECONDS,
  misfireGraceSeconds: DEFAULT_MISFIRE.graceSeconds,
  latenessBoundSeconds: LATENESS_BOUND_SECONDS,
  catchupWindowSeconds: DEFAULT_MISFIRE.catchupWindowSeconds,
  historySeconds: DEFAULT_HISTORY_SECONDS,
  dispatcherTimeoutSeconds: DISPATCHER.timeoutSeconds,
  dispatcherMinuteMs: DISPATCHER.minuteMs,
  dispatcherOverlapMs: DISPATCHER.overlapMs,
  maxReceiveCount: RECEIVE_COUNT_MIN,
};

/** Numbers that do not fit together. */
export class InvalidTimingError extends PunctualError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super("InvalidTiming", `timing is not valid: ${formatProblems(problems)}`);
    this.problems = problems;
  }
}

/** Throws {@link InvalidTimingError} with every rule that `numbers` break. */
export function assertTiming(numbers: TimingNumbers): void {
  const problems = checkTiming(numbers);
  if (problems.length > 0) throw new InvalidTimingError(problems);
}

/**
 * Checks all numbers against each other and lists every rule that is broken, with the numbers in the message. Together the
 * rules say what a lease must: it dominates publish, queue wait, redelivery, execution and completion, each by the lease
 * that covers that part.
 */
export function checkTiming(numbers: TimingNumbers): readonly Problem[] {
  return [
    ...sendProblems(numbers),
    ...runProblems(numbers),
    ...Object.entries(numbers.queues).flatMap(([name, queue]) => queueProblems(name, queue)),
    ...deploymentProblems(numbers),
  ];
}

/** The problem where `fits` does not hold. */
const unless = (fits: boolean, path: string, rule: string, got: number): readonly Problem[] =>
  fits ? [] : [{ path, message: `must be ${rule}, got ${got}` }];

function sendProblems(numbers: TimingNumbers): readonly Problem[] {
  const { sendTimeoutMs, sendTries, claimLeaseMs } = numbers;
  const sentMs = sendTimeoutMs * sendTries + MARGINS.sendMs;
  const againMs = claimLeaseMs + MARGINS.sendAgainMs;
  return [
    ...unless(
      sentMs < claimLeaseMs,
      "claimLeaseMs",
      `more than sendTimeoutMs ${sendTimeoutMs} x sendTries ${sendTries} + ${MARGINS.sendMs} = ${sentMs}, so that a claim is not taken again while it is being sent`,
      claimLeaseMs,
    ),
    ...unless(
      againMs < SQS_DEDUPLICATION_WINDOW_MS,
      "claimLeaseMs",
      `less than ${SQS_DEDUPLICATION_WINDOW_MS} - ${MARGINS.sendAgainMs} = ${SQS_DEDUPLICATION_WINDOW_MS - MARGINS.sendAgainMs}, so that SQS still knows the first send when the second comes`,
      claimLeaseMs,
    ),
  ];
}

function runProblems(numbers: TimingNumbers): readonly Problem[] {
  const { runLeaseMs, renewEveryMs, leaseMarginMs, queueLeaseMs, startDeadlineSeconds } = numbers;
  const renewedMs = 3 * renewEveryMs + leaseMarginMs;
  return [
    ...unless(
      runLeaseMs >= renewedMs,
      "runLeaseMs",
      `at least 3 x renewEveryMs ${renewEveryMs} + leaseMarginMs ${leaseMarginMs} = ${renewedMs}, so that two lost renewals lose no lease`,
      runLeaseMs,
    ),
    ...unless(runLeaseMs >= RUN_LEASE_MIN_MS, "runLeaseMs", `at least ${RUN_LEASE_MIN_MS}`, runLeaseMs),
    ...unless(
      queueLeaseMs < startDeadlineSeconds * 1000,
      "queueLeaseMs",
      `less than startDeadlineSeconds ${startDeadlineSeconds} x 1000, so that a lost message is sent again before its run is given up`,
      queueLeaseMs,
    ),
  ];
}

function queueProblems(name: string, queue: QueueTiming): readonly Problem[] {
  const { timeoutMaxSeconds, consumerTimeoutSeconds, visibilityTimeoutSeconds } = queue;
  const reportedSeconds = timeoutMaxSeconds + MARGINS.reportSeconds;
  const positive = unless(timeoutMaxSeconds > 0, `queues.${name}.timeoutMaxSeconds`, "more than 0", timeoutMaxSeconds);
  if (consumerTimeoutSeconds === undefined) return positive;
  return [
    ...positive,
    ...unless(
      reportedSeconds <= consumerTimeoutSeconds,
      `queues.${name}.consumerTimeoutSeconds`,
      `at least timeoutMaxSeconds ${timeoutMaxSeconds} + ${MARGINS.reportSeconds} = ${reportedSeconds}, so that a job's end can still be reported`,
      consumerTimeoutSeconds,
    ),
    ...(visibilityTimeoutSeconds === undefined
      ? []
      : unless(
          visibilityTimeoutSeconds >= visibilityTimeoutSecondsOf(consumerTimeoutSeconds),
          `queues.${name}.visibilityTimeoutSeconds`,
          `at least consumerTimeoutSeconds ${consumerTimeoutSeconds} + ${MARGINS.visibilitySeconds} = ${visibilityTimeoutSecondsOf(consumerTimeoutSeconds)}, so that no message returns while its consumer works`,
          visibilityTimeoutSeconds,
        )),
  ];
}

function deploymentProblems(numbers: TimingNumbers): readonly Problem[] {
  const { startDeadlineSeconds, messageRetentionSeconds, misfireGraceSeconds, latenessBoundSeconds } = numbers;
  const { catchupWindowSeconds, historySeconds, maxReceiveCount } = numbers;
  const { dispatcherTimeoutSeconds, dispatcherMinuteMs, dispatcherOverlapMs } = numbers;
  return [
    ...unless(
      startDeadlineSeconds <= messageRetentionSeconds,
      "messageRetentionSeconds",
      `at least startDeadlineSeconds ${startDeadlineSeconds}, so that SQS keeps a message as long as its run may start`,
      messageRetentionSeconds,
    ),
    ...unless(
      misfireGraceSeconds > latenessBoundSeconds,
      "misfireGraceSeconds",
      `more than latenessBoundSeconds ${latenessBoundSeconds}, so that the loss of one dispatcher is no misfire`,
      misfireGraceSeconds,
    ),
    ...unless(
      catchupWindowSeconds <= historySeconds,
      "historySeconds",
      `at least catchupWindowSeconds ${catchupWindowSeconds}, so that catching up can see what already ran`,
      historySeconds,
    ),
    ...unless(
      dispatcherTimeoutSeconds * 1000 > dispatcherMinuteMs + dispatcherOverlapMs,
      "dispatcherTimeoutSeconds",
      `more than (dispatcherMinuteMs ${dispatcherMinuteMs} + dispatcherOverlapMs ${dispatcherOverlapMs}) / 1000 = ${(dispatcherMinuteMs + dispatcherOverlapMs) / 1000}`,
      dispatcherTimeoutSeconds,
    ),
    ...unless(
      maxReceiveCount >= RECEIVE_COUNT_MIN,
      "maxReceiveCount",
      `at least ${RECEIVE_COUNT_MIN}, since handing a message back costs a receive`,
      maxReceiveCount,
    ),
  ];
}

assertTiming(DEFAULT_NUMBERS);

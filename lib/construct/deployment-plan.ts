import { Token } from "aws-cdk-lib";
import type { Problem } from "../core/errors.ts";
import { formatProblems } from "../core/errors.ts";
import { DEFAULT_HISTORY_SECONDS } from "../core/lease.ts";
import { assertTiming, MESSAGE_RETENTION_SECONDS, RECEIVE_COUNT_MIN } from "../core/timing.ts";
import { shown } from "../core/validation.ts";
import { ALLOW_LIST_RULE, isAllowListEntry } from "../jobs/builtin/http/allow-list.ts";
import { type BuiltinJobSettings, timingOf } from "../runtime/env.ts";
import { EVENT_SOURCE } from "../runtime/names.ts";
import { InvalidDeploymentError } from "./errors.ts";
import type { PunctualProps } from "./props.ts";
import { planQueues, type QueuePlans } from "./queue-plan.ts";
import { outOfRange } from "./ranges.ts";

/** More shards than that cost more in looking than they gain; more dispatchers than shards have nothing to do. */
const SHARDS_MAX = 1_000;
const DEFAULT_SHARDS = 8;

/** Sources that begin so are AWS's own; at most 256 characters (Amazon EventBridge API Reference, "PutEventsRequestEntry"). */
const AWS_SOURCE = /^aws\./;
const SOURCE_MAX_CHARACTERS = 256;

/** Everything that is known of a deployment before any of it stands. */
export interface DeploymentPlan {
  readonly shards: number;
  readonly dispatchers: number;
  readonly messageRetentionSeconds: number;
  readonly historySeconds: number;
  readonly maxReceiveCount: number;
  readonly queues: QueuePlans;
  readonly builtinJobs: BuiltinJobSettings;
}

/**
 * What `props` make of a deployment. Throws {@link InvalidDeploymentError} naming every setting out of its range, and
 * `InvalidTimingError` for every pair of numbers that do not fit together.
 */
export function planDeployment(props: PunctualProps): DeploymentPlan {
  const { shards = DEFAULT_SHARDS, dispatchers = 1 } = props;
  const { problems: queueProblems, ...queues } = planQueues(props);
  const problems = [
    ...outOfRange("shards", shards, { min: 1, max: SHARDS_MAX, whole: true }),
    ...outOfRange("dispatchers", dispatchers, { min: 1, max: shards, whole: true }),
    ...queueProblems,
    ...builtinProblems(props),
  ];
  if (problems.length > 0) throw new InvalidDeploymentError(`the deployment is not valid: ${formatProblems(problems)}`);
  const numbers = {
    messageRetentionSeconds: props.messageRetention?.toSeconds() ?? MESSAGE_RETENTION_SECONDS,
    historySeconds: props.history?.toSeconds() ?? DEFAULT_HISTORY_SECONDS,
    maxReceiveCount: props.maxReceiveCount ?? RECEIVE_COUNT_MIN,
  };
  const timings = [queues.main, ...queues.named].map(({ name, settings }) => [name, settings] as const);
  assertTiming(timingOf({ ...numbers, queues: Object.fromEntries(timings) }));
  return { ...numbers, shards, dispatchers, queues, builtinJobs: builtinJobsOf(props) };
}

const builtinJobsOf = ({ httpAllowedHosts = [], lambdaFunctions = [], eventJobSource }: PunctualProps) => ({
  httpAllowedHosts,
  lambdaFunctions: lambdaFunctions.map(({ functionArn }) => functionArn),
  ...(eventJobSource !== undefined && { eventJobSource }),
});

function builtinProblems({ httpAllowedHosts = [], eventJobSource: source }: PunctualProps): Problem[] {
  const hosts = httpAllowedHosts.flatMap((entry, index) =>
    Token.isUnresolved(entry) || isAllowListEntry(entry)
      ? []
      : [{ path: `httpAllowedHosts.${index}`, message: `must be ${ALLOW_LIST_RULE}, got ${shown(entry)}` }],
  );
  if (source === undefined || Token.isUnresolved(source)) return hosts;
  const isOwn = source !== EVENT_SOURCE && source !== "" && source.length <= SOURCE_MAX_CHARACTERS;
  if (isOwn && !AWS_SOURCE.test(source)) return hosts;
  const rule = `must be 1-${SOURCE_MAX_CHARACTERS} characters, not begin with "aws." and not be the scheduler's own "${EVENT_SOURCE}", lest rules take jobs' events for announcements`;
  return [...hosts, { path: "eventJobSource", message: `${rule}, got ${shown(source)}` }];
}

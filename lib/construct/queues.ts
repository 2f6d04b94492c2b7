import { ArnFormat, Duration, Names, Stack } from "aws-cdk-lib";
import {
  DeduplicationScope,
  FifoThroughputLimit,
  Queue,
  QueueEncryption,
  RedrivePermission,
} from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { QueuePlan, QueuePlans } from "./queue-plan.ts";

/** The longest name of a queue, `.fifo` included (Amazon SQS quotas, "Queue name"). */
const QUEUE_NAME_MAX_CHARACTERS = 80;
const FIFO_SUFFIX = ".fifo";

/** High throughput: deduplication and quota by message group, and every attempt is a group of its own. */
const HIGH_THROUGHPUT = {
  fifo: true,
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
} as const;

const SAFE = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true } as const;

/** What all queues of a deployment have in common. */
export interface QueueProps {
  readonly messageRetention: Duration;
  readonly maxReceiveCount: number;
}

/** A queue that runs go to, with the plan it was made by. */
export interface RunQueue<Plan extends QueuePlan = QueuePlan> {
  readonly plan: Plan;
  readonly queue: Queue;
  /** What belongs to this queue stands here. */
  readonly scope: Construct;
}

/** The queues of runs and the one for dead letters. */
export interface Queues {
  readonly main: RunQueue<QueuePlans["main"]>;
  readonly named: readonly RunQueue[];
  readonly deadLetterQueue: Queue;
}

/**
 * The FIFO queues that runs go through, and the FIFO queue behind them.
 *
 * Each refers to the other (where messages go; from whom they may come), which CloudFormation cannot create. So the queues of
 * runs have names derived from where they stand, and the dead-letter queue refers to those.
 */
export function createQueues(scope: Construct, { main, named }: QueuePlans, props: QueueProps): Queues {
  const { messageRetention: retentionPeriod, maxReceiveCount } = props;
  const below = new Construct(scope, "Queues");
  const placeOf = <Plan extends QueuePlan>(plan: Plan, place: Construct) => {
    const queueName = fifoName(scope, plan.name);
    return {
      plan,
      queueName,
      scope: place,
      source: Queue.fromQueueArn(place, "RedriveSource", arnOf(scope, queueName)),
    };
  };
  const mainPlace = placeOf(main, scope);
  const places = named.map((plan) => placeOf(plan, new Construct(below, plan.name)));
  const deadLetterQueue = new Queue(scope, "DeadLetterQueue", {
    ...HIGH_THROUGHPUT,
    ...SAFE,
    retentionPeriod,
    redriveAllowPolicy: {
      redrivePermission: RedrivePermission.BY_QUEUE,
      sourceQueues: [mainPlace, ...places].map(({ source }) => source),
    },
  });
  const runQueueAt = <Plan extends QueuePlan>(place: { plan: Plan; queueName: string; scope: Construct }) => ({
    plan: place.plan,
    scope: place.scope,
    queue: new Queue(place.scope, "Queue", {
      ...HIGH_THROUGHPUT,
      ...SAFE,
      queueName: place.queueName,
      visibilityTimeout: Duration.seconds(place.plan.visibilityTimeoutSeconds),
      retentionPeriod,
      deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount },
    }),
  });
  return { main: runQueueAt(mainPlace), named: places.map(runQueueAt), deadLetterQueue };
}

const arnOf = (scope: Construct, resource: string): string =>
  Stack.of(scope).formatArn({ service: "sqs", resource, arnFormat: ArnFormat.NO_RESOURCE_NAME });

/** Where the metadata of stream records go that a function could not take. Lambda wants a standard queue for it. */
export const createFailureQueue = (scope: Construct, retentionPeriod: Duration): Queue =>
  new Queue(scope, "StreamFailures", { ...SAFE, retentionPeriod });

/** A name from the construct's place in its stack, unique in an account and region as far as the stack's name is. */
function fifoName(scope: Construct, name: string): string {
  const ending = `-${name}${FIFO_SUFFIX}`;
  const maxLength = QUEUE_NAME_MAX_CHARACTERS - ending.length;
  return `${Names.uniqueResourceName(scope, { maxLength, separator: "-" })}${ending}`;
}

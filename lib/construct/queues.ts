import { ArnFormat, type Duration, Names, Stack } from "aws-cdk-lib";
import {
  DeduplicationScope,
  FifoThroughputLimit,
  Queue,
  QueueEncryption,
  RedrivePermission,
} from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { DEFAULT_QUEUE } from "../runtime/env.ts";

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

/** What the queues are set up with. */
export interface QueueProps {
  readonly visibilityTimeout: Duration;
  readonly messageRetention: Duration;
  readonly maxReceiveCount: number;
}

/** The queue of runs and the one for dead letters. */
export interface Queues {
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
}

/**
 * The FIFO queue that runs go through, and the FIFO queue behind it.
 *
 * Each refers to the other (where messages go; from whom they may come), which CloudFormation cannot create. So the main
 * queue has a name derived from where it stands, and the dead-letter queue refers to that.
 */
export function createQueues(scope: Construct, props: QueueProps): Queues {
  const { visibilityTimeout, messageRetention: retentionPeriod, maxReceiveCount } = props;
  const queueName = fifoName(scope, DEFAULT_QUEUE);
  const queueArn = Stack.of(scope).formatArn({
    service: "sqs",
    resource: queueName,
    arnFormat: ArnFormat.NO_RESOURCE_NAME,
  });
  const deadLetterQueue = new Queue(scope, "DeadLetterQueue", {
    ...HIGH_THROUGHPUT,
    ...SAFE,
    retentionPeriod,
    redriveAllowPolicy: {
      redrivePermission: RedrivePermission.BY_QUEUE,
      sourceQueues: [Queue.fromQueueArn(scope, "RedriveSource", queueArn)],
    },
  });
  const queue = new Queue(scope, "Queue", {
    ...HIGH_THROUGHPUT,
    ...SAFE,
    queueName,
    visibilityTimeout,
    retentionPeriod,
    deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount },
  });
  return { queue, deadLetterQueue };
}

/** Where the metadata of stream records go that a function could not take. Lambda wants a standard queue for it. */
export const createFailureQueue = (scope: Construct, retentionPeriod: Duration): Queue =>
  new Queue(scope, "StreamFailures", { ...SAFE, retentionPeriod });

/** A name from the construct's place in its stack, unique in an account and region as far as the stack's name is. */
function fifoName(scope: Construct, name: string): string {
  const ending = `-${name}${FIFO_SUFFIX}`;
  const maxLength = QUEUE_NAME_MAX_CHARACTERS - ending.length;
  return `${Names.uniqueResourceName(scope, { maxLength, separator: "-" })}${ending}`;
}

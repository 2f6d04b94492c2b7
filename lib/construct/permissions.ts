import type { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { IEventBus } from "aws-cdk-lib/aws-events";
import { Grant, type IGrantable, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { BuiltinJobSettings } from "../runtime/env.ts";
import { DEAD_LETTER_INDEX, DUE_INDEX } from "../runtime/names.ts";
import type { Functions } from "./functions.ts";

/** What the functions work on. */
export interface Resources extends WorkResources {
  readonly schedules: TableV2;
  /** Every queue that runs go to. */
  readonly runQueues: readonly IQueue[];
}

/** What those work on who run jobs. */
export interface WorkResources {
  readonly occurrences: TableV2;
  readonly deadLetterQueue: IQueue;
  readonly eventBus: IEventBus;
  /** What the deployment's built-in jobs may reach. */
  readonly builtinJobs: BuiltinJobSettings;
}

/**
 * Gives each function exactly the actions its part of the engine makes, on exactly the tables, indexes and queues it makes
 * them on; what the event sources need they bring themselves.
 *
 * Batches go through PartiQL, whose statements are actions of their own (Amazon DynamoDB Developer Guide, "IAM security
 * policies with PartiQL for DynamoDB"); a transaction needs the actions of its parts. Every function reads one item of
 * Occurrences to hear what time it is there.
 */
export function grantPermissions(functions: Omit<Functions, "consumer">, resources: Resources): void {
  const { dispatcher, reconciler, notifier } = functions;
  const { schedules, occurrences, runQueues, deadLetterQueue, eventBus } = resources;

  const keepChains = [...READ, ...HEAR_TIME, ...WRITE_ROWS, ...INSERT_ROWS, ...QUERY, ...KEEP_HIGH_WATER];
  allow(dispatcher, READ, [schedules.tableArn]);
  allow(dispatcher, keepChains, [occurrences.tableArn]);
  allow(reconciler, [...READ, ...WRITE_STATUS, ...REMOVE, "dynamodb:ConditionCheckItem"], [schedules.tableArn]);
  allow(reconciler, [...keepChains, ...REMOVE], [occurrences.tableArn]);
  // The first of the dispatchers counts open dead letters.
  allow(dispatcher, QUERY, [indexArn(occurrences, DUE_INDEX), indexArn(occurrences, DEAD_LETTER_INDEX)]);
  allow(
    dispatcher,
    SEND,
    runQueues.map(({ queueArn }) => queueArn),
  );

  allow(reconciler, ["dynamodb:Scan"], [schedules.tableArn]);
  // It looks for heads without a schedule, too.
  allow(reconciler, QUERY, [indexArn(occurrences, DUE_INDEX), indexArn(occurrences, DEAD_LETTER_INDEX)]);
  // Its sweep announces what the notifier never did.
  for (const announcer of [reconciler, notifier]) {
    allow(announcer, SEND, [deadLetterQueue.queueArn]);
    allow(announcer, ["events:PutEvents"], [eventBus.eventBusArn]);
  }

  allow(notifier, [...READ, ...HEAR_TIME, ...WRITE_ROWS, ...QUERY], [occurrences.tableArn]);
  // It counts dead letters, and pauses a schedule that had too many in a row.
  allow(notifier, [...READ, ...WRITE_STATUS], [schedules.tableArn]);
}

/** Gives whoever runs jobs what that takes, but for the messages of its queue. */
export function grantRunning(runner: IGrantable, resources: WorkResources): Grant {
  const { occurrences, deadLetterQueue, eventBus, builtinJobs } = resources;
  const grant = (actions: readonly string[], resourceArns: readonly string[], conditions = {}) =>
    Grant.addToPrincipal({ grantee: runner, actions: [...actions], resourceArns: [...resourceArns], conditions });
  const grants = [
    // It looks for the run that waits for the end of the one it ran.
    grant([...READ, ...HEAR_TIME, ...WRITE_ROWS, ...QUERY], [occurrences.tableArn]),
    // A message that nobody can read is set aside there.
    grant(SEND, [deadLetterQueue.queueArn]),
  ];
  const { lambdaFunctions, eventJobSource } = builtinJobs;
  if (lambdaFunctions.length > 0) grants.push(grant(["lambda:InvokeFunction"], lambdaFunctions));
  // Under that source alone: its events cannot be taken for announcements.
  if (eventJobSource !== undefined)
    grants.push(
      grant(["events:PutEvents"], [eventBus.eventBusArn], { StringEquals: { "events:source": eventJobSource } }),
    );
  return grants.reduce((all, one) => all.combine(one));
}

/** Gives a worker what it takes to run the messages of `queue`. Lambda's event sources bring this themselves. */
export const grantReceiving = (worker: IGrantable, { queueArn }: IQueue): Grant =>
  Grant.addToPrincipal({ grantee: worker, actions: RECEIVE, resourceArns: [queueArn] });

const READ = ["dynamodb:BatchGetItem"];
/** A read of one small row, whose response tells the time. */
const HEAR_TIME = ["dynamodb:GetItem"];
const QUERY = ["dynamodb:Query"];
const INSERT_ROWS = ["dynamodb:PartiQLInsert"];
const WRITE_ROWS = ["dynamodb:PartiQLUpdate"];
/** The most shards ever in use stand on a row of Occurrences. */
const KEEP_HIGH_WATER = ["dynamodb:UpdateItem"];
const WRITE_STATUS = ["dynamodb:UpdateItem"];
const REMOVE = ["dynamodb:DeleteItem"];
const SEND = ["sqs:SendMessage"];
const RECEIVE = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"];

const indexArn = ({ tableArn }: TableV2, name: string): string => `${tableArn}/index/${name}`;

const allow = ({ grantPrincipal }: IGrantable, actions: readonly string[], resources: readonly string[]): void => {
  grantPrincipal.addToPrincipalPolicy(new PolicyStatement({ actions: [...actions], resources: [...resources] }));
};

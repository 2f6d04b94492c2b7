import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, ProjectionType, StreamViewType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import { DUE_INDEX_ATTRIBUTES, type Occurrence } from "../core/occurrence.ts";
import { DEAD_LETTER_INDEX, DUE_INDEX, GROUP_INDEX, TTL_ATTRIBUTE } from "../runtime/names.ts";

/** What a look at the dead-letter index in the console should tell: what failed, why, and after how much. */
const DEAD_LETTER_INDEX_ATTRIBUTES = [
  "occurrenceId",
  "kind",
  "status",
  "scheduledFor",
  "attempts",
  "maxAttempts",
  "fencingToken",
  "deadLetterReason",
  "lastError",
  "job",
  "queue",
  "scheduleVersion",
  "startedAt",
  "endedAt",
  "announcedAt",
] as const satisfies readonly (keyof Occurrence)[];

/** What becomes of the tables' data. */
export interface TableSafety {
  readonly removalPolicy: RemovalPolicy;
  readonly deletionProtection: boolean;
}

/** The removal policy given, or to keep the tables; and deletion protection to match, unless that is given too. */
export const tableSafety = (props: Partial<TableSafety>): TableSafety => {
  const { removalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE } = props;
  return { removalPolicy, deletionProtection: props.deletionProtection ?? removalPolicy !== RemovalPolicy.DESTROY };
};

const COMMON = {
  // Reconciler and notifier compare what was with what is.
  dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
  pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
} as const;

/** The definitions, which users write. */
export const createSchedulesTable = (scope: Construct, safety: TableSafety): TableV2 =>
  new TableV2(scope, "Schedules", {
    ...COMMON,
    ...safety,
    partitionKey: { name: "scheduleId", type: AttributeType.STRING },
    globalSecondaryIndexes: [
      {
        indexName: GROUP_INDEX,
        partitionKey: { name: "group", type: AttributeType.STRING },
        sortKey: { name: "scheduleId", type: AttributeType.STRING },
      },
    ],
  });

/** The runs, which only the system writes. Both indexes are sharded and sparse: a throttled index throttles the table's own writes. */
export const createOccurrencesTable = (scope: Construct, safety: TableSafety): TableV2 =>
  new TableV2(scope, "Occurrences", {
    ...COMMON,
    ...safety,
    partitionKey: { name: "scheduleId", type: AttributeType.STRING },
    sortKey: { name: "firing", type: AttributeType.STRING },
    timeToLiveAttribute: TTL_ATTRIBUTE,
    globalSecondaryIndexes: [
      {
        indexName: DUE_INDEX,
        partitionKey: { name: "shard", type: AttributeType.NUMBER },
        sortKey: { name: "dueAt", type: AttributeType.NUMBER },
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: [...DUE_INDEX_ATTRIBUTES],
      },
      {
        indexName: DEAD_LETTER_INDEX,
        partitionKey: { name: "deadLetterShard", type: AttributeType.NUMBER },
        sortKey: { name: "deadLetteredAt", type: AttributeType.NUMBER },
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: [...DEAD_LETTER_INDEX_ATTRIBUTES],
      },
    ],
  });

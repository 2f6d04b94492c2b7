import * as z from "zod";
import { LocalEngineError } from "../errors.ts";
import { type Pattern, parsePattern } from "../event-sources/filter.ts";
import { type Resource, resourcesOf, type Template } from "./document.ts";
import type { LocalFunction } from "./functions.ts";
import type { Scope } from "./intrinsics.ts";
import { readProperties } from "./properties.ts";
import type { LocalQueue } from "./queues.ts";
import type { LocalTable } from "./tables.ts";

/** What counts locally of `AWS::Lambda::EventSourceMapping`; the defaults are those of the Lambda API Reference, CreateEventSourceMapping. */
const mappingProperties = z.object({
  Enabled: z.boolean().default(true),
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  BatchSize: z.number().int().positive().optional(),
  FunctionResponseTypes: z.array(z.string()).default([]),
  FilterCriteria: z.object({ Filters: z.array(z.object({ Pattern: z.string() })).default([]) }).optional(),
  StartingPosition: z.enum(["TRIM_HORIZON", "LATEST"]).default("TRIM_HORIZON"),
  BisectBatchOnFunctionError: z.boolean().default(false),
  MaximumRetryAttempts: z.number().int().default(-1),
  DestinationConfig: z.object({ OnFailure: z.object({ Destination: z.string() }).optional() }).optional(),
  ScalingConfig: z.object({ MaximumConcurrency: z.number().int().positive().optional() }).optional(),
});

interface Common {
  readonly logicalId: string;
  readonly functionId: string;
  readonly batchSize: number;
  /** Whether the function's answer names what failed (ReportBatchItemFailures). */
  readonly reportsItemFailures: boolean;
}

/** A queue that a function consumes. */
export interface QueueSource extends Common {
  readonly kind: "queue";
  readonly queue: LocalQueue;
  readonly maxConcurrency: number;
}

/** A table's change stream that a function reads. */
export interface StreamSource extends Common {
  readonly kind: "stream";
  readonly table: LocalTable;
  readonly streamArn: string;
  readonly startingPosition: "TRIM_HORIZON" | "LATEST";
  /** A record is passed on when one of these matches it; all are when there are none. */
  readonly patterns: readonly Pattern[];
  readonly bisect: boolean;
  readonly maxRetries: number;
  /** Where the metadata of records go that could not be processed. */
  readonly onFailureQueue: LocalQueue | undefined;
}

/** Something that feeds a function. */
export type EventSource = QueueSource | StreamSource;

const QUEUE_BATCH_DEFAULT = 10;
const STREAM_BATCH_DEFAULT = 100;

/** The API's own upper limit of MaximumRetryAttempts; -1, "until the record expires", is taken as this. */
const RETRIES_MAX = 10_000;

/** Concurrent invocations for one queue where the template sets no limit. */
const CONCURRENCY_DEFAULT = 5;

/** What event source mappings can refer to. */
export interface Standing {
  readonly tables: readonly LocalTable[];
  readonly queues: readonly LocalQueue[];
  readonly functions: readonly LocalFunction[];
}

/** The template's enabled event source mappings. Throws {@link LocalEngineError} for one that cannot be imitated. */
export const readEventSources = (template: Template, scope: Scope, standing: Standing): EventSource[] =>
  resourcesOf(template, "AWS::Lambda::EventSourceMapping").flatMap((resource) => {
    const properties = readProperties(resource, scope, mappingProperties);
    return properties.Enabled ? [toEventSource(resource, properties, standing)] : [];
  });

function toEventSource(
  { type, logicalId }: Resource,
  properties: z.output<typeof mappingProperties>,
  standing: Standing,
): EventSource {
  const common = {
    logicalId,
    functionId: functionOf(properties.FunctionName, standing.functions, `${type} ${logicalId}`).logicalId,
    reportsItemFailures: properties.FunctionResponseTypes.includes("ReportBatchItemFailures"),
  };
  const queue = standing.queues.find(({ arn }) => arn === properties.EventSourceArn);
  if (queue) {
    const maxConcurrency = properties.ScalingConfig?.MaximumConcurrency ?? CONCURRENCY_DEFAULT;
    return { ...common, kind: "queue", queue, batchSize: properties.BatchSize ?? QUEUE_BATCH_DEFAULT, maxConcurrency };
  }
  const table = standing.tables.find(({ streamArn }) => streamArn === properties.EventSourceArn);
  if (!table)
    throw new LocalEngineError(
      `${type} ${logicalId}: EventSourceArn must be a queue or a table's stream of this template, got ${properties.EventSourceArn}`,
    );
  const destination = properties.DestinationConfig?.OnFailure?.Destination;
  const { MaximumRetryAttempts: retries } = properties;
  return {
    ...common,
    kind: "stream",
    table,
    streamArn: properties.EventSourceArn,
    startingPosition: properties.StartingPosition,
    batchSize: properties.BatchSize ?? STREAM_BATCH_DEFAULT,
    patterns: (properties.FilterCriteria?.Filters ?? []).map(({ Pattern }) => parsePattern(Pattern)),
    bisect: properties.BisectBatchOnFunctionError,
    maxRetries: retries < 0 ? RETRIES_MAX : Math.min(retries, RETRIES_MAX),
    onFailureQueue: destination === undefined ? undefined : standing.queues.find(({ arn }) => arn === destination),
  };
}

/** The function that a name or ARN means. Throws {@link LocalEngineError}, with `where` in its message, when there is none. */
export function functionOf(nameOrArn: string, functions: readonly LocalFunction[], where: string): LocalFunction {
  const found = functions.find(({ name, arn }) => name === nameOrArn || arn === nameOrArn);
  if (!found) throw new LocalEngineError(`${where}: the target must be a function of this template, got ${nameOrArn}`);
  return found;
}

import type { DynamoDBRecord } from "aws-lambda";
import { itemFrom } from "../../lib/adapters/dynamodb/attribute-value.ts";
import type { Instant } from "../../lib/core/instant.ts";
import type { DeployedEngine } from "../../lib/runtime/create-engine.ts";
import type { Settings } from "../../lib/runtime/env.ts";
import { newWorld, type World, type WorldOptions } from "../support/world.ts";

/** A deployment of one shard and two queues. */
export const SETTINGS: Settings = {
  deployment: "test",
  schedulesTable: "Schedules",
  occurrencesTable: "Occurrences",
  queues: {
    default: {
      url: "https://sqs.example/1/main.fifo",
      timeoutMaxSeconds: 290,
      consumerTimeoutSeconds: 300,
      visibilityTimeoutSeconds: 330,
    },
    plain: { url: "https://sqs.example/1/plain.fifo", timeoutMaxSeconds: 60, completion: "enqueued" },
  },
  deadLetterQueueUrl: "https://sqs.example/1/dead.fifo",
  eventBusName: "default",
  shards: 1,
  dispatchers: 1,
  historySeconds: 2_592_000,
  messageRetentionSeconds: 1_209_600,
  maxReceiveCount: 20,
  announce: ["started"],
  metricsBySchedule: false,
  builtinJobs: { httpAllowedHosts: [], lambdaFunctions: [] },
  logLevel: "INFO",
};

/** A world in place of a function's own engine. */
export interface DeployedWorld extends World {
  /** What the function is made of: the engine of this very environment. */
  readonly env: NodeJS.ProcessEnv;
  /** What the function did to its clock and metrics, in order. */
  readonly did: readonly string[];
}

const engines = new WeakMap<NodeJS.ProcessEnv, DeployedEngine>();

/** Stands in for `createEngine` of the runtime: hands out the engine that a test made for `env`. */
export function engineOf(env: NodeJS.ProcessEnv): DeployedEngine {
  const engine = engines.get(env);
  if (engine === undefined) throw new Error("no engine was made for this environment");
  return engine;
}

/** Makes a world that a function works in. */
export function newDeployedWorld(options: WorldOptions = {}): DeployedWorld {
  const world = newWorld(options);
  const env: NodeJS.ProcessEnv = {};
  const did: string[] = [];
  engines.set(env, {
    ...world.engine,
    host: world.time.host,
    bus: world.bus,
    deployed: SETTINGS,
    jobServices: {
      eventBus: () => world.bus,
      functions: { invoke: async () => ({ kind: "returned", value: undefined }) },
    },
    metrics: { ...world.engine.metrics, flush: () => void did.push("flush") },
    clock: {
      ...world.time.clock,
      reading: () => ({ kind: "known", at: world.time.now(), offsetMs: 0, uncertaintyMs: 0, outliers: 0 }),
      observe: () => undefined,
      probe: async () => void did.push("probe"),
      narrow: async (signal) => {
        did.push("narrow");
        await world.time.host.sleep(600_000, signal);
        did.push("narrowing ended");
      },
    },
  });
  return { ...world, env, did };
}

/** A record of a table's stream, as Lambda hands it over. `after`: absent where the item was removed. */
export function streamRecord(
  sequenceNumber: string,
  keys: object,
  after: object | undefined,
  at: Instant,
  before?: object,
): DynamoDBRecord {
  // Lambda's event is JSON.
  return JSON.parse(
    JSON.stringify({
      eventName: after === undefined ? "REMOVE" : before === undefined ? "INSERT" : "MODIFY",
      dynamodb: {
        SequenceNumber: sequenceNumber,
        ApproximateCreationDateTime: Math.floor(at / 1000),
        Keys: itemFrom(keys),
        ...(after && { NewImage: itemFrom(after) }),
        ...(before && { OldImage: itemFrom(before) }),
      },
    }),
  );
}

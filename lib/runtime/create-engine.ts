import { randomUUID } from "node:crypto";
import { createDynamoDbClient } from "../adapters/dynamodb/client.ts";
import { createOccurrenceStore } from "../adapters/dynamodb/occurrences.ts";
import { createScheduleStore } from "../adapters/dynamodb/schedules.ts";
import { createDynamoDbClock, type DynamoDbClock } from "../adapters/dynamodb/store-clock.ts";
import { createEventBridgeClient } from "../adapters/eventbridge/client.ts";
import { createEventBus } from "../adapters/eventbridge/event-bus.ts";
import { createFunctionInvoker, loadLambda } from "../adapters/lambda/invoker.ts";
import { createSqsClient } from "../adapters/sqs/client.ts";
import { createInbox } from "../adapters/sqs/inbox.ts";
import { createMessageQueue } from "../adapters/sqs/message-queue.ts";
import type { Engine, EngineSettings } from "../app/engine/engine.ts";
import type { EventBus, Host, Inbox, Logger } from "../app/ports.ts";
import { type OptionalAnnouncement, readEnvironment, type Settings } from "./env.ts";
import type { JobServices } from "./job-services.ts";
import { createLogger } from "./logger.ts";
import { createMetrics, type FlushableMetrics } from "./metrics.ts";
import { EVENT_SOURCE, type ProgramName } from "./names.ts";
import { systemHost } from "./system-host.ts";

/** What a caller may put in place of a function's own: for the local engine and for tests. */
export interface Overrides {
  readonly host?: Host;
  readonly logger?: Logger;
  readonly metrics?: FlushableMetrics;
  /** The services themselves, where they are none that a client reaches. */
  readonly services?: Services;
  /** Where the services are and with what keys, where the SDK's own environment does not say. */
  readonly clients?: {
    readonly region?: string;
    readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
    readonly dynamodbEndpoint?: string;
    readonly sqsEndpoint?: string;
    readonly eventbridgeEndpoint?: string;
    readonly lambdaEndpoint?: string;
  };
}

/** What a function's engine has to do with, and the chance it draws. */
export type Services = Pick<
  DeployedEngine,
  "occurrences" | "schedules" | "queue" | "bus" | "clock" | "random" | "newNonce" | "jobServices"
> & {
  /** The receiver's side of the queue at a URL, for a worker. */
  readonly inbox?: (queueUrl: string) => Inbox;
};

/** A function's engine with all that its environment decides. */
export interface DeployedEngine extends Engine {
  readonly clock: DynamoDbClock;
  readonly metrics: FlushableMetrics;
  readonly host: Host;
  readonly bus: EventBus;
  readonly deployed: Settings;
  readonly jobServices: JobServices;
}

/**
 * Builds the engine of a function at its cold start, or of a worker. Throws `InvalidEnvironmentError` naming every variable that is wrong, and
 * `InvalidTimingError` where the deployment's numbers do not fit together.
 */
export function createEngine(
  env: NodeJS.ProcessEnv,
  programName: ProgramName,
  overrides: Overrides = {},
): DeployedEngine {
  const deployed = readEnvironment(env);
  const {
    host = systemHost,
    logger = createLogger(deployed, programName),
    metrics = createMetrics(deployed),
  } = overrides;
  const services = overrides.services ?? awsServices(deployed, host, logger, overrides);
  return { ...services, host, logger, metrics, settings: engineSettings(deployed), deployed };
}

function awsServices(deployed: Settings, host: Host, logger: Logger, overrides: Overrides): Services {
  const at = clientConfig(overrides);
  const dynamodb = createDynamoDbClient(at("dynamodbEndpoint"));
  const eventBus = (source: string) =>
    createEventBus({
      client: createEventBridgeClient(at("eventbridgeEndpoint")),
      busName: deployed.eventBusName,
      source,
    });
  const tables = { schedulesTable: deployed.schedulesTable, occurrencesTable: deployed.occurrencesTable };
  // Before the client's first request: the clock reads the responses to all of them.
  const clock = createDynamoDbClock({ client: dynamodb, occurrencesTable: tables.occurrencesTable, host, logger });
  const store = { client: dynamodb, logger, ...tables };
  return {
    occurrences: createOccurrenceStore(store),
    schedules: createScheduleStore(store),
    queue: createMessageQueue({
      client: createSqsClient(at("sqsEndpoint")),
      queues: Object.fromEntries(Object.entries(deployed.queues).map(([name, { url }]) => [name, url])),
      deadLetterQueueUrl: deployed.deadLetterQueueUrl,
    }),
    bus: eventBus(EVENT_SOURCE),
    clock,
    random: Math.random,
    newNonce: randomUUID,
    jobServices: { eventBus, functions: createFunctionInvoker(() => loadLambda(at("lambdaEndpoint"))) },
  };
}

/** What the client of a service is made with, where the SDK's own environment does not say. */
const clientConfig =
  ({ clients = {} }: Overrides) =>
  (service: "dynamodbEndpoint" | "sqsEndpoint" | "eventbridgeEndpoint" | "lambdaEndpoint") => {
    const { region, credentials, [service]: endpoint } = clients;
    return {
      ...(region !== undefined && { region }),
      ...(credentials && { credentials }),
      ...(endpoint !== undefined && { endpoint }),
    };
  };

/** The receiver's side of the queue at `url`. Throws `RangeError` for a URL that is not a FIFO queue's. */
export const createDeployedInbox = (url: string, overrides: Overrides = {}): Inbox =>
  overrides.services?.inbox?.(url) ??
  createInbox({ client: createSqsClient(clientConfig(overrides)("sqsEndpoint")), url });

/** The part of a deployment's settings that the engine works by. */
export function engineSettings(deployed: Settings): EngineSettings {
  const enqueued = Object.entries(deployed.queues).filter(([, { completion }]) => completion === "enqueued");
  const announces = (what: OptionalAnnouncement) => deployed.announce.includes(what);
  return {
    shards: deployed.shards,
    historySeconds: deployed.historySeconds,
    limits: { queues: deployed.queues, historySeconds: deployed.historySeconds },
    completedWhenEnqueued: new Set(enqueued.map(([name]) => name)),
    announce: {
      deployment: deployed.deployment,
      started: announces("started"),
      succeeded: announces("succeeded"),
      retrying: announces("retrying"),
    },
  };
}

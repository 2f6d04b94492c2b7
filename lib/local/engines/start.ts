import type { Closing } from "../closing.ts";
import { startDynamoDb } from "./dynamodb.ts";
import { type Engine, runningEngine } from "./engine.ts";
import { type BusEvent, startEventBridge } from "./eventbridge.ts";
import { startSqs } from "./sqs.ts";

/** Which engines to start and which to use as they are. A port of 0 is a free one. */
export interface EngineOptions {
  readonly dataDir?: string;
  readonly dynamodbPort: number;
  readonly sqsPort: number;
  readonly dynamodbEndpoint?: string;
  readonly sqsEndpoint?: string;
  readonly onBusEvent: (event: BusEvent) => void;
}

/** The stand-ins for the three services. */
export interface Engines {
  readonly dynamodb: Engine;
  readonly sqs: Engine;
  readonly eventbridge: Engine;
}

/** Starts the engines at once, side by side. When one fails, throws why, with the others left to `closing`. */
export async function startEngines(options: EngineOptions, closing: Closing): Promise<Engines> {
  const closed = async (starting: Promise<Engine>): Promise<Engine> => {
    const engine = await starting;
    closing.add(() => engine.close());
    return engine;
  };
  const { dynamodbEndpoint, sqsEndpoint, dataDir } = options;
  const dynamodb = closed(
    dynamodbEndpoint === undefined
      ? startDynamoDb({ port: portOf(options.dynamodbPort), dataDir })
      : Promise.resolve(runningEngine(dynamodbEndpoint, "DynamoDB")),
  );
  const sqs = closed(
    sqsEndpoint === undefined
      ? startSqs({ port: portOf(options.sqsPort) })
      : Promise.resolve(runningEngine(sqsEndpoint, "SQS")),
  );
  const eventbridge = closed(startEventBridge(options.onBusEvent));
  // Each to its end, so that what did start is known to `closing` when another fails.
  await Promise.allSettled([dynamodb, sqs, eventbridge]);
  return { dynamodb: await dynamodb, sqs: await sqs, eventbridge: await eventbridge };
}

const portOf = (port: number): number | undefined => (port === 0 ? undefined : port);

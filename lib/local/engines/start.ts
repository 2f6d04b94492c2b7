import type { Closing } from "../closing.ts";
import { startDynamoDb } from "./dynamodb.ts";
import { type Engine, runningEngine } from "./engine.ts";
import { type BusEvent, startEventBridge } from "./eventbridge.ts";

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

/** Starts the engines at once, side by side; `closing` ends them, also those that were still starting when another failed. */
export async function startEngines(options: EngineOptions, closing: Closing): Promise<Engines> {
  const closed = (starting: Promise<Engine>): Promise<Engine> => {
    closing.add(async () => {
      const [outcome] = await Promise.allSettled([starting]);
      if (outcome.status === "fulfilled") await outcome.value.close();
    });
    return starting;
  };
  const { dynamodbEndpoint, sqsEndpoint, dataDir } = options;
  const [dynamodb, sqs, eventbridge] = await Promise.all([
    dynamodbEndpoint === undefined
      ? closed(startDynamoDb({ port: portOf(options.dynamodbPort), dataDir }))
      : runningEngine(dynamodbEndpoint, "DynamoDB"),
    sqsEndpoint === undefined ? closed(startSqsHere(portOf(options.sqsPort))) : runningEngine(sqsEndpoint, "SQS"),
    closed(startEventBridge(options.onBusEvent)),
  ]);
  return { dynamodb, sqs, eventbridge };
}

/** Loaded while Java starts: it brings a web server. */
async function startSqsHere(port: number | undefined): Promise<Engine> {
  const { startSqs } = await import("./sqs.ts");
  return startSqs({ port });
}

const portOf = (port: number): number | undefined => (port === 0 ? undefined : port);

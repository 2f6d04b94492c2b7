import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { SQSClient } from "@aws-sdk/client-sqs";
import { LOCAL_ENGINE } from "../../core/local-engine.ts";

/** The region the local engine pretends to be; any would do. */
export const LOCAL_REGION = LOCAL_ENGINE.region;

/** Both stand-ins accept any key; these say what they are. */
export const LOCAL_CREDENTIALS = LOCAL_ENGINE.credentials;

/** Where the stand-ins listen. */
export interface Endpoints {
  readonly dynamodb: string;
  readonly sqs: string;
  readonly eventbridge: string;
}

/** The SDK clients with which the local engine itself works. */
export interface LocalClients {
  readonly dynamodb: DynamoDBClient;
  readonly streams: DynamoDBStreamsClient;
  readonly sqs: SQSClient;
  destroy(): void;
}

/** Clients for the stand-ins at `endpoints`. */
export function createLocalClients(endpoints: Pick<Endpoints, "dynamodb" | "sqs">): LocalClients {
  const common = { region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS };
  const dynamodb = new DynamoDBClient({ ...common, endpoint: endpoints.dynamodb });
  const streams = new DynamoDBStreamsClient({ ...common, endpoint: endpoints.dynamodb });
  const sqs = new SQSClient({ ...common, endpoint: endpoints.sqs });
  return {
    dynamodb,
    streams,
    sqs,
    destroy: () => {
      for (const client of [dynamodb, streams, sqs]) client.destroy();
    },
  };
}

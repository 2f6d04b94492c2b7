import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { SQSClient } from "@aws-sdk/client-sqs";

/** The region the local engine pretends to be; any would do. */
export const LOCAL_REGION = "us-east-1";

/** Both stand-ins accept any key; these say what they are. */
export const LOCAL_CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" };

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

/** The environment that sends an SDK client without settings of its own, in any language, to the stand-ins (AWS SDKs and Tools Reference Guide, "Service-specific endpoints"). */
export const clientEnvironment = (endpoints: Endpoints): Record<string, string> => ({
  AWS_REGION: LOCAL_REGION,
  AWS_ACCESS_KEY_ID: LOCAL_CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: LOCAL_CREDENTIALS.secretAccessKey,
  AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
  AWS_ENDPOINT_URL_SQS: endpoints.sqs,
  AWS_ENDPOINT_URL_EVENTBRIDGE: endpoints.eventbridge,
});

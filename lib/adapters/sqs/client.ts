import { SQSClient, type SQSClientConfig } from "@aws-sdk/client-sqs";

/** How long one SendMessageBatch may take before its answer counts as lost. */
export const SQS_REQUEST_TIMEOUT_MS = 2_000;

/** How long a connection may take to stand. */
const CONNECTION_TIMEOUT_MS = 1_000;

/** As many requests at once as eight busy queues make (`message-queue.ts`); the SDK's own default of 50 would have them wait. */
const MAX_SOCKETS = 64;

/**
 * The SQS client with which runs are sent. Endpoint, region and credentials come from the environment unless `overrides` give them.
 *
 * It sends once: the adapter tries again itself, because only so it knows that a refusal came after a try in doubt.
 */
export const createSqsClient = (
  overrides: Pick<SQSClientConfig, "endpoint" | "region" | "credentials"> = {},
): SQSClient =>
  new SQSClient({
    maxAttempts: 1,
    // An endpoint that the environment names is meant, whatever host a queue's URL has (a stand-in's does not even resolve).
    useQueueUrlAsEndpoint: !namesEndpoint(process.env),
    // SQS checks what it received by SHA-256 of the signed request; the SDK's MD5 of every body is CPU for nothing.
    md5: false,
    // Resolves the middleware once a command class instead of once a call.
    cacheMiddleware: true,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: SQS_REQUEST_TIMEOUT_MS,
      // Without it the SDK only warns and goes on waiting.
      throwOnRequestTimeout: true,
      httpsAgent: { maxSockets: MAX_SOCKETS },
      httpAgent: { maxSockets: MAX_SOCKETS },
    },
    ...overrides,
  });

/** Whether the environment gives an endpoint (AWS SDKs and Tools Reference Guide, "Service-specific endpoints"). */
const namesEndpoint = (env: NodeJS.ProcessEnv): boolean =>
  Boolean(env["AWS_ENDPOINT_URL_SQS"] ?? env["AWS_ENDPOINT_URL"]);

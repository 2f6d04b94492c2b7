import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";

/** How long one request may take. DynamoDB answers in milliseconds; a connection that went silent must not cost a lease. */
export const REQUEST_TIMEOUT_MS = 2_000;

/** How long a connection may take to stand. */
const CONNECTION_TIMEOUT_MS = 1_000;

/** Connections kept open, and so requests in flight: the dispatcher's batches must not wait for one another (SDK default: 50). */
const MAX_SOCKETS = 128;

/** A request is tried once more by the SDK; anything beyond is the engine's to decide, which knows what is at stake. */
const MAX_ATTEMPTS = 2;

/**
 * A DynamoDB client with the settings the stores count on; `config` adds region, endpoint, profile or credentials.
 *
 * `requestTimeout` alone only warns: `throwOnRequestTimeout` makes it an error. With `cacheMiddleware` a middleware added
 * after the first request is silently ignored: give the client to {@link createDynamoDbClock} first.
 */
export const createDynamoDbClient = (
  config: Pick<DynamoDBClientConfig, "region" | "endpoint" | "credentials" | "profile"> = {},
): DynamoDBClient =>
  new DynamoDBClient({
    ...config,
    cacheMiddleware: true,
    maxAttempts: MAX_ATTEMPTS,
    retryMode: "standard",
    requestHandler: {
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    },
  });

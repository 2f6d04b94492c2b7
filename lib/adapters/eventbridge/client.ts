import { EventBridgeClient, type EventBridgeClientConfig } from "@aws-sdk/client-eventbridge";

/** How long one PutEvents request may take before its answer counts as lost. */
const REQUEST_TIMEOUT_MS = 3_000;

/** How long a connection may take to stand. */
const CONNECTION_TIMEOUT_MS = 1_000;

/** Tries of a request, the first included: an event published twice has the same identity, so retries do no harm. */
const MAX_ATTEMPTS = 3;

/** The EventBridge client. Endpoint, region and credentials come from the environment unless `overrides` give them. */
export const createEventBridgeClient = (
  overrides: Pick<EventBridgeClientConfig, "endpoint" | "region" | "credentials"> = {},
): EventBridgeClient =>
  new EventBridgeClient({
    maxAttempts: MAX_ATTEMPTS,
    cacheMiddleware: true,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      // Without it the SDK only warns and goes on waiting.
      throwOnRequestTimeout: true,
    },
    ...overrides,
  });

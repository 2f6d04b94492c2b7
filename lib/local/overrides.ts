import type { Overrides } from "../runtime/create-engine.ts";
import type { FlushableMetrics } from "../runtime/metrics.ts";
import type { FunctionName } from "../runtime/names.ts";
import { type Endpoints, LOCAL_CREDENTIALS, LOCAL_REGION } from "./engines/clients.ts";
import { createLocalLogger } from "./log.ts";

/** Numbers are for CloudWatch; here the live view tells them. */
const noMetrics: FlushableMetrics = { count: () => {}, record: () => {}, gauge: () => {}, flush: () => {} };

/** What a function is given here in place of its own: the engines' endpoints, and a log for people. */
export const overridesFor = (name: FunctionName, endpoints: Endpoints, print: (line: string) => void): Overrides => ({
  logger: createLocalLogger(name, print),
  metrics: noMetrics,
  clients: {
    region: LOCAL_REGION,
    credentials: LOCAL_CREDENTIALS,
    dynamodbEndpoint: endpoints.dynamodb,
    sqsEndpoint: endpoints.sqs,
    eventbridgeEndpoint: endpoints.eventbridge,
  },
});

import * as z from "zod";

/** What a consumer's process is told when it starts: its function's environment, and where the engines are. */
export const configuration = z.object({
  environment: z.record(z.string(), z.string()),
  endpoints: z.object({ dynamodb: z.string(), sqs: z.string(), eventbridge: z.string() }),
});
export type Configuration = z.infer<typeof configuration>;

/** One invocation, with what the consumer reads of Lambda's context. */
export const invocation = z.object({
  event: z.unknown(),
  awsRequestId: z.string(),
  logGroupName: z.string(),
  logStreamName: z.string(),
  remainingMs: z.number(),
});
export type Invocation = z.infer<typeof invocation>;

/** What a consumer's process says. */
export const said = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ready") }),
  /** Its jobs cannot be used. */
  z.object({ kind: z.literal("unusable"), why: z.string() }),
  z.object({ kind: z.literal("answer"), answer: z.unknown() }),
  z.object({ kind: z.literal("error"), message: z.string() }),
]);
export type Said = z.infer<typeof said>;

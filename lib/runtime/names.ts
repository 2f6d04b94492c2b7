/** The CloudWatch namespace of every metric that the functions write. */
export const METRICS_NAMESPACE = "Punctual";

/** The one dimension of those metrics: the deployment's name. (Powertools for AWS Lambda calls it `service`.) */
export const METRICS_DIMENSION = "service";

/** The second dimension of the metrics that a deployment wants by schedule too: the schedule's id. */
export const SCHEDULE_DIMENSION = "schedule";

/** The four functions, by the name of their file in `functions/` and of their bundle. */
export const FUNCTION_NAMES = ["dispatcher", "consumer", "reconciler", "notifier"] as const;
export type FunctionName = (typeof FUNCTION_NAMES)[number];

/** What runs the engine, by its name in logs: a function, or a worker's process. */
export type ProgramName = FunctionName | "worker";

/** The sparse index of the Occurrences table by `shard` and `dueAt`: what a dispatcher must look at next. */
export const DUE_INDEX = "due";

/** The sparse index of the Occurrences table by `deadLetterShard` and `deadLetteredAt`: open dead letters. */
export const DEAD_LETTER_INDEX = "dead-letters";

/** The sparse index of the Schedules table by `group` and `scheduleId`. */
export const GROUP_INDEX = "group";

/** The attribute of the Occurrences table that DynamoDB's TTL reads: epoch *seconds*. */
export const TTL_ATTRIBUTE = "expiresAtSeconds";

/** The source of every announcement this project puts on a bus, by which rules pick them. */
export const EVENT_SOURCE = "punctual";

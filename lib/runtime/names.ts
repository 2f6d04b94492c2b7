/** The CloudWatch namespace of every metric that the functions write. */
export const METRICS_NAMESPACE = "Punctual";

/** The one dimension of those metrics: the deployment's name. (Powertools for AWS Lambda calls it `service`.) */
export const METRICS_DIMENSION = "service";

/** The four functions, by the name of their file in `functions/` and of their bundle. */
export const FUNCTION_NAMES = ["dispatcher", "consumer", "reconciler", "notifier"] as const;
export type FunctionName = (typeof FUNCTION_NAMES)[number];

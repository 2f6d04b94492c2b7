export { InvalidDeploymentError } from "./errors.ts";
export type { PunctualProps } from "./props.ts";
export { Punctual } from "./punctual.ts";
export type { NamedQueueProps, RetryProps } from "./queue-props.ts";
export { PunctualStack, type PunctualStackProps } from "./stack.ts";

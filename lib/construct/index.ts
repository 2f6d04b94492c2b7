export { InvalidDeploymentError } from "./errors.ts";
export type { PunctualProps } from "./props.ts";
export { Punctual } from "./punctual.ts";
export { PunctualStack } from "./stack.ts";

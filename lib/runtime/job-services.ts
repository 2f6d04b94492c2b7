import type { FunctionInvoker } from "../app/function-invoker.ts";
import type { EventBus } from "../app/ports.ts";

/** What built-in jobs reach in AWS, where the deployment allows it. */
export interface JobServices {
  /** The deployment's event bus, for events of that source. */
  eventBus(source: string): EventBus;
  readonly functions: FunctionInvoker;
}

import { join } from "node:path";
import type { FunctionName } from "../runtime/names.ts";
import { bundleFunctions } from "./bundle.ts";
import type { PunctualProps } from "./props.ts";
import type { QueuePlan } from "./queue-plan.ts";

/** Answers the directory with a function's `index.mjs`; `queue`: for the consumer of that named one. */
export type BundleOf = (name: FunctionName, queue?: QueuePlan) => string;

/**
 * The bundles made beforehand, or new ones: of the four functions at once, and of the consumer of each queue with jobs of its own
 * when asked for. Throws `InvalidDeploymentError` for a jobs file that cannot be used.
 */
export function bundlesOf({ bundles, jobs }: Pick<PunctualProps, "bundles" | "jobs">): BundleOf {
  const shared = bundles ?? bundleFunctions(jobs === undefined ? {} : { jobsFile: jobs });
  return (name, queue) => {
    const own = queue?.consumer?.jobs;
    if (queue === undefined || own === undefined || bundles !== undefined) return join(shared, name);
    const outputDirectory = join(shared, "queues", queue.name);
    return join(bundleFunctions({ jobsFile: own, functions: [name], outputDirectory }), name);
  };
}

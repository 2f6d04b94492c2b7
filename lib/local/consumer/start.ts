import type { Closing } from "../closing.ts";
import { LocalEngineError } from "../errors.ts";
import type { MakeConsumer } from "../functions.ts";
import { type ConsumerProcess, createConsumerProcess } from "./process.ts";
import { bundleConsumer, type ProgramOptions, unusableJobs } from "./program.ts";

/** Enough to load jobs; nothing is invoked with it. */
const NOWHERE = { environment: {}, endpoints: { dynamodb: "", sqs: "", eventbridge: "" } };

/**
 * Makes ready to run consumers in processes of their own, until `closing` closes.
 * Throws `LocalEngineError` for a jobs file that is missing, does not compile, fails, or exports something else, and where `closing` closed meanwhile.
 */
export async function startConsumers(
  options: ProgramOptions,
  print: (line: string) => void,
  closing: Closing,
): Promise<MakeConsumer> {
  const bundling = bundleConsumer(options);
  let closed = false;
  closing.add(async () => {
    closed = true;
    const [outcome] = await Promise.allSettled([bundling]);
    if (outcome.status === "fulfilled") await outcome.value.remove();
  });
  const program = await bundling;
  // It is being removed: nothing must start from it.
  if (closed) throw new LocalEngineError("the local engine was closed while it started");
  const processes: ConsumerProcess[] = [];
  closing.add(async () => {
    await Promise.all(processes.map((each) => each.close()));
  });
  const make: MakeConsumer = (configuration) => {
    const made = createConsumerProcess(program, configuration, print);
    processes.push(made);
    return made;
  };
  const trial = createConsumerProcess(program, NOWHERE, print);
  processes.push(trial);
  const why = await trial.loaded().finally(() => trial.close());
  if (why !== undefined) throw unusableJobs(options.jobsFile ?? "the stock jobs", why);
  return make;
}

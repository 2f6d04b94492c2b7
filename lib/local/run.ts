import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { instant } from "../core/instant.ts";
import { pause } from "../runtime/pause.ts";
import { writeAddressFiles } from "./address-file.ts";
import { type Closing, createClosing } from "./closing.ts";
import { startConsumers } from "./consumer/start.ts";
import { readDefinitions } from "./definitions.ts";
import { startEngines } from "./engines/start.ts";
import { LocalEngineError } from "./errors.ts";
import { exampleSchedules } from "./examples.ts";
import type { LocalOptions } from "./options.ts";
import type { Output } from "./output.ts";
import type { LocalScheduler } from "./start.ts";
import { greeting, summary } from "./summary.ts";
import { synthesizedTemplate } from "./template/synthesize.ts";
import { frame } from "./view/frame.ts";
import type { Screen } from "./view/screen.ts";

const PROJECT_DIR = fileURLToPath(new URL("../../", import.meta.url));

/** What is kept from one start to the next. */
const CACHE_DIR = join(PROJECT_DIR, ".punctual");

const REDRAW_MS = 250;

/**
 * Runs the scheduler until `signal` aborts or the time asked for is over, and prints a summary.
 * Throws `LocalEngineError`, `InvalidScheduleError` and the like for what is in the way, when everything has been ended again.
 */
export async function runLocal(options: LocalOptions, output: Output, signal: AbortSignal): Promise<void> {
  const closing = createClosing();
  try {
    output.print("Starting DynamoDB Local and SQS ...");
    const scheduler = await start(options, output, closing);
    const startedMs = performance.now();
    for (const line of greeting(scheduler)) output.print(line);
    if (options.examples) await scheduler.put(exampleSchedules(instant(Date.now())));
    await untilOver(options.seconds, output.screen, scheduler, signal);
    await closing.close();
    output.screen?.end();
    output.print(summary(scheduler.view, performance.now() - startedMs));
  } finally {
    await closing.close();
  }
}

async function start(options: LocalOptions, output: Output, closing: Closing): Promise<LocalScheduler> {
  const stopping = new AbortController();
  closing.add(() => stopping.abort());
  // What takes long goes first, and all of it side by side.
  const program = { examples: options.examples, ...(options.jobs !== undefined && { jobsFile: options.jobs }) };
  const [engines, template, { startScheduler }, definitions, makeConsumer] = await Promise.all([
    startEngines({ ...options, onBusEvent: () => {} }, closing),
    synthesizedTemplate(PROJECT_DIR, CACHE_DIR, stopping.signal, options.queues),
    import("./start.ts"),
    options.schedules === undefined ? [] : readDefinitions(options.schedules),
    startConsumers(program, output.print, closing),
  ]);
  const scheduler = await startScheduler({
    engines,
    template,
    closing,
    makeConsumer,
    checkpointDir: options.dynamodbEndpoint === undefined ? options.dataDir : CACHE_DIR,
    print: output.print,
    tell: output.screen ? () => {} : output.print,
  });
  await scheduler.put(definitions);
  await writeAddressFiles(scheduler, process.cwd(), closing);
  return scheduler;
}

async function untilOver(
  seconds: number | undefined,
  screen: Screen | undefined,
  scheduler: LocalScheduler,
  signal: AbortSignal,
): Promise<void> {
  // A timer of its own: what only `AbortSignal.any` knows of, Node 20 may collect as garbage before its time has come.
  const timeUp = new AbortController();
  const timer = seconds === undefined ? undefined : setTimeout(() => timeUp.abort(), seconds * 1_000);
  const over = AbortSignal.any([signal, timeUp.signal]);
  try {
    const drawn = screen ? redraw(screen, scheduler, over) : pause(Number.POSITIVE_INFINITY, over);
    const failed = await Promise.race([drawn, scheduler.failed]);
    if (failed !== undefined && !over.aborted) throw new LocalEngineError(failed);
  } finally {
    clearTimeout(timer);
  }
}

async function redraw(screen: Screen, { view }: LocalScheduler, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    screen.draw(frame(view, instant(Date.now()), screen.size()));
    await pause(REDRAW_MS, over);
  }
}

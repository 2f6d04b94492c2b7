import { join } from "node:path";
import { fileURLToPath } from "node:url";
import stockJobs from "../../functions/jobs.ts";
import { instant } from "../core/instant.ts";
import { pause } from "../runtime/pause.ts";
import { readDefinitions } from "./definitions.ts";
import { LocalEngineError } from "./errors.ts";
import { exampleJobs, exampleSchedules } from "./examples.ts";
import { loadJobs } from "./jobs.ts";
import type { LocalOptions } from "./options.ts";
import { captureConsole, type Output } from "./output.ts";
import { type LocalScheduler, startScheduler } from "./start.ts";
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
  const template = synthesizedTemplate(PROJECT_DIR, CACHE_DIR);
  // Awaited later; until then a failure is not unhandled.
  template.catch(() => {});
  const definitions = options.schedules === undefined ? [] : await readDefinitions(options.schedules);
  const jobs = options.jobs === undefined ? {} : await loadJobs(options.jobs);
  output.print("Starting DynamoDB Local and SQS ...");
  const scheduler = await startScheduler({
    ...options,
    template,
    jobs: { ...stockJobs, ...(options.examples && exampleJobs), ...jobs },
    cacheDir: CACHE_DIR,
    print: output.print,
    tell: output.screen ? () => {} : output.print,
    onBusEvent: () => {},
  });
  const releaseConsole = captureConsole(output);
  const startedMs = performance.now();
  try {
    for (const line of greeting(scheduler)) output.print(line);
    await scheduler.put(definitions);
    if (options.examples) await scheduler.put(exampleSchedules(instant(Date.now())));
    await untilOver(options.seconds, output.screen, scheduler, signal);
  } finally {
    await scheduler.stop();
    releaseConsole();
    output.print(summary(scheduler.view, performance.now() - startedMs));
  }
}

async function untilOver(
  seconds: number | undefined,
  screen: Screen | undefined,
  scheduler: LocalScheduler,
  signal: AbortSignal,
): Promise<void> {
  const over = seconds === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(seconds * 1_000)]);
  const drawn = screen ? redraw(screen, scheduler, over) : pause(Number.POSITIVE_INFINITY, over);
  const failed = await Promise.race([drawn, scheduler.failed]);
  if (failed !== undefined && !over.aborted) throw new LocalEngineError(failed);
}

async function redraw(screen: Screen, { view }: LocalScheduler, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    screen.draw(frame(view, instant(Date.now()), screen.size()));
    await pause(REDRAW_MS, over);
  }
}

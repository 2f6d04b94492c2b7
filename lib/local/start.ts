import { createScheduleStore } from "../adapters/dynamodb/schedules.ts";
import type { ScheduleItem, ScheduleStore } from "../app/ports.ts";
import { InvalidScheduleError } from "../core/errors.ts";
import { instant } from "../core/instant.ts";
import { parseSchedule, type ScheduleLimits } from "../core/schedule.ts";
import { engineSettings } from "../runtime/create-engine.ts";
import { readEnvironment, type Settings } from "../runtime/env.ts";
import { pause } from "../runtime/pause.ts";
import type { Closing } from "./closing.ts";
import { createLocalClients, type Endpoints } from "./engines/clients.ts";
import type { Engines } from "./engines/start.ts";
import { LocalEngineError } from "./errors.ts";
import { fileCheckpoints, memoryCheckpoints } from "./event-sources/checkpoints.ts";
import { describeProblem, type EngineProblem } from "./event-sources/report.ts";
import { startEventSources } from "./event-sources/start.ts";
import { functionNameOf, functionResolver, type MakeConsumer } from "./functions.ts";
import { createLocalLogger } from "./log.ts";
import type { Running } from "./running.ts";
import type { Template } from "./template/document.ts";
import { type LocalStack, provision } from "./template/stack.ts";
import { createFeed } from "./view/feed.ts";
import { loadView } from "./view/load.ts";
import { createView, type ViewState } from "./view/state.ts";
import { watchTable } from "./watch.ts";

/** How the whole scheduler runs here. */
export interface StartOptions {
  readonly engines: Engines;
  readonly template: Template;
  /** Ends the scheduler, before what it holds already; runs that do not end within {@link STOP_TIMEOUT_MS} are left to their leases. */
  readonly closing: Closing;
  readonly makeConsumer: MakeConsumer;
  /** Where a restart finds how far the streams were read, when they outlive this process. */
  readonly checkpointDir: string | undefined;
  /** Takes what jobs log and what goes wrong. */
  readonly print: (line: string) => void;
  /** Takes a line for each change of a schedule or a run worth one. */
  readonly tell: (line: string) => void;
}

/** The scheduler, running. */
export interface LocalScheduler {
  readonly endpoints: Endpoints;
  readonly engines: Engines;
  readonly settings: Settings;
  readonly view: ViewState;
  /** Puts schedules. Throws `InvalidScheduleError` for the first that is not valid, before any is put. */
  put(items: readonly ScheduleItem[]): Promise<void>;
  /** Resolves with what happened when an engine ends that was not asked to. */
  readonly failed: Promise<string>;
}

/** How long runs in progress may take to end. */
const STOP_TIMEOUT_MS = 5_000;

/** Creates what the template holds on the engines and sets everything going. Throws `LocalEngineError` for what is in the way. */
export async function startScheduler(options: StartOptions): Promise<LocalScheduler> {
  const { closing, engines, template } = options;
  const endpoints = {
    dynamodb: engines.dynamodb.endpoint,
    sqs: engines.sqs.endpoint,
    eventbridge: engines.eventbridge.endpoint,
  };
  const clients = createLocalClients(endpoints);
  closing.add(() => clients.destroy());
  const stack = await provision(template, clients);
  const settings = settingsOf(stack);
  const store = createScheduleStore({
    client: clients.dynamodb,
    schedulesTable: settings.schedulesTable,
    occurrencesTable: settings.occurrencesTable,
    logger: createLocalLogger("reconciler", options.print),
  });
  const view = createView();
  const { limits } = engineSettings(settings);
  await loadView(view, clients.dynamodb, settings.occurrencesTable, store, limits);

  const checkpoints =
    options.checkpointDir === undefined ? memoryCheckpoints() : await fileCheckpoints(options.checkpointDir);
  const report = (problem: EngineProblem): void => options.print(describeProblem(problem));
  const work = { clients, checkpoints, report, signal: new AbortController().signal };
  const feed = createFeed({ view, schedules: store, limits, tell: options.tell, since: instant(Date.now()) });
  for (const watching of [
    watchTable(stack, settings.occurrencesTable, feed.onOccurrences, work),
    watchTable(stack, settings.schedulesTable, feed.onSchedules, work),
  ])
    closing.add(() => watching.stop());
  const resolveFunction = functionResolver(endpoints, options.makeConsumer, options.print);
  const sources = startEventSources(stack, { ...work, resolveFunction });
  closing.add(() => stopWithin(sources, STOP_TIMEOUT_MS, options.print));
  await sources.ready;
  return {
    endpoints,
    engines,
    settings,
    view: view.state,
    put: (items) => putAll(store, items, limits),
    failed: engines.dynamodb.ended ?? new Promise(() => {}),
  };
}

/** The deployment's settings, as the template gives them to its dispatcher. */
function settingsOf({ functions }: LocalStack): Settings {
  const dispatcher = functions.find((each) => functionNameOf(each) === "dispatcher");
  if (!dispatcher) throw new LocalEngineError("the template must hold a dispatcher function, got none");
  return readEnvironment({ ...dispatcher.environment });
}

async function putAll(
  store: Pick<ScheduleStore, "put">,
  items: readonly ScheduleItem[],
  limits: ScheduleLimits,
): Promise<void> {
  for (const item of items) {
    const parsed = parseSchedule(item, limits);
    if (parsed.kind === "invalid") throw new InvalidScheduleError(item.scheduleId, parsed.problems);
  }
  await Promise.all(items.map((item) => store.put(item, "any")));
}

async function stopWithin(sources: Running, timeoutMs: number, print: (line: string) => void): Promise<void> {
  const inTime = new AbortController();
  const stopped = sources.stop().then(() => "stopped");
  const late = pause(timeoutMs, inTime.signal).then(() => "late");
  if ((await Promise.race([stopped, late])) === "late")
    print("some runs did not end in time; they are tried again when their leases have run out");
  inTime.abort();
}

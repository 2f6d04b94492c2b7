import type { StoreClock } from "../../../lib/adapters/dynamodb/store-clock.ts";
import type { Engine } from "../../../lib/app/engine/engine.ts";
import type { EventBus, Host, Logger, Metrics } from "../../../lib/app/ports.ts";
import { busFor, queueFor } from "../ports/messaging.ts";
import { occurrencesFor, schedulesFor } from "../ports/store.ts";
import { clockOf, type HostClocks, hostOf, lazily } from "../world/host.ts";
import type { Process } from "../world/process.ts";

const METRICS: Metrics = { count: () => undefined, record: () => undefined, gauge: () => undefined };

/** The production engine as one process has it, and the host it runs on. */
export interface ProcessEngine extends Engine {
  readonly host: Host;
  readonly bus: EventBus;
  readonly storeClock: StoreClock;
}

/** Builds the engine of `process` on the world's services. `lazyUntilMs`: it may sleep through polls until then. */
export function engineFor(process: Process, clocks: HostClocks, lazyUntilMs?: number): ProcessEngine {
  const { world } = process;
  const host = hostOf(process, clocks);
  const logger = loggerFor(process);
  const { clock: storeClock, track } = clockOf(process, host, logger);
  const random = world.prng.fork();
  return {
    occurrences: occurrencesFor(process, track),
    schedules: schedulesFor(process, track),
    queue: queueFor(process),
    bus: busFor(process),
    clock: lazyUntilMs === undefined ? storeClock : lazily(process, storeClock, lazyUntilMs),
    storeClock,
    host,
    random: random.next,
    logger,
    metrics: METRICS,
    settings: world.settings,
    newNonce: world.nonce,
  };
}

/** Lines at `warn` and above become facts: they tell a timeline's reader why. */
function loggerFor(process: Process): Logger {
  const tell = (message: string, fields?: Readonly<Record<string, unknown>>) =>
    process.world.tell({ type: "log", message, ...(fields && { fields }) }, process);
  return { debug: () => undefined, info: () => undefined, warn: tell, error: tell };
}

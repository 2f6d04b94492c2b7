import type { StoreClock } from "../../../lib/adapters/dynamodb/store-clock.ts";
import type { Logger } from "../../../lib/app/ports.ts";
import type { Overrides, Services } from "../../../lib/runtime/create-engine.ts";
import type { FlushableMetrics } from "../../../lib/runtime/metrics.ts";
import { busFor, queueFor } from "../ports/messaging.ts";
import { occurrencesFor, schedulesFor } from "../ports/store.ts";
import type { Environment } from "../world/environment.ts";
import { clockOf, hostOf } from "../world/host.ts";

const METRICS: FlushableMetrics = {
  count: () => undefined,
  record: () => undefined,
  gauge: () => undefined,
  flush: () => undefined,
};

/** No simulated job invokes one. */
const noFunction = () => Promise.reject(new Error("a simulated job must invoke no function"));

/** What stands in for AWS where the world's services do. */
export type SimulatedServices = Required<Pick<Overrides, "host" | "logger" | "metrics">> & {
  readonly services: Services;
};

/** The world's services as the invocations in `environment` meet them. `wrap`: puts something around its clock. */
export function servicesFor(
  environment: Environment,
  wrap: (clock: StoreClock) => StoreClock = (clock) => clock,
): SimulatedServices {
  const { world } = environment;
  const host = hostOf(environment);
  const logger = loggerFor(environment);
  const { clock, track } = clockOf(environment, host, logger);
  return {
    host,
    logger,
    metrics: METRICS,
    services: {
      occurrences: occurrencesFor(environment, track),
      schedules: schedulesFor(environment, track),
      queue: queueFor(environment),
      bus: busFor(environment),
      clock: wrap(clock),
      random: world.prng.fork().next,
      newNonce: world.nonce,
      jobServices: { eventBus: () => busFor(environment), functions: { invoke: noFunction } },
    },
  };
}

/** Lines at `warn` and above become facts: they tell a timeline's reader why. */
function loggerFor(environment: Environment): Logger {
  const tell = (message: string, fields?: Readonly<Record<string, unknown>>) =>
    environment.world.tell({ type: "log", message, ...(fields && { fields }) }, environment.process);
  return { debug: () => undefined, info: () => undefined, warn: tell, error: tell };
}

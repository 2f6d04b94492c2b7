import type { WorkerEvent } from "../../../lib/app/engine/worker/events.ts";
import { errorMessage } from "../../../lib/core/errors.ts";
import { createWorker, type Worker } from "../../../lib/jobs/create-worker.ts";
import type { WorkerOptions } from "../../../lib/jobs/worker-options.ts";
import { environmentOf } from "../../../lib/runtime/env.ts";
import { Arrivals } from "../ports/arrivals.ts";
import { type HeldAttempt, inboxFor } from "../ports/inbox.ts";
import { Environment } from "../world/environment.ts";
import type { HostClocks } from "../world/host.ts";
import type { Process } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { servicesFor } from "./engine.ts";
import { type FencedEffects, jobsIn } from "./jobs.ts";

/** How much longer than its grace a container leaves a worker that was told to stop (docs/workers.md, "Shutting down"). */
const STOP_MARGIN_MS = 10_000;

/** Why a worker dies that its container had told to stop. */
export const NOT_STOPPED_IN_TIME = "its container did not wait any longer";

/** The workers of a queue. */
export interface WorkerSourceOptions {
  readonly queue: string;
  readonly workers: number;
  readonly settings: Required<
    Pick<WorkerOptions, "concurrency" | "prefetch" | "visibilityTimeoutSeconds" | "waitSeconds" | "graceSeconds">
  >;
  readonly hosts: () => HostClocks;
  /** How long after a worker's end another one is there in its place. */
  readonly restartMs: () => number;
}

/** A container service that keeps so many workers of a queue running, each in a process of its own. */
export class WorkerSource {
  readonly #world: World;
  readonly #options: WorkerSourceOptions;
  readonly #effects: FencedEffects;
  readonly #arrivals: Arrivals;
  readonly #running = new Map<Process, Worker>();
  #env: NodeJS.ProcessEnv;
  #stopped = false;

  constructor(world: World, options: WorkerSourceOptions, effects: FencedEffects) {
    this.#world = world;
    this.#options = options;
    this.#effects = effects;
    this.#arrivals = new Arrivals(world, options.queue);
    this.#env = environmentOf(world.settings);
    this.#fill();
  }

  /** Ends them all, or lets as many run again as there should be. */
  set stopped(stopped: boolean) {
    this.#stopped = stopped;
    if (stopped) this.shutdown();
    else this.#fill();
  }

  /** A rolling restart: each is told to stop, by what SIGTERM does, and another one follows it. */
  shutdown(): void {
    for (const [process, worker] of this.#running) this.#tellToStop(process, worker);
  }

  /** Deploys the workers anew. */
  redeploy(): void {
    this.#env = environmentOf(this.#world.settings);
    this.shutdown();
  }

  #tellToStop(process: Process, worker: Worker): void {
    const { graceSeconds } = this.#options.settings;
    // A process that stands still hears of it when it thaws.
    process.deliver(() => {
      this.#world.tell({ type: "fault", kind: "worker-restarted", where: process.name }, process);
      this.#world.tell({ type: "process", what: "told-to-stop" }, process);
      // What fails it is told by its end.
      worker.shutdown().catch(() => undefined);
    });
    process.onEnd(
      this.#world.kernel.after(graceSeconds * 1000 + STOP_MARGIN_MS, () => process.kill(NOT_STOPPED_IN_TIME)),
    );
  }

  #fill(): void {
    while (!this.#stopped && this.#running.size < this.#options.workers) this.#launch();
  }

  #launch(): void {
    const world = this.#world;
    const { queue, settings, hosts, restartMs } = this.#options;
    const environment = new Environment(world, hosts());
    const process = world.spawn("consumer", `worker-${queue}`);
    environment.begin(process);
    const { services, ...overrides } = servicesFor(environment);
    const { inbox, held } = inboxFor(environment, overrides.host, this.#arrivals, queue);
    const worker = createWorker({
      ...overrides,
      ...settings,
      jobs: jobsIn(environment, overrides.host, this.#effects),
      services: { ...services, inbox: () => inbox },
      env: this.#env,
      queue,
      logs: process.name,
      onEvent: (event) => this.#note(event, held, process),
    });
    this.#running.set(process, worker);
    process.onEnd(() => {
      this.#running.delete(process);
      world.kernel.after(restartMs(), () => this.#fill());
    });
    worker.ended.then(
      () => process.deliver(() => process.end()),
      (error: unknown) => {
        world.tell({ type: "process", what: "failed", why: errorMessage(error) }, process);
        process.kill("its worker failed");
      },
    );
    worker.start();
  }

  /** What a worker gives away, it holds no longer. */
  #note(event: WorkerEvent, held: ReadonlyMap<string, HeldAttempt>, process: Process): void {
    if (event.kind !== "handed-back" && event.kind !== "lapsed") return;
    const attempt = held.get(event.messageId);
    if (attempt) this.#world.tell({ type: "given-back", ...attempt, how: event.kind }, process);
  }
}

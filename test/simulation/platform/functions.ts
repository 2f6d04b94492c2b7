import type { DynamoDBRecord, SQSRecord } from "aws-lambda";
import { errorMessage } from "../../../lib/core/errors.ts";
import { DISPATCHER } from "../../../lib/core/timing.ts";
import type { LambdaContext } from "../../../lib/jobs/create-consumer.ts";
import { environmentOf } from "../../../lib/runtime/env.ts";
import { Environment } from "../world/environment.ts";
import type { HostClocks } from "../world/host.ts";
import type { Process, Role } from "../world/process.ts";
import type { World } from "../world/world.ts";
import type { FencedEffects } from "./jobs.ts";
import { type Failures, type Handler, type Release, THIS_RELEASE } from "./release.ts";

/** A function that has come this far without an end is killed by its platform. */
const OTHER_TIMEOUT_MS = 60_000;
/** The share of invocations that find an environment but get a new one all the same. */
const COLD_SHARE = 0.1;

/** A Lambda handler, and how it is deployed. */
interface Deployment<Event, Answer> {
  readonly role: Role;
  readonly timeoutMs: number;
  /** A cold start, with the code and the environment variables of the day. */
  create(release: Release, environment: Environment, env: NodeJS.ProcessEnv): Handler<Event, Answer>;
}

/** A handler where it was started. */
interface Place<Event, Answer> {
  readonly environment: Environment;
  readonly handler: Handler<Event, Answer>;
}

/** A function of a deployment: its handler, which is production's, in environments that serve one invocation after the other. */
export class SimulatedFunction<Event, Answer> {
  readonly #world: World;
  readonly #hosts: () => HostClocks;
  readonly #deployment: Deployment<Event, Answer>;
  #env: NodeJS.ProcessEnv;
  #release = THIS_RELEASE;
  #idle: Place<Event, Answer>[] = [];
  #live = new Set<Process>();
  #served = false;

  constructor(world: World, hosts: () => HostClocks, deployment: Deployment<Event, Answer>) {
    this.#world = world;
    this.#hosts = hosts;
    this.#deployment = deployment;
    this.#env = environmentOf(world.settings);
  }

  /** From now on invocations begin with what the world's settings say, by `release`; those under way go on with what they have. */
  redeploy(release: Release): void {
    this.#env = environmentOf(this.#world.settings);
    this.#release = release;
    const { role } = this.#deployment;
    this.#world.tell({ type: "deployed", role, release: release.name }, undefined);
    this.#idle = [];
    this.#live = new Set();
    this.#served = false;
  }

  /** Whether an invocation has ended well since it was deployed, or is at work and has come as far as a request of that name. */
  hasServed(request: string): boolean {
    return this.#served || [...this.#live].some(({ calls }) => calls.has(request));
  }

  /**
   * One invocation, for `event` or for what is made of its process. `answered` gets what it came to: what it throws fails it, past its timeout it is killed, and of a
   * killed one nobody hears.
   */
  invoke(label: string, event: Event, answered: (answer: Answer | "failed") => void, timeoutMs?: number): Process {
    const world = this.#world;
    const { role, timeoutMs: limitMs } = this.#deployment;
    const process = world.spawn(role, label);
    const warm = world.prng.chance(1 - COLD_SHARE) ? this.#idle.pop() : undefined;
    const place = warm ?? this.#coldStart();
    const idle = this.#idle;
    const live = this.#live.add(process);
    process.onEnd(() => live.delete(process));
    const endsAt = world.kernel.now + (timeoutMs ?? limitMs);
    process.onEnd(world.kernel.at(endsAt, () => process.kill("ran into its function's timeout")));
    place.environment.begin(process);
    const context: LambdaContext = {
      getRemainingTimeInMillis: () => endsAt - world.kernel.now,
      awsRequestId: process.name,
      logGroupName: role,
      logStreamName: label,
    };
    place.handler(event, context).then(
      (answer) => {
        if (!process.alive) return;
        answered(answer);
        process.end();
        this.#served ||= idle === this.#idle;
        place.environment.rest();
        idle.push(place);
      },
      (error: unknown) => {
        if (!process.alive) return;
        world.tell({ type: "process", what: "failed", why: errorMessage(error) }, process);
        answered("failed");
        process.kill("its invocation failed");
      },
    );
    return process;
  }

  #coldStart(): Place<Event, Answer> {
    const environment = new Environment(this.#world, this.#hosts());
    return { environment, handler: this.#deployment.create(this.#release, environment, this.#env) };
  }
}

/** One dispatcher: `of` of them share the work. Each is started with its own tick. */
export const dispatcherIn = (world: World, hosts: () => HostClocks) =>
  new SimulatedFunction<unknown, unknown>(world, hosts, {
    role: "dispatcher",
    timeoutMs: DISPATCHER.timeoutSeconds * 1000,
    create: (release, environment, env) => release.dispatcher(environment, env),
  });

/** The Schedules stream's reader, and the sweep. */
export const reconcilerIn = (world: World, hosts: () => HostClocks) =>
  new SimulatedFunction<{ Records: DynamoDBRecord[] } | { sweep: true }, Failures>(world, hosts, {
    role: "reconciler",
    timeoutMs: OTHER_TIMEOUT_MS,
    create: (release, environment, env) => release.reconciler(environment, env),
  });

/** The Occurrences stream's reader. */
export const notifierIn = (world: World, hosts: () => HostClocks) =>
  new SimulatedFunction<{ Records: DynamoDBRecord[] }, Failures>(world, hosts, {
    role: "notifier",
    timeoutMs: OTHER_TIMEOUT_MS,
    create: (release, environment, env) => release.notifier(environment, env),
  });

/** What the consumer function's deployment decides. */
export interface ConsumerLimits {
  readonly timeoutMs: number;
  readonly concurrency: number;
}

/** The consumer, which runs the simulated job. */
export const consumerIn = (world: World, hosts: () => HostClocks, limits: ConsumerLimits, effects: FencedEffects) =>
  new SimulatedFunction<{ Records: SQSRecord[] }, Failures>(world, hosts, {
    role: "consumer",
    timeoutMs: limits.timeoutMs,
    create: (release, environment, env) => release.consumer(environment, env, limits.concurrency, effects),
  });

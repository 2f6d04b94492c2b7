import type { Fault, Service } from "../faults/plan.ts";
import type { Process } from "../world/process.ts";

/** How long a caller waits for an answer that does not come, with the SDK's own second try. */
export const ANSWER_TIMEOUT_MS = 4_000;

/** A request to a service and what its answers can be. */
export interface Exchange<Item, Answer> {
  readonly service: Service;
  readonly name: string;
  readonly items: readonly Item[];
  /** Takes effect, synchronously and in the name of the process that sent it, and tells the answer. */
  effect(item: Item, process: Process): Promise<Answer>;
  /** The service refused it: nothing took effect. */
  failed(item: Item): Answer;
  /** Nobody knows whether it took effect. */
  unknown(item: Item): Answer;
  /** What the caller reads where the SDK sent the request twice and the first answer was lost. */
  twice(first: Answer, second: Answer): Answer;
}

/** What happens to one item of a request. */
type Fate = "ok" | "throttled" | "request-lost" | "answer-lost" | "sent-twice" | "late-effect";

const PARTIAL_FATES: readonly Fate[] = ["ok", "ok", "throttled", "answer-lost", "request-lost"];

/** Called as a request leaves; the answer is called as its response arrives, with when it took effect. */
export type Track = () => (effectAt: number) => void;

const UNTRACKED: Track = () => () => undefined;

/**
 * Carries out a request of `process`, with whatever the world's fault plan does to it. The request travels by itself: a
 * process that dies after sending does not take it back.
 */
export function exchange<Item, Answer>(
  process: Process,
  request: Exchange<Item, Answer>,
  track: Track = UNTRACKED,
): Promise<Answer[]> {
  const { world } = process;
  if (request.items.length === 0) return Promise.resolve([]);
  const { items, service, name } = request;
  const at = world.kernel.now;
  const index = world.tally.io;
  world.tally.io += 1;
  process.calls.set(name, (process.calls.get(name) ?? 0) + 1);
  const fault =
    partitioned(process, service) ??
    world.plan.exchange({ index, at, process: process.name, role: process.role, service, name, items: items.length });
  if (fault) process.suffer(fault.kind, name);
  if (fault?.kind === "crash-before") process.kill("crashed before an exchange");
  if (fault?.kind === "paused-before") process.pause(fault.ms);
  return new Promise((resolve) => {
    // A paused process sends when it thaws; a dead one never does.
    process.deliver(() => travel(process, request, fault, track, resolve));
  });
}

function travel<Item, Answer>(
  process: Process,
  request: Exchange<Item, Answer>,
  fault: Fault | undefined,
  track: Track,
  resolve: (answers: Promise<Answer[]>) => void,
): void {
  const { kernel } = process.world;
  const arrived = track();
  const fates = fatesOf(process, request.items.length, fault);
  kernel.after(process.world.latencyMs(), () => {
    const effectAt = kernel.now;
    const answers = Promise.all(
      request.items.map((item, index) => carryOut(process, request, item, fates[index], fault)),
    );
    if (fault?.kind === "crash-after") process.kill("crashed after an exchange");
    if (fault?.kind === "paused-after") process.pause(fault.ms);
    const silent = fates.some((fate) => fate === "request-lost" || fate === "answer-lost" || fate === "late-effect");
    const backMs = fault?.kind === "slow" ? fault.ms : silent ? ANSWER_TIMEOUT_MS : process.world.latencyMs();
    process.after(backMs, () => {
      if (fates.some((fate) => fate === "ok" || fate === "throttled")) arrived(effectAt);
      resolve(answers);
    });
  });
}

function fatesOf(process: Process, count: number, fault: Fault | undefined): readonly Fate[] {
  const { prng } = process.world;
  switch (fault?.kind) {
    case "throttled":
    case "request-lost":
    case "answer-lost":
    case "sent-twice":
    case "late-effect":
      return new Array<Fate>(count).fill(fault.kind);
    case "partial":
      return Array.from({ length: count }, () => prng.pick(PARTIAL_FATES));
    default:
      return new Array<Fate>(count).fill("ok");
  }
}

async function carryOut<Item, Answer>(
  process: Process,
  { effect, failed, unknown, twice }: Exchange<Item, Answer>,
  item: Item,
  fate: Fate | undefined,
  fault: Fault | undefined,
): Promise<Answer> {
  const { world } = process;
  const act = () => world.as(process, () => effect(item, process));
  switch (fate) {
    case "throttled":
      return failed(item);
    case "request-lost":
      return unknown(item);
    case "answer-lost":
      await act();
      return unknown(item);
    case "late-effect":
      world.kernel.after(fault?.kind === "late-effect" ? fault.ms : 0, () => void act());
      return unknown(item);
    case "sent-twice": {
      const first = act();
      const second = act();
      return twice(await first, await second);
    }
    default:
      return act();
  }
}

function partitioned(process: Process, service: Service): Fault | undefined {
  return process.cutOff.has(service) ? { kind: "request-lost" } : undefined;
}

/** A method with one answer, which throws where that is an error. */
export async function single<Answer>(
  process: Process,
  { service, name, effect, errors }: SingleExchange<Answer>,
  track?: Track,
): Promise<Answer> {
  type Result = { readonly value: Answer } | { readonly error: Error };
  const [result] = await exchange<undefined, Result>(
    process,
    {
      service,
      name,
      items: [undefined],
      effect: async (_, sender) => ({ value: await effect(sender) }),
      failed: () => ({ error: errors(`${name} was refused`) }),
      unknown: () => ({ error: errors(`${name} got no answer`) }),
      twice: (_, second) => second,
    },
    track,
  );
  if (result === undefined) throw new Error(`${name} must have one answer, got none`);
  if ("error" in result) throw result.error;
  return result.value;
}

interface SingleExchange<Answer> {
  readonly service: Service;
  readonly name: string;
  readonly effect: (process: Process) => Promise<Answer>;
  readonly errors: (message: string) => Error;
}

/** The answer to the one item that was sent. Throws `RangeError` where there is none. */
export function only<T>(answers: readonly T[]): T {
  const [answer] = answers;
  if (answer === undefined) throw new RangeError("answers must be as many as the items, got none");
  return answer;
}

import * as z from "zod";
import type { Execute } from "../../../lib/app/engine/run-occurrence.ts";
import { formatKey } from "../../../lib/core/occurrence.ts";
import { executorOf } from "../../../lib/jobs/execute.ts";
import { PermanentError, RetryableError } from "../../../lib/jobs/outcomes.ts";
import type { JobContext } from "../../../lib/jobs/types.ts";
import type { AttemptName } from "../world/facts.ts";
import type { Process } from "../world/process.ts";
import type { ProcessEngine } from "./engine.ts";

/** The name of the one job; its payload says how it behaves. */
export const JOB = "simulated";

const behaviour = z.object({
  /** How long it works. */
  ms: z.number(),
  /** Up to which attempt it throws, kills its process, or throws for good. */
  failsUntil: z.optional(z.number()),
  killsUntil: z.optional(z.number()),
  permanent: z.optional(z.boolean()),
  retryAfterSeconds: z.optional(z.number()),
  /** Pays no heed to its signal. */
  deaf: z.optional(z.boolean()),
  /** Renews its lease just before its effect. */
  careful: z.optional(z.boolean()),
});

/** What a simulated job is to do: a schedule's payload. */
export type Behaviour = z.infer<typeof behaviour>;

/** A store of effects that refuses a token smaller than one it has seen of the same run. */
export class FencedEffects {
  readonly #highest = new Map<string, number>();

  /** Whether the effect was taken. */
  take({ key, token }: AttemptName): boolean {
    if (token < (this.#highest.get(key) ?? 0)) return false;
    this.#highest.set(key, token);
    return true;
  }
}

/** Executes jobs in `process` with production's executor, and tells of every beginning, effect and end. */
export function executeIn(process: Process, engine: ProcessEngine, effects: FencedEffects): Execute {
  const attempts = new Map<string, AttemptName>();
  const jobs = {
    [JOB]: {
      schema: behaviour,
      handler: (how: Behaviour, context: JobContext) => {
        const name = attempts.get(attemptKey(context.occurrence.occurrenceId, context.fencingToken));
        if (name === undefined) throw new Error("a job must run inside its attempt");
        return behave(process, engine, effects, how, context, name);
      },
    },
  };
  const execute = executorOf(jobs, engine.logger);
  return async (attempt) => {
    const { row } = attempt;
    const name = { key: formatKey(row), token: row.fencingToken, owner: row.owner ?? "" };
    attempts.set(attemptKey(row.occurrenceId, row.fencingToken), name);
    process.world.tell({ type: "job-started", attempt: name, row, signal: attempt.signal }, process);
    const execution = await execute(attempt);
    process.world.tell({ type: "job-ended", attempt: name, outcome: execution.kind }, process);
    return execution;
  };
}

const attemptKey = (occurrenceId: string, token: number): string => `${occurrenceId}:${token}`;

async function behave(
  process: Process,
  { host }: ProcessEngine,
  effects: FencedEffects,
  how: Behaviour,
  context: JobContext,
  name: AttemptName,
): Promise<string> {
  const halfMs = Math.ceil(how.ms / 2);
  await host.sleep(halfMs, how.deaf ? undefined : context.signal);
  if (!how.deaf) context.signal.throwIfAborted();
  if (context.attempt <= (how.killsUntil ?? 0)) {
    process.suffer("job-kills-process", name.key);
    process.kill(`killed by its job ${name.key}`);
  }
  await host.sleep(how.ms - halfMs, how.deaf ? undefined : context.signal);
  if (!how.deaf) context.signal.throwIfAborted();
  if (how.permanent) throw new PermanentError("this run can never succeed");
  if (context.attempt <= (how.failsUntil ?? 0))
    throw new RetryableError(
      `attempt ${context.attempt} fails`,
      how.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: how.retryAfterSeconds },
    );
  if (how.careful) await context.heartbeat();
  await affect(process, effects, name);
  return name.owner;
}

/** The effect takes place at a service, whether or not the job is still there to hear of it. */
function affect(process: Process, effects: FencedEffects, attempt: AttemptName): Promise<void> {
  const { world } = process;
  return new Promise((resolve) =>
    world.kernel.after(world.latencyMs(), () => {
      world.tell({ type: "effect", attempt, accepted: effects.take(attempt) }, process);
      process.after(world.latencyMs(), resolve);
    }),
  );
}

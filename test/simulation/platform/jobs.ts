import * as z from "zod";
import type { Host } from "../../../lib/app/ports.ts";
import { instant } from "../../../lib/core/instant.ts";
import { formatKey } from "../../../lib/core/occurrence.ts";
import { PermanentError, RetryableError } from "../../../lib/jobs/outcomes.ts";
import type { JobContext } from "../../../lib/jobs/types.ts";
import type { Environment } from "../world/environment.ts";
import type { AttemptName } from "../world/facts.ts";
import type { Process } from "../world/process.ts";

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

/** The jobs of a consumer in `environment`: the one job, which tells of its beginning, its effect and its end. */
export const jobsIn = (environment: Environment, host: Host, effects: FencedEffects) => ({
  [JOB]: {
    schema: behaviour,
    handler: async (how: Behaviour, context: JobContext) => {
      // Whatever thaws in this environment later, a job is of the invocation that began it.
      const { process } = environment;
      const attempt = attemptIn(process, context);
      const { signal, occurrence } = context;
      const scheduledFor = instant(occurrence.scheduledFor.getTime());
      const leaseUntil = instant(context.leaseUntil().getTime());
      process.world.tell({ type: "job-started", attempt, scheduledFor, leaseUntil, signal }, process);
      let outcome = "failed";
      try {
        const output = await behave(process, host, effects, how, context, attempt);
        outcome = "succeeded";
        return output;
      } finally {
        process.world.tell({ type: "job-ended", attempt, outcome }, process);
      }
    },
  },
});

function attemptIn(process: Process, { occurrence, fencingToken }: JobContext): AttemptName {
  const key = formatKey(occurrence);
  return { key, token: fencingToken, owner: process.world.ownerOf(process, key, fencingToken) };
}

async function behave(
  process: Process,
  host: Host,
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

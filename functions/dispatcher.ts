import type { Context } from "aws-lambda";
import * as z from "zod";
import { dispatch } from "../lib/app/engine/dispatch.ts";
import { gaugeOpenDeadLetters } from "../lib/app/engine/open-dead-letters.ts";
import { formatProblems, PunctualError } from "../lib/core/errors.ts";
import { plusMs } from "../lib/core/instant.ts";
import { DISPATCHER } from "../lib/core/timing.ts";
import { problemsOf } from "../lib/core/validation.ts";
import { createEngine, type Overrides } from "../lib/runtime/create-engine.ts";
import { once } from "../lib/runtime/once.ts";

/** What must be left of the invocation for the last claims to be sent. */
const STOP_BEFORE_END_MS = 5_000;

/** The rule's constant input: this dispatcher's number, from 0, of how many. */
const tick = z.object(
  {
    dispatcher: z.int("must be a whole number").nonnegative("must not be negative"),
    of: z.int("must be a whole number").positive("must be positive"),
  },
  "must be a map of dispatcher and of",
);

type LambdaContext = Pick<Context, "getRemainingTimeInMillis">;

/** The dispatcher with what `env` says, made at the first tick. */
export function createHandler(env: NodeJS.ProcessEnv, overrides: Overrides = {}) {
  const coldStart = once(() => createEngine(env, "dispatcher", overrides));
  return async (event: unknown, context: LambdaContext): Promise<{ moved: number }> => {
    const engine = coldStart();
    const { dispatcher, of } = parseTick(event);
    await engine.clock.probe();
    const start = engine.clock.now();
    const end = new AbortController();
    const leftMs = context.getRemainingTimeInMillis() - STOP_BEFORE_END_MS;
    const watch = engine.host.sleep(Math.max(leftMs, 0), end.signal).then(() => end.abort());
    // Beside the work: until the store's time is known closely, firings come up to a second late, never early.
    const narrowing = engine.clock.narrow(end.signal);
    const counting = dispatcher === 0 ? gaugeOpenDeadLetters(engine, end.signal) : undefined;
    try {
      // It works for its tick's minute, and in the overlap for a successor that is late.
      const soloUntil = plusMs(start, DISPATCHER.minuteMs);
      const window = { dispatcher, of, soloUntil, until: plusMs(soloUntil, DISPATCHER.overlapMs) };
      return await dispatch(engine, window, end.signal);
    } finally {
      // Nothing of this invocation may go on in the next one.
      end.abort();
      await Promise.all([narrowing, counting, watch]);
      engine.metrics.flush();
    }
  };
}

function parseTick(event: unknown): z.infer<typeof tick> {
  const parsed = tick.safeParse(event);
  if (parsed.success) return parsed.data;
  throw new PunctualError("InvalidTick", `tick is not valid: ${formatProblems(problemsOf(parsed.error, event))}`);
}

/** Claims what is due and sends it, for the minute of its tick: the EventBridge rule's target. */
export const handler = createHandler(process.env);

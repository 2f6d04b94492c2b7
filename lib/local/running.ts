/** Something that works in the background until it is told to stop. */
export interface Running {
  /** Takes no new work and resolves once the work in hand is done. May be called more than once. */
  stop(): Promise<void>;
}

/** Runs `work` in the background until it ends by itself, `signal` aborts, or `stop()` is called; `work` must heed its signal. */
export function run(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Running {
  const stopping = new AbortController();
  const done = work(AbortSignal.any([signal, stopping.signal]));
  return {
    stop: () => {
      stopping.abort();
      return done;
    },
  };
}

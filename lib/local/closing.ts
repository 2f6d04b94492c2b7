/** Things to be closed, the last opened first. */
export interface Closing {
  /** Adds something that `close` ends. */
  add(close: () => Promise<void> | void): void;
  /** Ends everything once, also when one of them fails; throws what the first failure threw. */
  close(): Promise<void>;
}

/** Nothing to be closed yet. */
export function createClosing(): Closing {
  const closers: (() => Promise<void> | void)[] = [];
  return {
    add: (close) => void closers.push(close),
    close: async () => {
      const failures: unknown[] = [];
      for (let close = closers.pop(); close; close = closers.pop()) {
        try {
          await close();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

import type { EngineSettings } from "../../../lib/app/engine/engine.ts";

/** The settings of a small deployment with `shards` shards and two queues, one of them read by nobody we know. */
export const settingsOf = (shards: number): EngineSettings => ({
  shards,
  historySeconds: 30 * 86_400,
  limits: {
    queues: { default: { timeoutMaxSeconds: 290 }, plain: { timeoutMaxSeconds: 290 } },
    historySeconds: 30 * 86_400,
  },
  completedWhenEnqueued: new Set(["plain"]),
  announce: { started: false, succeeded: false, retrying: false },
});

import { DEFAULT_NUMBERS } from "../../../lib/core/timing.ts";
import type { Settings } from "../../../lib/runtime/env.ts";

/**
 * The settings of a small deployment with `shards` shards and three queues: one of them read by nobody we know, one that SQS does not have.
 * A short history is too short for the default catch-up window: its definitions say one of their own.
 */
export function settingsOf(shards: number, historySeconds: number = DEFAULT_NUMBERS.historySeconds): Settings {
  const name = `${shards} ${historySeconds}`;
  const settings = known.get(name) ?? newSettings(shards, historySeconds);
  known.set(name, settings);
  return settings;
}

/** The same for every world: what follows from them is worked out once. */
const known = new Map<string, Settings>();

const newSettings = (shards: number, historySeconds: number): Settings => ({
  deployment: "simulated",
  schedulesTable: "Schedules",
  occurrencesTable: "Occurrences",
  queues: {
    default: {
      url: "default",
      timeoutMaxSeconds: 290,
      consumerTimeoutSeconds: 300,
      visibilityTimeoutSeconds: 330,
    },
    plain: { url: "plain", timeoutMaxSeconds: 290, completion: "enqueued" },
    gone: { url: "gone", timeoutMaxSeconds: 290 },
  },
  deadLetterQueueUrl: "dead-letters",
  eventBusName: "bus",
  shards,
  dispatchers: 1,
  historySeconds,
  messageRetentionSeconds: DEFAULT_NUMBERS.messageRetentionSeconds,
  maxReceiveCount: DEFAULT_NUMBERS.maxReceiveCount,
  announce: [],
  metricsBySchedule: false,
  builtinJobs: { httpAllowedHosts: [], lambdaFunctions: [] },
  logLevel: "INFO",
});

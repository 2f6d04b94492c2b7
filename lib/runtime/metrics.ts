import { MetricUnit, Metrics as PowertoolsMetrics } from "@aws-lambda-powertools/metrics";
import type { DurationName, MetricName, Metrics } from "../app/ports.ts";
import type { Settings } from "./env.ts";
import { METRICS_NAMESPACE } from "./names.ts";

/**
 * The most durations of one name in one entry. A metric's array holds at most 100 (Amazon CloudWatch User Guide, "Embedded
 * metric format specification"), and Powertools writes an entry of its own as soon as one is full; an odd number has the
 * median among its quantiles.
 */
const QUANTILES = 99;

/** How many durations of one name are held before they are written, whatever their age: bounds memory. */
const HELD_DURATIONS_MAX = 10_000;

/** How long numbers are held while more keep coming: alarms look at whole minutes. */
const HELD_MAX_MS = 10_000;

/** The port, and the way to write what is held. */
export interface FlushableMetrics extends Metrics {
  /** Writes everything held. To be called before an invocation ends: what is held then may be lost with the environment. */
  flush(): void;
}

/**
 * Metrics as log lines in CloudWatch's embedded metric format, with the deployment as their one dimension.
 *
 * Numbers are gathered first and written every {@link HELD_MAX_MS}, as long as more come, and by `flush`: a dispatcher that
 * claims thousands a second writes a line, not a thousand. Counts are summed. Of more than {@link QUANTILES}
 * durations as many evenly spaced quantiles are written, the smallest and the largest among them: percentiles and extremes
 * stay true, `SampleCount` does not (the counters are there for that).
 *
 * @param monotonicMs milliseconds on a clock that never jumps
 */
export function createMetrics(
  { deployment }: Pick<Settings, "deployment">,
  monotonicMs: () => number = () => performance.now(),
): FlushableMetrics {
  const emf = new PowertoolsMetrics({ namespace: METRICS_NAMESPACE, serviceName: deployment });
  const counts = new Map<MetricName, number>();
  const durations = new Map<DurationName, number[]>();
  let heldSinceMs: number | undefined;

  const flush = (): void => {
    for (const [name, value] of counts) emf.addMetric(name, MetricUnit.Count, value);
    for (const [name, values] of durations)
      for (const value of representatives(values)) emf.addMetric(name, MetricUnit.Milliseconds, value);
    if (counts.size + durations.size > 0) emf.publishStoredMetrics();
    counts.clear();
    durations.clear();
    heldSinceMs = undefined;
  };
  const held = (): void => {
    const nowMs = monotonicMs();
    heldSinceMs ??= nowMs;
    if (nowMs - heldSinceMs >= HELD_MAX_MS) flush();
  };

  return {
    count(name, value = 1) {
      counts.set(name, (counts.get(name) ?? 0) + value);
      held();
    },
    record(name, ms) {
      const values = durations.get(name) ?? [];
      values.push(ms);
      durations.set(name, values);
      if (values.length >= HELD_DURATIONS_MAX) flush();
      else held();
    },
    flush,
  };
}

/** At most {@link QUANTILES} of `values` that stand for all of them: evenly spaced by rank, both extremes included. */
function representatives(values: readonly number[]): readonly number[] {
  if (values.length <= QUANTILES) return values;
  const sorted = values.toSorted((left, right) => left - right);
  const step = (sorted.length - 1) / (QUANTILES - 1);
  return Array.from({ length: QUANTILES }, (_, rank) => sorted[Math.round(rank * step)] ?? 0);
}

import { MetricUnit, Metrics as PowertoolsMetrics } from "@aws-lambda-powertools/metrics";
import type { DurationName, GaugeName, MetricName, Metrics } from "../app/ports.ts";
import type { Settings } from "./env.ts";
import { METRICS_NAMESPACE, SCHEDULE_DIMENSION } from "./names.ts";

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

/** How many schedules' numbers are held before all are written: bounds memory. */
const HELD_SCHEDULES_MAX = 1_000;

/** Numbers that are yet to be written. */
interface Held {
  readonly counts: Map<MetricName, number>;
  readonly durations: Map<DurationName, number[]>;
  readonly gauges: Map<GaugeName, number>;
}

/**
 * Metrics as log lines in CloudWatch's embedded metric format, with the deployment as their one dimension; where
 * `metricsBySchedule`, those of a schedule's runs once more with the schedule as second dimension.
 *
 * Numbers are gathered first and written every {@link HELD_MAX_MS}, as long as more come, and by `flush`: a dispatcher that
 * claims thousands a second writes a line, not a thousand. Counts are summed; of a gauge the newest is written. Of more than {@link QUANTILES}
 * durations as many evenly spaced quantiles are written, the smallest and the largest among them: percentiles and extremes
 * stay true, `SampleCount` does not (the counters are there for that).
 *
 * @param monotonicMs milliseconds on a clock that never jumps
 */
export function createMetrics(
  { deployment, metricsBySchedule }: Pick<Settings, "deployment" | "metricsBySchedule">,
  monotonicMs: () => number = () => performance.now(),
): FlushableMetrics {
  const emf = new PowertoolsMetrics({ namespace: METRICS_NAMESPACE, serviceName: deployment });
  let totals = nothingHeld();
  const bySchedule = new Map<string, Held>();
  let heldSinceMs: number | undefined;

  const flush = (): void => {
    if (heldSinceMs === undefined) return;
    write(emf, totals);
    for (const [scheduleId, held] of bySchedule) {
      emf.addDimension(SCHEDULE_DIMENSION, scheduleId);
      write(emf, held);
    }
    totals = nothingHeld();
    bySchedule.clear();
    heldSinceMs = undefined;
  };
  const flushInTime = (): void => {
    const nowMs = monotonicMs();
    heldSinceMs ??= nowMs;
    if (nowMs - heldSinceMs >= HELD_MAX_MS || bySchedule.size >= HELD_SCHEDULES_MAX) flush();
  };
  const heldFor = (scheduleId: string | undefined): readonly Held[] => {
    if (!metricsBySchedule || scheduleId === undefined) return [totals];
    const own = bySchedule.get(scheduleId) ?? nothingHeld();
    bySchedule.set(scheduleId, own);
    return [totals, own];
  };

  return {
    count(name, value = 1, scheduleId) {
      for (const { counts } of heldFor(scheduleId)) counts.set(name, (counts.get(name) ?? 0) + value);
      flushInTime();
    },
    record(name, ms, scheduleId) {
      for (const { durations } of heldFor(scheduleId)) {
        const values = durations.get(name) ?? [];
        values.push(ms);
        durations.set(name, values);
      }
      flushInTime();
      if ((totals.durations.get(name)?.length ?? 0) >= HELD_DURATIONS_MAX) flush();
    },
    gauge(name, value) {
      totals.gauges.set(name, value);
      flushInTime();
    },
    flush,
  };
}

const nothingHeld = (): Held => ({ counts: new Map(), durations: new Map(), gauges: new Map() });

/** One entry, which takes the dimensions added to `emf` with it. */
function write(emf: PowertoolsMetrics, { counts, durations, gauges }: Held): void {
  for (const [name, value] of [...counts, ...gauges]) emf.addMetric(name, MetricUnit.Count, value);
  for (const [name, values] of durations)
    for (const value of representatives(values)) emf.addMetric(name, MetricUnit.Milliseconds, value);
  emf.publishStoredMetrics();
}

/** At most {@link QUANTILES} of `values` that stand for all of them: evenly spaced by rank, both extremes included. */
function representatives(values: readonly number[]): readonly number[] {
  if (values.length <= QUANTILES) return values;
  const sorted = values.toSorted((left, right) => left - right);
  const step = (sorted.length - 1) / (QUANTILES - 1);
  return Array.from({ length: QUANTILES }, (_, rank) => sorted[Math.round(rank * step)] ?? 0);
}

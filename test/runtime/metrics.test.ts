import { expect, test } from "vitest";
import { createMetrics } from "../../lib/runtime/metrics.ts";
import { outputLines } from "./output.ts";

const world = ({ metricsBySchedule = false } = {}) => {
  const lines = outputLines();
  const clock = { ms: 0 };
  const deployed = { deployment: "Punctual/Scheduler", metricsBySchedule };
  return { lines, clock, metrics: createMetrics(deployed, () => clock.ms) };
};

test("counts are summed into one entry, with the deployment as the only dimension", () => {
  const { lines, metrics } = world();
  metrics.count("Claims", 25);
  metrics.count("Claims", 5);
  metrics.count("LostRaces");
  metrics.flush();
  expect(lines()).toEqual([
    expect.objectContaining({
      Claims: 30,
      LostRaces: 1,
      service: "Punctual/Scheduler",
      _aws: expect.objectContaining({
        CloudWatchMetrics: [
          {
            Namespace: "Punctual",
            Dimensions: [["service"]],
            Metrics: [
              { Name: "Claims", Unit: "Count" },
              { Name: "LostRaces", Unit: "Count" },
            ],
          },
        ],
      }),
    }),
  ]);
});

test("few durations are written as they are", () => {
  const { lines, metrics } = world();
  for (const ms of [30, 10, 20]) metrics.record("ClaimLatenessMs", ms);
  metrics.flush();
  expect(lines()).toEqual([expect.objectContaining({ ClaimLatenessMs: [30, 10, 20] })]);
});

test("many durations become quantiles that keep both extremes and the median", () => {
  const { lines, metrics } = world();
  for (let ms = 9_998; ms >= 0; ms--) metrics.record("ClaimLatenessMs", ms);
  metrics.flush();
  const [line, ...more] = lines();
  expect(more).toEqual([]);
  const values: unknown = Reflect.get(Object(line), "ClaimLatenessMs");
  expect(values).toHaveLength(99);
  expect(values).toEqual(expect.arrayContaining([0, 4_999, 9_998]));
});

test("numbers are held for ten seconds while more come, and not longer", () => {
  const { lines, clock, metrics } = world();
  metrics.count("Heartbeats");
  clock.ms = 9_999;
  metrics.count("Heartbeats");
  expect(lines()).toEqual([]);
  clock.ms = 10_000;
  metrics.count("Heartbeats");
  expect(lines()).toEqual([expect.objectContaining({ Heartbeats: 3 })]);
});

test("ten thousand durations are written whatever their age", () => {
  const { lines, metrics } = world();
  for (let index = 0; index < 10_000; index++) metrics.record("StartLatenessMs", 1);
  expect(lines()).toHaveLength(1);
});

test("with nothing held nothing is written", () => {
  const { lines, metrics } = world();
  metrics.flush();
  expect(lines()).toEqual([]);
});

test("of a gauge the newest value is written", () => {
  const { lines, metrics } = world();
  for (const open of [3, 0]) metrics.gauge("OpenDeadLetters", open);
  metrics.flush();
  expect(lines()).toEqual([expect.objectContaining({ OpenDeadLetters: 0 })]);
});

const directive = (dimensions: readonly string[], ...Metrics: readonly object[]) => ({
  _aws: expect.objectContaining({
    CloudWatchMetrics: [{ Namespace: "Punctual", Dimensions: [dimensions], Metrics }],
  }),
});
const succeeded = { Name: "Succeeded", Unit: "Count" };
const duration = { Name: "RunDurationMs", Unit: "Milliseconds" };

test("numbers of a schedule's runs are written once more by schedule where the deployment wants that", () => {
  const { lines, metrics } = world({ metricsBySchedule: true });
  metrics.count("Heartbeats");
  for (const [scheduleId, ms] of [
    ["a", 10],
    ["b", 20],
    ["a", 30],
  ] as const) {
    metrics.count("Succeeded", 1, scheduleId);
    metrics.record("RunDurationMs", ms, scheduleId);
  }
  metrics.flush();
  const service = "Punctual/Scheduler";
  expect(lines()).toEqual([
    {
      ...directive(["service"], { Name: "Heartbeats", Unit: "Count" }, succeeded, duration),
      ...{ service, Heartbeats: 1, Succeeded: 3, RunDurationMs: [10, 20, 30] },
    },
    {
      ...directive(["service", "schedule"], succeeded, duration),
      ...{ service, schedule: "a", Succeeded: 2, RunDurationMs: [10, 30] },
    },
    {
      ...directive(["service", "schedule"], succeeded, duration),
      ...{ service, schedule: "b", Succeeded: 1, RunDurationMs: 20 },
    },
  ]);
  metrics.count("Claims");
  metrics.flush();
  expect(lines().slice(3)).toEqual([
    { ...directive(["service"], { Name: "Claims", Unit: "Count" }), service, Claims: 1 },
  ]);
});

test("no number has a schedule where the deployment did not ask for it", () => {
  const { lines, metrics } = world();
  metrics.count("Succeeded", 1, "a");
  metrics.flush();
  expect(lines()).toEqual([expect.not.objectContaining({ schedule: "a" })]);
});

test("the numbers of a thousand schedules are written whatever their age", () => {
  const { lines, metrics } = world({ metricsBySchedule: true });
  for (let index = 0; index < 1_000; index++) metrics.count("Succeeded", 1, `s${index}`);
  expect(lines()).toHaveLength(1_001);
});

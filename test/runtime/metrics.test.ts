import { expect, test } from "vitest";
import { createMetrics } from "../../lib/runtime/metrics.ts";
import { outputLines } from "./output.ts";

const world = () => {
  const lines = outputLines();
  const clock = { ms: 0 };
  return { lines, clock, metrics: createMetrics({ deployment: "Punctual/Scheduler" }, () => clock.ms) };
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

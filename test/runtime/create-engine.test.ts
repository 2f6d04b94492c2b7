import { describe, expect, it } from "vitest";
import { ClockUnavailableError } from "../../lib/app/errors.ts";
import { InvalidTimingError } from "../../lib/core/timing.ts";
import { createEngine, engineSettings } from "../../lib/runtime/create-engine.ts";
import { environmentOf, InvalidEnvironmentError } from "../../lib/runtime/env.ts";
import { SETTINGS } from "../functions/deployed-world.ts";

const clients = { region: "eu-west-1", credentials: { accessKeyId: "a", secretAccessKey: "s" } };

describe("the engine's settings", () => {
  it("are the deployment's", () => {
    expect(engineSettings(SETTINGS)).toEqual({
      shards: 1,
      historySeconds: 2_592_000,
      limits: { queues: SETTINGS.queues, historySeconds: 2_592_000 },
      completedWhenEnqueued: new Set(["plain"]),
      announce: { deployment: SETTINGS.deployment, started: true, succeeded: false, retrying: false },
    });
  });
});

describe("a function's engine", () => {
  it("is built from its environment, and asks nothing of anybody before it is used", () => {
    const engine = createEngine(environmentOf(SETTINGS), "dispatcher", { clients });
    expect(engine.deployed).toEqual(SETTINGS);
    expect(engine.settings).toEqual(engineSettings(SETTINGS));
    expect(() => engine.clock.now()).toThrow(ClockUnavailableError);
    const nonces = Array.from({ length: 1_000 }, () => engine.newNonce());
    expect(new Set(nonces).size).toBe(1_000);
  });

  it("is not built where the environment lacks something: every name is told", () => {
    const { PUNCTUAL_SHARDS: _, PUNCTUAL_QUEUES: __, ...env } = environmentOf(SETTINGS);
    expect(() => createEngine(env, "consumer", { clients })).toThrow(InvalidEnvironmentError);
    expect(() => createEngine(env, "consumer", { clients })).toThrow(/PUNCTUAL_QUEUES.*PUNCTUAL_SHARDS/);
  });

  it("is not built where the deployment's numbers do not fit together", () => {
    const env = environmentOf({ ...SETTINGS, historySeconds: 3_600 });
    expect(() => createEngine(env, "consumer", { clients })).toThrow(InvalidTimingError);
  });
});

import { EventEmitter, once } from "node:events";
import { describe, expect, it } from "vitest";
import type { Invocable } from "../../../lib/local/event-sources/lambda.ts";
import type { EngineProblem } from "../../../lib/local/event-sources/report.ts";
import { tickRule } from "../../../lib/local/event-sources/rule-ticker.ts";

const invocable = (invoke: Invocable["invoke"]): Invocable => ({
  invoke,
  definition: {
    logicalId: "Dispatcher",
    path: undefined,
    name: "dispatcher",
    arn: "arn:dispatcher",
    timeoutSeconds: 60,
    memoryMb: 128,
    logGroupName: "/aws/lambda/dispatcher",
    environment: {},
  },
});

/** A rule far quicker than EventBridge allows, so that several ticks take no time. */
const rapid = {
  logicalId: "Ticks",
  everySeconds: 0.005,
  targets: [{ id: "t1", functionId: "Dispatcher", input: {} }],
};

describe("a scheduled rule", () => {
  it("invokes each target with its own input at once, and ends when told to", async () => {
    const events: unknown[] = [];
    const target = invocable(async (event) => void events.push(event));
    const rule = {
      logicalId: "Ticks",
      everySeconds: 60,
      targets: [1, 2].map((dispatcher) => ({ id: `t${dispatcher}`, functionId: "Dispatcher", input: { dispatcher } })),
    };
    const ticking = tickRule(
      rule,
      () => target,
      () => {},
      new AbortController().signal,
    );
    await ticking.stop();
    expect(events).toEqual([{ dispatcher: 1 }, { dispatcher: 2 }]);
  });

  it("ticks on while an earlier invocation still runs, and waits for it at the end", async () => {
    const release: (() => void)[] = [];
    const ticks = new EventEmitter();
    const target = invocable(
      () =>
        new Promise<void>((resolve) => {
          release.push(resolve);
          ticks.emit(`tick ${release.length}`);
        }),
    );
    const third = once(ticks, "tick 3");
    const ticking = tickRule(
      rapid,
      () => target,
      () => {},
      new AbortController().signal,
    );
    await third;
    let stopped = false;
    const stop = ticking.stop().then(() => {
      stopped = true;
    });
    await Promise.resolve();
    expect(stopped).toBe(false);
    for (const done of release) done();
    await stop;
  });

  it("reports a failed invocation and ticks on", async () => {
    const problems: EngineProblem[] = [];
    const reported = new EventEmitter();
    const second = once(reported, "problem 2");
    const target = invocable(() => Promise.reject(new Error("cold start failed")));
    const report = (problem: EngineProblem): void => {
      problems.push(problem);
      reported.emit(`problem ${problems.length}`);
    };
    const ticking = tickRule(rapid, () => target, report, new AbortController().signal);
    await second;
    await ticking.stop();
    expect(problems[0]).toMatchObject({ kind: "invocation-failed", functionName: "dispatcher" });
  });
});

import { pause } from "../../runtime/pause.ts";
import { type Running, run } from "../running.ts";
import type { LocalRule } from "../template/rules.ts";
import type { Invocable } from "./lambda.ts";
import type { Report } from "./report.ts";

/**
 * Invokes a rule's targets with their constant inputs, at once and then at its rate. As with EventBridge the invocations are
 * asynchronous: one may still run when the next begins. A failed one is reported and not repeated, since the next tick is near.
 */
export const tickRule = (
  rule: LocalRule,
  targetOf: (functionId: string) => Invocable,
  report: Report,
  signal: AbortSignal,
): Running =>
  run(signal, async (stopping) => {
    const inFlight = new Set<Promise<void>>();
    const startedMs = performance.now();
    for (let tick = 1; !stopping.aborted; tick += 1) {
      for (const { functionId, input } of rule.targets) {
        const work = tickOnce(targetOf(functionId), input, report).finally(() => inFlight.delete(work));
        inFlight.add(work);
      }
      await pause(Math.max(0, startedMs + tick * rule.everySeconds * 1_000 - performance.now()), stopping);
    }
    await Promise.all(inFlight);
  });

async function tickOnce(target: Invocable, input: unknown, report: Report): Promise<void> {
  try {
    await target.invoke(input);
  } catch (error) {
    report({ kind: "invocation-failed", functionName: target.definition.name, error });
  }
}

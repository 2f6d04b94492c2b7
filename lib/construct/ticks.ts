import { Duration } from "aws-cdk-lib";
import { Rule, RuleTargetInput, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as FunctionTarget } from "aws-cdk-lib/aws-events-targets";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { DISPATCHER } from "../core/timing.ts";
import { TICK } from "./functions.ts";

/** The most targets of one rule (Amazon EventBridge quotas, "Targets per rule"). */
const TARGETS_PER_RULE_MAX = 5;

/** How often the reconciler looks over everything, against what a stream lost. */
const SWEEP_EVERY = Duration.hours(1);

/** A tick a minute for each of `dispatchers` dispatchers, which tells it its number; a rule for every five of them. */
export function tickDispatchers(scope: Construct, dispatcher: IFunction, dispatchers: number): void {
  for (let first = 0; first < dispatchers; first += TARGETS_PER_RULE_MAX) {
    const number = first / TARGETS_PER_RULE_MAX + 1;
    const rule = new Rule(scope, number === 1 ? "Tick" : `Tick${number}`, {
      description: "Starts the dispatchers, each for one minute",
      schedule: Schedule.rate(Duration.millis(DISPATCHER.minuteMs)),
    });
    for (let index = first; index < Math.min(first + TARGETS_PER_RULE_MAX, dispatchers); index++)
      rule.addTarget(target(dispatcher, { dispatcher: index, of: dispatchers }));
  }
}

/** The hourly sweep. */
export const tickSweep = (scope: Construct, reconciler: IFunction): Rule =>
  new Rule(scope, "Sweep", {
    description: "Looks over every schedule and every unannounced dead letter",
    schedule: Schedule.rate(SWEEP_EVERY),
    targets: [target(reconciler, { sweep: true })],
  });

const target = (fn: IFunction, input: Readonly<Record<string, unknown>>): FunctionTarget =>
  new FunctionTarget(fn, { ...TICK, event: RuleTargetInput.fromObject(input) });

import * as z from "zod";
import { LocalEngineError } from "../errors.ts";
import { resourcesOf, type Template } from "./document.ts";
import { functionOf } from "./event-sources.ts";
import type { LocalFunction } from "./functions.ts";
import type { Scope } from "./intrinsics.ts";
import { readProperties } from "./properties.ts";

/** What counts locally of `AWS::Events::Rule`. */
const ruleProperties = z.object({
  State: z.string().default("ENABLED"),
  ScheduleExpression: z.string().optional(),
  Targets: z.array(z.object({ Id: z.string(), Arn: z.string(), Input: z.string().optional() })).default([]),
});

/** A rule that invokes functions at a fixed rate. */
export interface LocalRule {
  readonly logicalId: string;
  readonly everySeconds: number;
  readonly targets: readonly { readonly id: string; readonly functionId: string; readonly input: unknown }[];
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { minute: 60, hour: 3_600, day: 86_400 };

/** The template's enabled scheduled rules. Throws {@link LocalEngineError} for a schedule other than a rate, or a target that is no function. */
export function readRules(template: Template, scope: Scope, functions: readonly LocalFunction[]): LocalRule[] {
  return resourcesOf(template, "AWS::Events::Rule").flatMap((resource) => {
    const where = `${resource.type} ${resource.logicalId}`;
    const { State, ScheduleExpression, Targets } = readProperties(resource, scope, ruleProperties);
    if (State !== "ENABLED" || ScheduleExpression === undefined) return [];
    const targets = Targets.map(({ Id, Arn, Input }) => ({
      id: Id,
      functionId: functionOf(Arn, functions, where).logicalId,
      input: Input === undefined ? {} : parseInput(Input, where),
    }));
    return [{ logicalId: resource.logicalId, everySeconds: rateSeconds(ScheduleExpression, where), targets }];
  });
}

/** EventBridge User Guide, "Rate expressions": `rate(value unit)`. */
function rateSeconds(expression: string, where: string): number {
  const [, value, unit = ""] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const seconds = Number(value) * (UNIT_SECONDS[unit] ?? Number.NaN);
  if (!(seconds > 0))
    throw new LocalEngineError(`${where}: ScheduleExpression must be a rate like rate(1 minute), got ${expression}`);
  return seconds;
}

function parseInput(input: string, where: string): unknown {
  try {
    return JSON.parse(input);
  } catch (error) {
    throw new LocalEngineError(`${where}: Input must be JSON, got ${input}`, { cause: error });
  }
}

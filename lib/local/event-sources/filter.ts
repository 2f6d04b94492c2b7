import * as z from "zod";
import { LocalEngineError } from "../errors.ts";

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const rule = z.union([
  scalar,
  z.strictObject({ exists: z.boolean() }),
  z.strictObject({ prefix: z.string() }),
  z.strictObject({ "anything-but": z.union([scalar, z.array(scalar)]) }),
]);

type Rule = z.output<typeof rule>;

/** A Lambda filter pattern: every leaf is a list of rules, one of which must hold. */
export interface Pattern {
  readonly [key: string]: Pattern | readonly Rule[];
}

const pattern: z.ZodType<Pattern> = z.lazy(() => z.record(z.string(), z.union([z.array(rule).min(1), pattern])));

/**
 * Reads a filter pattern (Lambda Developer Guide, "Filter rule syntax"): equality, `exists`, `prefix` and `anything-but`.
 * Throws {@link LocalEngineError} for any other rule.
 */
export function parsePattern(json: string): Pattern {
  const { success, data, error } = pattern.safeParse(JSON.parse(json));
  if (!success)
    throw new LocalEngineError(`filter pattern must use equality, exists, prefix or anything-but, got ${json}`, {
      cause: error,
    });
  return data;
}

/** Whether `value` meets every leaf of `pattern`. */
export function matches(pattern: Pattern, value: unknown): boolean {
  return Object.entries(pattern).every(([key, expected]) => {
    const found = field(value, key);
    return isRules(expected) ? expected.some((each) => holds(each, found)) : matches(expected, found);
  });
}

const isRules = (expected: Pattern | readonly Rule[]): expected is readonly Rule[] => Array.isArray(expected);

function field(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}

/** A list in the event meets a rule when one of its elements does (EventBridge User Guide, "Arrays in event patterns"). */
function holds(rule: Rule, found: unknown): boolean {
  if (Array.isArray(found)) return found.some((each) => holds(rule, each));
  if (typeof rule !== "object" || rule === null) return found === rule;
  if ("exists" in rule) return rule.exists === (found !== undefined);
  if (found === undefined) return false;
  if ("prefix" in rule) return typeof found === "string" && found.startsWith(rule.prefix);
  return ![rule["anything-but"]].flat().some((each) => each === found);
}

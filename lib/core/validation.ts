import * as z from "zod";
import { formatProblem, type Problem } from "./errors.ts";

const json = z.json();

/** Any JSON value, kept as it was given: `z.json` alone answers a copy that lacks members named `__proto__`. `rule` says what must be. */
export const jsonValue = (rule: string) =>
  z.custom<z.core.util.JSONType>((value) => json.safeParse(value).success, rule);

/** How much of an offending value a message quotes. */
const SHOWN_MAX_CHARACTERS = 80;

/** `value` as a message quotes it: JSON, cut to {@link SHOWN_MAX_CHARACTERS}. */
export function shown(value: unknown): string {
  // JSON has no word for NaN and the infinities, nor for big integers.
  const isNumber = typeof value === "number" || typeof value === "bigint";
  const text = isNumber ? String(value) : (JSON.stringify(value) ?? typeof value);
  return text.length > SHOWN_MAX_CHARACTERS ? `${text.slice(0, SHOWN_MAX_CHARACTERS)}...` : text;
}

/** The problems in `error`, each ending with what was got. The schema's own messages say what must be. */
export function problemsOf(error: z.ZodError, input: unknown): Problem[] {
  const problems = error.issues.flatMap((issue): Problem[] => {
    const path = issue.path.map(String);
    const unknownKeys = issue.code === "unrecognized_keys" ? issue.keys : [];
    if (unknownKeys.length > 0)
      return unknownKeys.map((key) => ({
        path: [...path, key].join("."),
        message: "is not known here; remove it or mend its spelling",
      }));
    const got = path.reduce<unknown>((value, key) => member(value, key), input);
    return [{ path: path.join("."), message: `${issue.message}, got ${got === undefined ? "nothing" : shown(got)}` }];
  });
  // Both sides of an intersection may say the same.
  return [...new Map(problems.map((problem) => [formatProblem(problem), problem])).values()];
}

/** A text that was taken apart before it was checked is quoted whole. */
const member = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : typeof value === "string" ? value : undefined;

import { editDistance } from "../core/edit-distance.ts";
import { DEFINITION_ATTRIBUTES } from "../core/schedule-definition.ts";
import { shown } from "../core/validation.ts";
import { UsageError } from "./cli.ts";

/** Attributes that are no text, or hold members that are none. All others are taken to the letter. */
const JSON_ATTRIBUTES = new Set([
  "enabled",
  "payload",
  "dst",
  "jitterSeconds",
  "misfire",
  "retry",
  "timeoutSeconds",
  "startDeadlineSeconds",
  "deleteAfterCompletion",
  "pauseAfterDeadLetters",
  "tags",
]);

/** Attributes that say when a schedule fires: setting one takes the place of the others. */
const TIMINGS = ["cron", "rate", "at"];

/**
 * A definition with `attribute=value` assignments applied, and the attributes in `unset` gone. `retry.maxAttempts=5` reaches
 * into a map. Values of attributes that are no text are read as JSON, and are text where they are none and do not begin like it. Throws `UsageError`.
 */
export function applyAssignments(
  definition: Readonly<Record<string, unknown>>,
  assignments: readonly string[],
  unset: readonly string[],
): Record<string, unknown> {
  let result: Record<string, unknown> = { ...definition };
  for (const path of unset) result = withMember(result, checkedPath(path), undefined);
  for (const assignment of assignments) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
    if (name === undefined || text === undefined)
      throw new UsageError(`an assignment must be attribute=value, got ${shown(assignment)}`);
    const path = checkedPath(name);
    const [attribute = ""] = path;
    if (TIMINGS.includes(attribute)) for (const other of TIMINGS) delete result[other];
    const isText = !JSON_ATTRIBUTES.has(attribute) || (attribute === "tags" && path.length > 1);
    result = withMember(result, path, isText ? text : jsonOrText(text));
  }
  return result;
}

function checkedPath(name: string): readonly string[] {
  const path = name.split(".");
  const [attribute = ""] = path;
  if (!DEFINITION_ATTRIBUTES.includes(attribute))
    throw new UsageError(
      `attribute must be one of ${DEFINITION_ATTRIBUTES.join(", ")}, got ${shown(attribute)}${suggestion(attribute)}`,
    );
  if (attribute === "scheduleId") throw new UsageError("scheduleId must stay: put the schedule again under another id");
  return path;
}

/** So many characters wrong are a slip; with more it is another word. */
const SLIPS_MAX = 2;
/** No attribute is half as long; longer input is not worth comparing. */
const COMPARED_MAX_CHARACTERS = 64;

function suggestion(attribute: string): string {
  const wanted = attribute.toLowerCase().slice(0, COMPARED_MAX_CHARACTERS);
  const [nearest] = DEFINITION_ATTRIBUTES.map((known) => ({ known, slips: editDistance(wanted, known.toLowerCase()) }))
    .filter(({ slips }) => slips <= SLIPS_MAX)
    .sort((a, b) => a.slips - b.slips);
  return nearest ? `; the nearest is ${nearest.known}` : "";
}

function withMember(
  map: Readonly<Record<string, unknown>>,
  [name = "", ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  if (rest.length > 0) {
    const inner = map[name];
    const standing = isMap(inner) ? inner : {};
    return { ...map, [name]: withMember(standing, rest, value) };
  }
  const { [name]: _, ...others } = map;
  return value === undefined ? others : { ...others, [name]: value };
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // A payload that was cut short or quoted wrongly must not become a text without a word.
    if (/^\s*[{["]/.test(text)) throw new UsageError(`a value that begins like JSON must be JSON: ${String(error)}`);
    // `misfire.policy=skip` is no JSON and needs no quotes; what the attribute does not take, the check names.
    return text;
  }
}

import type { Problem } from "../../core/errors.ts";
import { parseSchedule, type Schedule, SYSTEM_ATTRIBUTES } from "../../core/schedule.ts";
import { DEFINITION_ATTRIBUTES } from "../../core/schedule-definition.ts";
import { shown } from "../../core/validation.ts";
import type { ScheduleItem } from "../ports.ts";
import { limitsFor, type ManageSettings } from "./manager.ts";

/** What a definition that somebody wants to put turned out to be. `label` names it in messages, also where it has no id. */
export type CheckedDefinition =
  | {
      readonly kind: "valid";
      readonly label: string;
      readonly item: ScheduleItem;
      readonly schedule: Schedule;
      readonly warnings: readonly string[];
    }
  | { readonly kind: "invalid"; readonly label: string; readonly problems: readonly Problem[] };

/**
 * Checks definitions before any of them is written, each on its own and all for ids that come twice. Stricter than what
 * the engine accepts of a stored item: an attribute that nothing reads is most likely a slip of the pen, and a put would
 * drop it.
 */
export function checkDefinitions(
  inputs: readonly unknown[],
  settings: Pick<ManageSettings, "queues" | "historySeconds">,
): readonly CheckedDefinition[] {
  const firstOf = new Map<string, number>();
  return inputs.map((input, index) => {
    const checked = checkOne(input, index, settings);
    const id = idOf(input);
    if (id === undefined) return checked;
    const first = firstOf.get(id);
    if (first === undefined) {
      firstOf.set(id, index);
      return checked;
    }
    const problem = { path: "scheduleId", message: `must be unique, got ${shown(id)} also as number ${first + 1}` };
    const problems = checked.kind === "invalid" ? checked.problems : [];
    return { kind: "invalid", label: `${id} (number ${index + 1})`, problems: [...problems, problem] };
  });
}

function checkOne(
  input: unknown,
  index: number,
  settings: Pick<ManageSettings, "queues" | "historySeconds">,
): CheckedDefinition {
  const label = idOf(input) ?? `number ${index + 1}`;
  if (!isMap(input)) {
    const message = `must be a map of a schedule's attributes, got ${shown(input)}`;
    return { kind: "invalid", label, problems: [{ path: "", message }] };
  }
  const authored = authoredPart(input);
  const parsed = parseSchedule(authored, limitsFor(settings, authored));
  const unknown = Object.keys(input)
    .filter((name) => !DEFINITION_ATTRIBUTES.includes(name) && !SYSTEM_ATTRIBUTES.includes(name))
    .map((name) => ({ path: name, message: "is no attribute of a schedule; remove it or mend its spelling" }));
  if (parsed.kind === "invalid") return { kind: "invalid", label, problems: [...parsed.problems, ...unknown] };
  if (unknown.length > 0) return { kind: "invalid", label, problems: unknown };
  const { schedule } = parsed;
  const kept = SYSTEM_ATTRIBUTES.filter((name) => input[name] !== undefined).map(
    (name) => `${name}: is not the author's to write; what the schedule has is kept`,
  );
  const item = { ...authored, scheduleId: schedule.scheduleId };
  return { kind: "valid", label, item, schedule, warnings: [...schedule.warnings, ...kept] };
}

/** The author's attributes of `item`, in the order in which they are documented. */
export const authoredPart = (item: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    DEFINITION_ATTRIBUTES.filter((name) => item[name] !== undefined).map((name) => [name, item[name]]),
  );

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function idOf(input: unknown): string | undefined {
  if (!isMap(input)) return undefined;
  const { scheduleId } = input;
  return typeof scheduleId === "string" ? scheduleId : undefined;
}

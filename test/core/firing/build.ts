import { type Firing, parseTiming, type Timing, type TimingDefinition } from "../../../lib/core/firing/index.ts";
import { type Instant, instant } from "../../../lib/core/instant.ts";

/** The timing of a definition that must be valid. */
export function timingOf(definition: TimingDefinition): Timing {
  const result = parseTiming(definition);
  if (result.kind === "invalid") throw new Error(JSON.stringify(result.problems));
  return result.timing;
}

/** `path: message` of everything that is wrong with a definition; empty when nothing is. */
export function problemsOf(definition: TimingDefinition): string[] {
  const result = parseTiming(definition);
  return result.kind === "valid" ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
}

export const at = (text: string): Instant => instant(Date.parse(text));

/** Nominal instants as ISO texts. */
export const isoOf = (firings: readonly Firing[]): string[] =>
  firings.map(({ scheduledFor }) => new Date(scheduledFor).toISOString());

import type { Instant } from "../../core/instant.ts";
import { formatKey, type Occurrence } from "../../core/occurrence.ts";
import { nextFiringOf, type ScheduleLine, type ViewState } from "./state.ts";
import { details, duration, oneLine, timeOfDay } from "./words.ts";

/** A terminal's size. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What the frame needs besides its three lists: the title, three headings and the blank lines between. */
const FIXED_LINES = 7;

const COLUMN_GAP = "  ";

/** An id or an expression longer than this is cut, so that the columns after it are seen. */
const CELL_MAX_CHARACTERS = 36;

/** The live view as lines, none longer than the terminal is wide and no more than it is high. */
export function frame(state: ViewState, now: Instant, size: Size): string[] {
  const available = Math.max(3, size.rows - 1 - FIXED_LINES);
  const schedules = [...state.schedules.values()]
    .map((line) => ({ line, next: line.problem === undefined ? nextFiringOf(state, line.scheduleId) : undefined }))
    .sort((left, right) => urgency(left) - urgency(right));
  const recent = [...state.recent.values()].reverse().map((row) => runColumns(row, now));
  const deadLetters = [...state.deadLetters.values()].reverse().map((row) => [formatKey(row), ...details(row, now)]);
  const shares = share([schedules.length, deadLetters.length, recent.length], available);
  const lines = [
    title(state, now),
    "",
    ...section(
      `SCHEDULES (${schedules.length})`,
      wrongFirst(schedules, shares[0] ?? 0).map(({ line, next }) => scheduleColumns(line, next, now)),
      shares[0] ?? 0,
    ),
    "",
    ...section(`DEAD LETTERS (${deadLetters.length})`, deadLetters, shares[1] ?? 0),
    "",
    ...section("RECENT RUNS", recent, shares[2] ?? 0),
  ];
  return lines.map((line) => oneLineKeepingIndent(line, size.columns)).slice(0, Math.max(1, size.rows - 1));
}

function title(state: ViewState, now: Instant): string {
  const counts = [...state.ended].map(([status, count]) => `${count} ${status.toLowerCase().replace("_", "-")}`);
  return [`Punctual ${timeOfDay(now).slice(0, 8)}Z`, ...counts, ...latenessWords(state.latenessMs)].join(" | ");
}

/** `median 12 ms late, 99% within 40 ms`, once there is something to tell. */
export function latenessWords(latenessMs: readonly number[]): string[] {
  if (latenessMs.length === 0) return [];
  const sorted = [...latenessMs].sort((left, right) => left - right);
  const at = (fraction: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0;
  return [`median ${duration(at(0.5))} late, 99% within ${duration(at(0.99))}`];
}

/** What fires soonest first, then what does not fire again. */
const urgency = ({ next }: { next: Instant | undefined }): number => next ?? Number.MAX_VALUE;

/** What is wrong comes first, but takes no more than half of the `lines`: the rest goes on firing meanwhile. */
function wrongFirst<Listed extends { readonly line: ScheduleLine }>(
  listed: readonly Listed[],
  lines: number,
): Listed[] {
  const wrong = listed.filter(({ line }) => line.problem !== undefined);
  const right = listed.filter(({ line }) => line.problem === undefined);
  const shown = Math.max(Math.floor(lines / 2), lines - right.length);
  return [...wrong.slice(0, shown), ...right, ...wrong.slice(shown)];
}

function scheduleColumns(line: ScheduleLine, next: Instant | undefined, now: Instant): string[] {
  const firing = next === undefined ? "no firing ahead" : `next in ${duration(Math.max(0, next - now))}`;
  return [
    oneLine(line.scheduleId, CELL_MAX_CHARACTERS),
    oneLine(line.when, CELL_MAX_CHARACTERS),
    line.state,
    line.problem ?? firing,
  ];
}

const runColumns = (row: Occurrence, now: Instant): string[] => [
  timeOfDay(row.scheduledFor),
  row.scheduleId,
  row.status,
  details(row, now).join(", "),
];

function section(heading: string, rows: readonly (readonly string[])[], lines: number): string[] {
  const shown = rows.slice(0, lines);
  const more = rows.length > shown.length && heading !== "RECENT RUNS" ? ` (${shown.length} shown)` : "";
  return [heading + more, ...align(shown).map((line) => COLUMN_GAP + line)];
}

/** Rows as lines whose columns stand below each other; the last column is left as long as it is. */
function align(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(widest[column] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join(COLUMN_GAP),
  );
}

/** Deals out `available` lines: each list gets what it needs up to a third, and what others leave goes to the last first. */
function share(wanted: readonly number[], available: number): number[] {
  const dealt = wanted.map((want) => Math.min(want, Math.floor(available / wanted.length)));
  let left = available - dealt.reduce((sum, lines) => sum + lines, 0);
  for (let index = wanted.length - 1; index >= 0; index -= 1) {
    const extra = Math.min(left, (wanted[index] ?? 0) - (dealt[index] ?? 0));
    dealt[index] = (dealt[index] ?? 0) + extra;
    left -= extra;
  }
  return dealt;
}

function oneLineKeepingIndent(line: string, columns: number): string {
  const indent = line.length - line.trimStart().length;
  return line.slice(0, indent) + oneLine(line.slice(indent), columns - indent);
}

import { type Instant, toIso } from "../../core/instant.ts";

/** `rows` under `header`, in columns as wide as their widest cell; trailing spaces are cut. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** `name: value` lines with the values in one column; members that are `undefined` are left out. */
export function facts(members: Readonly<Record<string, string | undefined>>): string[] {
  const given = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const width = Math.max(0, ...given.map(([name]) => name.length));
  return given.map(([name, value]) => `${`${name}:`.padEnd(width + 1)} ${value}`);
}

/** An instant in UTC for people: `2026-11-29T09:00:00Z`, with milliseconds only where there are any. */
export const utc = (at: Instant): string => toIso(at).replace(/\.000Z$/, "Z");

/** A value as JSON, text without quotes where that is clear. */
export const plainValue = (value: unknown): string =>
  typeof value === "string" && value !== "" ? value : (JSON.stringify(value) ?? "");

/** `1 schedule`, `2 schedules`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

import type { Command } from "commander";
import type { SchedulerClient, StandingSchedule } from "../client/index.ts";
import { UsageError } from "./cli.ts";

/** Which schedules a verb is for: named ones, or all that a flag says. */
export interface Selection {
  readonly group?: string;
  readonly queue?: string;
  readonly all?: boolean;
}

/** Adds the flags of {@link Selection}. */
export const withSelection = (command: Command): Command =>
  command
    .option("--group <name>", "every schedule of a group")
    .option("--queue <name>", "every schedule of a queue")
    .option("--all", "every schedule");

const PAGE = 1_000;
/** How many pages one command goes through: a million schedules. */
const PAGES_MAX = 1_000;

/** The schedules that `group` narrows to, or all, in the order of their ids, at most `limit`; and whether there are more. */
export async function listAll(
  client: SchedulerClient,
  { group, limit = Number.POSITIVE_INFINITY }: { readonly group?: string | undefined; readonly limit?: number },
): Promise<{ schedules: readonly StandingSchedule[]; more: boolean }> {
  const found: StandingSchedule[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX && found.length < limit; page += 1) {
    const read = await client.list({
      limit: Math.min(PAGE, limit - found.length),
      ...(group !== undefined && { group }),
      ...(cursor !== undefined && { cursor }),
    });
    found.push(...read.rows);
    cursor = read.cursor;
    if (cursor === undefined) break;
  }
  found.sort((left, right) => (left.item.scheduleId < right.item.scheduleId ? -1 : 1));
  return { schedules: found, more: cursor !== undefined };
}

/** The ids a verb works on. Throws `UsageError` where none are named, or both ids and a flag. */
export async function selectIds(
  client: SchedulerClient,
  ids: readonly string[],
  { group, queue, all = false }: Selection,
): Promise<readonly string[]> {
  const flagged = all || group !== undefined || queue !== undefined;
  if (flagged && ids.length > 0) throw new UsageError("name schedules, or say --group, --queue or --all: not both");
  if (!flagged && ids.length === 0) throw new UsageError("name schedules, or say --group, --queue or --all");
  if (!flagged) return ids;
  const { schedules } = await listAll(client, { group });
  return schedules
    .filter(({ item }) => queue === undefined || (item["queue"] ?? "default") === queue)
    .map(({ item }) => item.scheduleId);
}

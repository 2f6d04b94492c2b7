import { keyOf, type SchedulerClient } from "../client/index.ts";
import { formatKey, type OccurrenceKey } from "../core/occurrence.ts";
import { UsageError } from "./cli.ts";

/** The most dead letters of one schedule that one command takes on. */
const OPEN_MAX = 1_000;

/**
 * The dead letters that `names` mean: each an occurrence, or a schedule's id, which stands for its one open dead letter, or
 * with `all` for every one of them. Throws `UsageError` where an id stands for none or, without `all`, for several.
 */
export async function deadLetterKeys(
  client: SchedulerClient,
  names: readonly string[],
  all: boolean,
): Promise<readonly OccurrenceKey[]> {
  const keys: OccurrenceKey[] = [];
  for (const name of names) keys.push(...(name.includes("@") ? [keyOf(name)] : await openOf(client, name, all)));
  return keys;
}

async function openOf(client: SchedulerClient, scheduleId: string, all: boolean): Promise<readonly OccurrenceKey[]> {
  const { rows } = await client.deadLetters.list({ scheduleId, limit: OPEN_MAX });
  if (rows.length === 0) throw new UsageError(`schedule ${scheduleId} has no open dead letter`);
  if (rows.length > 1 && !all)
    throw new UsageError(
      `schedule ${scheduleId} has ${rows.length} open dead letters: name them, or say --all (${rows.slice(0, 3).map(formatKey).join(", ")}${rows.length > 3 ? ", ..." : ""})`,
    );
  return rows.map(({ firing }) => ({ scheduleId, firing }));
}

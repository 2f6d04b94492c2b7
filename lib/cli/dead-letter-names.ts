import { keyOf, type SchedulerClient } from "../client/index.ts";
import { PunctualError } from "../core/errors.ts";
import { formatKey, type OccurrenceKey } from "../core/occurrence.ts";
import { type Cli, UsageError } from "./cli.ts";

class NoDeadLetterError extends PunctualError {
  constructor(scheduleId: string) {
    super("NoDeadLetter", `schedule ${scheduleId} has no open dead letter`);
  }
}

/** The most dead letters of one schedule that one command takes on. */
const OPEN_MAX = 1_000;

/**
 * The dead letters that `names` mean: each an occurrence, or a schedule's id, which stands for its one open dead letter, or
 * with `all` for every one of them. Throws `NoDeadLetterError` where an id stands for none, `UsageError` where it stands for several without `all`.
 */
export async function deadLetterKeys(
  cli: Pick<Cli, "note">,
  client: SchedulerClient,
  names: readonly string[],
  all: boolean,
): Promise<readonly OccurrenceKey[]> {
  const keys: OccurrenceKey[] = [];
  for (const name of names) keys.push(...(name.includes("@") ? [keyOf(name)] : await openOf(cli, client, name, all)));
  return keys;
}

async function openOf(
  cli: Pick<Cli, "note">,
  client: SchedulerClient,
  scheduleId: string,
  all: boolean,
): Promise<readonly OccurrenceKey[]> {
  const { rows, more } = await client.deadLetters.list({ scheduleId, limit: OPEN_MAX });
  if (rows.length === 0) throw new NoDeadLetterError(scheduleId);
  if (rows.length > 1 && !all)
    throw new UsageError(
      `schedule ${scheduleId} has ${rows.length} open dead letters: name them, or say --all (${rows.slice(0, 3).map(formatKey).join(", ")}${rows.length > 3 ? ", ..." : ""})`,
    );
  if (more) cli.note(`schedule ${scheduleId} has more than ${OPEN_MAX} open dead letters: say it again for the others`);
  return rows.map(({ firing }) => ({ scheduleId, firing }));
}

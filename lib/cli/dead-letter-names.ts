import { keyOf, type SchedulerClient } from "../client/index.ts";
import { PunctualError } from "../core/errors.ts";
import { formatKey, type OccurrenceKey } from "../core/occurrence.ts";
import { type Cli, UsageError } from "./cli.ts";

class NoDeadLetterError extends PunctualError {
  constructor(scheduleId: string) {
    super("NoDeadLetter", `schedule ${scheduleId} has no open dead letter`);
  }
}

/** How help calls what {@link deadLetterKeys} understands. */
export const DEAD_LETTER_NAME = "<scheduleId>@<firing>, or a schedule's id where just one is open";

/** The most dead letters of one schedule that one command takes on. */
const OPEN_MAX = 1_000;

/**
 * The dead letters that `names` mean: each an occurrence, or a schedule's id, which stands for its one open dead letter, or
 * with `all` for every one of them. What is wrong with one of them is said to keep all from being `verb`ed ("replayed"). Throws `NoDeadLetterError` where an id stands for none, `UsageError` where it stands for several without `all`.
 */
export async function deadLetterKeys(
  cli: Pick<Cli, "note">,
  client: SchedulerClient,
  names: readonly string[],
  { all = false, verb }: { readonly all?: boolean; readonly verb: string },
): Promise<readonly OccurrenceKey[]> {
  try {
    const keys: OccurrenceKey[] = [];
    for (const name of names)
      keys.push(
        ...(name.includes("@") ? [keyOf(name)] : await openOf(cli, client, name, all, "name them, or say --all")),
      );
    return keys;
  } catch (error) {
    // The names before the wrong one were right: nobody should take them for done.
    cli.note(`nothing was ${verb}`);
    throw error;
  }
}

/** The one dead letter that `name` means: an occurrence, or a schedule's id. Throws as {@link deadLetterKeys} does. */
export async function deadLetterKey(
  cli: Pick<Cli, "note">,
  client: SchedulerClient,
  name: string,
): Promise<OccurrenceKey> {
  if (name.includes("@")) return keyOf(name);
  const [key] = await openOf(cli, client, name, false, "name one");
  return key;
}

async function openOf(
  cli: Pick<Cli, "note">,
  client: SchedulerClient,
  scheduleId: string,
  all: boolean,
  cure: string,
): Promise<readonly [OccurrenceKey, ...OccurrenceKey[]]> {
  const { rows, more } = await client.deadLetters.list({ scheduleId, limit: OPEN_MAX });
  const [first, ...others] = rows.map(({ firing }) => ({ scheduleId, firing }));
  if (first === undefined) throw new NoDeadLetterError(scheduleId);
  if (rows.length > 1 && !all)
    throw new UsageError(
      `schedule ${scheduleId} has ${rows.length} open dead letters: ${cure} (${rows.slice(0, 3).map(formatKey).join(", ")}${rows.length > 3 ? ", ..." : ""})`,
    );
  if (more) cli.note(`schedule ${scheduleId} has more than ${OPEN_MAX} open dead letters: say it again for the others`);
  return [first, ...others];
}

import { authoredPart, type CheckedDefinition, type SchedulerClient, ScheduleVersionError } from "../client/index.ts";
import { type Cli, ReportedError } from "./cli.ts";
import { diffLines } from "./render/diff.ts";
import { problemLines } from "./render/problems.ts";
import { counted } from "./render/text.ts";

type Valid = Extract<CheckedDefinition, { kind: "valid" }>;

/**
 * Shows what a put of these definitions changes, and puts them unless that is all that was asked. Nothing is written where
 * any is invalid; every problem is printed. Throws `ReportedError` then, and where the store refused one; with `ifVersion`,
 * which is for one definition, `ScheduleVersionError` where another one stands by now.
 */
export async function putWithDiff(
  cli: Cli,
  client: SchedulerClient,
  inputs: readonly unknown[],
  { dryRun = false, ifVersion }: { readonly dryRun?: boolean; readonly ifVersion?: string },
): Promise<void> {
  const checked = client.check(inputs);
  const problems = problemLines(checked);
  if (problems.length > 0) {
    for (const line of problems) cli.note(line);
    cli.note("nothing was written");
    throw new ReportedError();
  }
  const valid = checked.filter((one): one is Valid => one.kind === "valid");
  for (const { label, warnings } of valid) for (const warning of warnings) cli.note(`warning: ${label}: ${warning}`);
  const versions = await printDiffs(cli, client, valid);
  const [only] = valid;
  if (ifVersion !== undefined && only !== undefined && versions[0] !== ifVersion)
    throw new ScheduleVersionError(only.schedule.scheduleId, ifVersion, versions[0]);
  if (dryRun) {
    cli.note(`nothing was written (--dry-run): ${counted(valid.length, "schedule")}`);
    return;
  }
  if (ifVersion !== undefined && only !== undefined) {
    await client.put(only.schedule.definition, { ifVersion });
    return cli.print("put 1 schedule");
  }
  const outcomes = await client.putMany(valid.map(({ schedule }) => schedule.definition));
  const failed = outcomes.flatMap((outcome) => (outcome.kind === "failed" ? [outcome] : []));
  for (const { scheduleId, error } of failed) cli.note(`${scheduleId}: was not put: ${error.message}`);
  cli.print(`put ${counted(outcomes.length - failed.length, "schedule")}`);
  if (failed.length > 0) throw new ReportedError();
}

/** Answers the versions that stand, in the order of `valid`. */
async function printDiffs(
  cli: Cli,
  client: SchedulerClient,
  valid: readonly Valid[],
): Promise<readonly (string | undefined)[]> {
  const standing = await client.getMany(valid.map(({ schedule }) => schedule.scheduleId));
  const now = cli.io.now();
  for (const [index, { item, schedule }] of valid.entries()) {
    const found = standing[index];
    const before = found && {
      attributes: authoredPart(found.item),
      ...(found.parsed.kind === "valid" && { schedule: found.parsed.schedule }),
    };
    // A put keeps an operator's pause.
    const paused = found?.parsed.kind === "valid" && found.parsed.schedule.paused;
    const after = { attributes: item, schedule: { ...schedule, paused } };
    for (const line of diffLines({ before, after }, now)) cli.print(line);
  }
  return standing.map((found) => found?.version);
}

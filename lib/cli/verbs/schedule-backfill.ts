import type { Command } from "commander";
import { DateTime } from "luxon";
import {
  BACKFILL_LIMIT_MAX,
  type BackfillCounts,
  type BackfillOutcome,
  ScheduleNotFoundError,
} from "../../client/index.ts";
import { toIso } from "../../core/instant.ts";
import { shown } from "../../core/validation.ts";
import { type Cli, ReportedError, type TargetFlags, UsageError } from "../cli.ts";
import { type Format, wholeNumber, withFormat, withTarget } from "../options.ts";
import { counted, utc } from "../render/text.ts";

interface BackfillFlags extends TargetFlags {
  readonly format: Format;
  readonly from: string;
  readonly to?: string;
  readonly limit?: number;
  readonly concurrency: number;
  readonly includeCoalesced?: boolean;
  readonly rerun?: boolean;
  readonly dryRun?: boolean;
}

const CONCURRENCY_DEFAULT = 10;
const CONCURRENCY_MAX = 1_000;

/** `schedule backfill ID`: runs the firings of a range that did not run. */
export const addScheduleBackfill = (parent: Command, cli: Cli): void => {
  withFormat(withTarget(parent.command("backfill")))
    .description("run the firings of a range that did not run, each once; repeating it goes on where it stopped")
    .argument("<id>", "the schedule")
    .requiredOption("--from <date-time>", "first instant: ISO, with an offset or local to the schedule's time zone")
    .option("--to <date-time>", "up to but not at this instant (default: now)")
    .option("--limit <number>", "at most this many runs, oldest first", wholeNumber(1, BACKFILL_LIMIT_MAX))
    .option("--concurrency <number>", "runs under way at a time", wholeNumber(1, CONCURRENCY_MAX), CONCURRENCY_DEFAULT)
    .option("--include-coalesced", "also the firings that a coalesced run stood for")
    .option("--rerun", "also what is older than the kept history: what ran before runs again")
    .option("--dry-run", "say what would run, and stop there")
    .action((id: string, flags: BackfillFlags) => run(cli, id, flags));
};

async function run(cli: Cli, id: string, flags: BackfillFlags): Promise<void> {
  const { client } = await (flags.dryRun ? cli.connect(flags) : cli.connectToWrite(flags));
  const standing = await client.get(id);
  if (standing === undefined) throw new ScheduleNotFoundError(id);
  const zone = standing.parsed.kind === "valid" ? standing.parsed.schedule.timing.timezone : "UTC";
  const { from, to, limit, concurrency, includeCoalesced, rerun, dryRun } = flags;
  const outcome = await client.backfill(id, {
    from: dateOf("--from", from, zone),
    ...(to !== undefined && { to: dateOf("--to", to, zone) }),
    ...(limit !== undefined && { limit }),
    ...(includeCoalesced !== undefined && { includeCoalesced }),
    ...(rerun !== undefined && { rerun }),
    ...(dryRun !== undefined && { dryRun }),
    concurrency,
    onProgress: ({ finished, failed, wanted }) => {
      if (wanted > 0) cli.note(`${finished} of ${wanted} finished${failed > 0 ? `, ${failed} not succeeded` : ""}`);
    },
  });
  if (flags.format === "json") cli.printJson({ ...outcome, wanted: outcome.wanted.map(toIso) });
  else for (const line of told(outcome, dryRun === true)) cli.print(line);
  if (outcome.progress.failed > 0) throw new ReportedError();
}

function dateOf(flag: string, text: string, zone: string): Date {
  const parsed = DateTime.fromISO(text, { zone });
  if (!parsed.isValid) throw new UsageError(`${flag} must be an ISO date-time, got ${shown(text)}`);
  return parsed.toJSDate();
}

function told({ counts, wanted, more, progress }: BackfillOutcome, dryRun: boolean): string[] {
  const rest = more ? ["there are more beyond the limit: the same command goes on with them"] : [];
  const left = leftAlone(counts);
  if (dryRun) return [`would run ${counted(wanted.length, "firing")}${left}`, ...wanted.map(utc), ...rest];
  const { finished, failed } = progress;
  const bad = failed > 0 ? `, ${failed} of them not succeeded` : "";
  return [`ran ${counted(finished, "firing")}${bad}${left}`, ...rest];
}

/** What a backfill leaves alone, in brackets; nothing where there is nothing. */
function leftAlone({ done, covered, underWay }: BackfillCounts): string {
  const parts = [
    ...(done > 0 ? [`${done} had run`] : []),
    ...(covered > 0 ? [`a coalesced run stood for ${covered}`] : []),
    ...(underWay > 0 ? [`${underWay} under way`] : []),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

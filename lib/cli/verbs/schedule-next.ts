import { type Command, Option } from "commander";
import { DateTime } from "luxon";
import { ScheduleNotFoundError } from "../../client/index.ts";
import { InvalidScheduleError } from "../../core/errors.ts";
import {
  describeTiming,
  GAP_POLICIES,
  type GapPolicy,
  parseTiming,
  REPEATED_POLICIES,
  type RepeatedPolicy,
  type Timing,
} from "../../core/firing/index.ts";
import { type Instant, instant } from "../../core/instant.ts";
import { shown } from "../../core/validation.ts";
import { type Cli, type TargetFlags, UsageError } from "../cli.ts";
import { upcoming } from "../firings.ts";
import { type Format, wholeNumber, withFormat, withTarget } from "../options.ts";
import { firingJson, firingsTable } from "../render/firings.ts";

interface TimingFlags {
  readonly cron?: string;
  readonly rate?: string;
  readonly at?: string;
  readonly timezone?: string;
  readonly dstGap?: GapPolicy;
  readonly dstRepeated?: RepeatedPolicy;
  readonly startAt?: string;
  readonly endAt?: string;
  readonly jitterSeconds?: number;
  readonly id?: string;
}

interface NextFlags extends TargetFlags, TimingFlags {
  readonly format: Format;
  readonly from?: string;
  readonly count: number;
}

const COUNT_DEFAULT = 10;
const COUNT_MAX = 1_000;
const DAY_SECONDS = 86_400;

/** `schedule next`: the coming firings of a schedule that stands, or of an expression, without writing anything. */
export const addScheduleNext = (parent: Command, cli: Cli): void => {
  withFormat(withTarget(parent.command("next")))
    .description("print the coming firings of a schedule, or of an expression that no schedule has yet")
    .argument("[id]", "the schedule")
    .option("--cron <expression>", "5 fields, 6 with seconds first, a nickname, or cron(...) as AWS has it")
    .option("--rate <interval>", "'5 minutes', rate(5 minutes), PT5M")
    .option("--at <date-time>", "once: ISO, local or with an offset")
    .option("--timezone <name>", "IANA name (default: UTC)")
    .addOption(new Option("--dst-gap <policy>", "a time that the clocks skip").choices([...GAP_POLICIES]))
    .addOption(new Option("--dst-repeated <policy>", "a time that comes twice").choices([...REPEATED_POLICIES]))
    .option("--start-at <instant>", "no firing before it")
    .option("--end-at <instant>", "no firing after it")
    .option("--jitter-seconds <number>", "spread by up to this", wholeNumber(0, DAY_SECONDS))
    .option("--id <id>", "the id that H and jitter are a hash of")
    .option("--from <date-time>", "firings after it: ISO, local or with an offset (default: now)")
    .option("--count <number>", "how many", wholeNumber(1, COUNT_MAX), COUNT_DEFAULT)
    .action(async (id: string | undefined, flags: NextFlags) => {
      const timing = id === undefined ? timingOf(flags) : await timingOfSchedule(cli, id, flags);
      const after = flags.from === undefined ? cli.io.now() : fromOf(flags.from, timing.timezone);
      const firings = upcoming(timing, after, flags.count);
      if (flags.format === "json") return cli.printJson(firings.map((firing) => firingJson(firing, timing.timezone)));
      cli.print(describeTiming(timing));
      if (firings.length > 0) cli.print(firingsTable(firings, timing.timezone));
      if (firings.length < flags.count)
        cli.note(firings.length === 0 ? "it does not fire any more" : "it does not fire after that");
    });
};

function timingOf({ id, dstGap, dstRepeated, ...flags }: NextFlags): Timing {
  const { cron, rate, at, timezone, startAt, endAt, jitterSeconds } = flags;
  const dst = dstGap === undefined && dstRepeated === undefined ? {} : { dst: { gap: dstGap, repeated: dstRepeated } };
  const definition = { scheduleId: id, cron, rate, at, timezone, startAt, endAt, jitterSeconds, ...dst };
  const parsed = parseTiming(definition);
  if (parsed.kind === "invalid") throw new InvalidScheduleError(id, parsed.problems);
  return parsed.timing;
}

async function timingOfSchedule(cli: Cli, id: string, flags: NextFlags): Promise<Timing> {
  const names = [
    "cron",
    "rate",
    "at",
    "timezone",
    "dstGap",
    "dstRepeated",
    "startAt",
    "endAt",
    "jitterSeconds",
  ] as const;
  const both = [...names, "id" as const].filter((name) => flags[name] !== undefined);
  if (both.length > 0)
    throw new UsageError(`say either a schedule's id or an expression, not both (${both.join(", ")})`);
  const { client } = await cli.connect(flags);
  const standing = await client.get(id);
  if (standing === undefined) throw new ScheduleNotFoundError(id);
  const { parsed } = standing;
  if (parsed.kind === "invalid") throw new InvalidScheduleError(id, parsed.problems);
  if (!parsed.schedule.enabled) cli.note(`${id} is disabled: it fires again once it is enabled`);
  if (parsed.schedule.paused) cli.note(`${id} is paused: it fires again once it is resumed`);
  return parsed.schedule.timing;
}

function fromOf(text: string, timezone: string): Instant {
  const parsed = DateTime.fromISO(text, { zone: timezone });
  if (!parsed.isValid) throw new UsageError(`--from must be an ISO date-time, got ${shown(text)}`);
  return instant(parsed.toMillis());
}

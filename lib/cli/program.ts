import { Command } from "commander";
import type { Cli } from "./cli.ts";
import { addDeadLetterDiscard } from "./verbs/dead-letter-discard.ts";
import { addDeadLetterList } from "./verbs/dead-letter-list.ts";
import { addDeadLetterReplay } from "./verbs/dead-letter-replay.ts";
import { addOccurrenceCancel } from "./verbs/occurrence-cancel.ts";
import { addOccurrenceList } from "./verbs/occurrence-list.ts";
import { addDeadLetterShow, addOccurrenceShow } from "./verbs/occurrence-show.ts";
import { addScheduleBackfill } from "./verbs/schedule-backfill.ts";
import { addScheduleDelete } from "./verbs/schedule-delete.ts";
import { addScheduleList } from "./verbs/schedule-list.ts";
import { addScheduleNext } from "./verbs/schedule-next.ts";
import { addSchedulePause } from "./verbs/schedule-pause.ts";
import { addSchedulePut } from "./verbs/schedule-put.ts";
import { addScheduleResume } from "./verbs/schedule-resume.ts";
import { addScheduleRun } from "./verbs/schedule-run.ts";
import { addScheduleSet } from "./verbs/schedule-set.ts";
import { addScheduleShow } from "./verbs/schedule-show.ts";
import { addScheduleValidate } from "./verbs/schedule-validate.ts";

type AddVerb = (parent: Command, cli: Cli) => void;

/** The verbs by what they are for, in the order in which help lists them. */
const VERBS: Readonly<Record<string, { readonly description: string; readonly verbs: readonly AddVerb[] }>> = {
  schedule: {
    description: "what fires when",
    verbs: [
      addSchedulePut,
      addScheduleSet,
      addScheduleList,
      addScheduleShow,
      addScheduleDelete,
      addSchedulePause,
      addScheduleResume,
      addScheduleRun,
      addScheduleBackfill,
      addScheduleNext,
      addScheduleValidate,
    ],
  },
  occurrence: {
    description: "what became of it: the runs",
    verbs: [addOccurrenceList, addOccurrenceShow, addOccurrenceCancel],
  },
  "dead-letter": {
    description: "runs that ended badly and wait for someone",
    verbs: [addDeadLetterList, addDeadLetterShow, addDeadLetterReplay, addDeadLetterDiscard],
  },
};

/** The command line's grammar. It throws commander's errors instead of ending the process. */
export function createProgram(cli: Cli): Command {
  const program = new Command("punctual")
    .description("Schedules jobs on AWS: schedules in DynamoDB, runs through SQS.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void cli.io.stdout.write(text),
      writeErr: (text) => void cli.io.stderr.write(text),
    });
  for (const [name, { description, verbs }] of Object.entries(VERBS)) {
    const parent = program.command(name).description(description);
    for (const add of verbs) add(parent, cli);
  }
  return program;
}

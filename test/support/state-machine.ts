import { type OccurrenceEventType, TRANSITIONS, type TransitionRule } from "../../lib/core/machine.ts";
import { isTerminal, OCCURRENCE_STATUSES, type OccurrenceStatus } from "../../lib/core/occurrence.ts";

/** What each event is, in the words of the documentation. */
const EVENTS: Readonly<Record<OccurrenceEventType, string>> = {
  claim:
    "A dispatcher takes an attempt: attempts and fencing token grow by one. From `RUNNING` only once the lease ran out.",
  "claim-again": "Nobody started the attempt in time: it is sent once more, with the same token and deduplication id.",
  queued: "SQS has accepted the second send: the message is left alone for the queue lease.",
  release: "SQS refused the message: the attempt is refunded, the token is not.",
  reject: "SQS can never take the message.",
  enqueued: "The queue promises no more than delivery: the run is done once SQS has it.",
  start: "A runner received the message of the row's own token. Any other message does nothing.",
  renew: "The runner goes on: lease and due time move together.",
  succeed: "The job returned.",
  fail: "The job threw: it is retried, was permanent, or has used up its attempts.",
  "worker-lost": "The lease of the last attempt ran out.",
  "never-started": "The start deadline passed: the token grows, so that each such end has a name of its own.",
  skip: "A head is passed over: edited, paused, disabled, deleted, misfired or overlapping.",
  decide: "A head met its misfire policy, and the decision is put on it.",
  defer: "It is not its turn yet.",
  cancel:
    "Somebody wants it no more: the token grows, so that whatever still runs cannot report. Refused where the message went to plain readers of SQS.",
  "stand-down":
    "The cancelled run's job has ended, and its runner says so: its turn is free before its lease has run out.",
  replay: "Somebody wants a dead letter once more: attempts start at zero, the token is kept.",
  backfill: "Somebody wants a firing that was passed over.",
  discard: "Nobody needs the dead letter any more: it may expire.",
};

const rules: readonly (readonly [string, string, TransitionRule])[] = Object.entries(EVENTS).map(([type, meaning]) => {
  const found = Object.entries(TRANSITIONS).find(([name]) => name === type);
  if (found === undefined) throw new Error(`${type} must be an event of the machine's table`);
  return [type, meaning, found[1]];
});

/** Where a rule leads from one state: back to it where the rule changes no state, else to each of its targets. */
const targetsFrom = (from: OccurrenceStatus, { from: all, to }: TransitionRule): readonly OccurrenceStatus[] =>
  to.length > 1 && all.length === to.length && to.every((status) => all.includes(status)) ? [from] : to;

function arrows(): string[] {
  const labels = new Map<string, string[]>();
  for (const [type, , rule] of rules)
    for (const from of rule.from)
      for (const to of targetsFrom(from, rule)) {
        const arrow = `${from} --> ${to}`;
        labels.set(arrow, [...(labels.get(arrow) ?? []), type]);
      }
  return [...labels].map(([arrow, types]) => `    ${arrow}: ${types.join(", ")}`);
}

/** The documentation's page on the machine, drawn from its table. */
export const renderStateMachine = (): string => `# An occurrence's states

This page is drawn from the table that drives the code (\`TRANSITIONS\` in \`lib/core/machine.ts\`); a test fails where the
two differ, and \`npx vitest run --project unit test/core/state-machine.test.ts -u\` draws it anew.

One transition is one conditional write. Its condition names the state, the fencing token and, where somebody holds the row,
the holder; losing it is an ordinary outcome. A row that is not finished carries \`dueAt\`, the next instant at which a
dispatcher looks at it; a finished one carries none.

\`\`\`mermaid
stateDiagram-v2
    [*] --> PENDING
${arrows().join("\n")}
${OCCURRENCE_STATUSES.filter(isTerminal)
  .map((status) => `    ${status} --> [*]`)
  .join("\n")}
\`\`\`

| event | from | to | what happened |
|---|---|---|---|
${rules
  .map(([type, meaning, { from, to }]) => `| \`${type}\` | ${from.join(", ")} | ${to.join(", ")} | ${meaning} |`)
  .join("\n")}
`;

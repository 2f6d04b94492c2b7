import { toIso } from "../../core/instant.ts";
import { type AttemptLogEntry, formatKey, type Occurrence } from "../../core/occurrence.ts";
import { facts, table, utc } from "./text.ts";

/** Runs as a table. */
export function occurrencesTable(rows: readonly Occurrence[]): string {
  return table(
    ["OCCURRENCE", "STATUS", "ATTEMPTS", "STARTED (UTC)", "LATE", "WHY"],
    rows.map((row) => [
      formatKey(row),
      row.status,
      `${row.attempts}/${row.maxAttempts}`,
      row.startedAt === undefined ? "-" : utc(row.startedAt),
      // Each host goes by the earliest that it can be at the store: a start may seem to lie some milliseconds before its instant.
      row.startedAt === undefined ? "-" : duration(Math.max(0, row.startedAt - row.scheduledFor)),
      reasonOf(row),
    ]),
  );
}

/** Dead letters as a table. */
export function deadLettersTable(rows: readonly Occurrence[]): string {
  return table(
    ["OCCURRENCE", "DIED (UTC)", "REASON", "ATTEMPTS", "ERROR"],
    rows.map((row) => [
      formatKey(row),
      row.deadLetteredAt === undefined ? "-" : utc(row.deadLetteredAt),
      row.deadLetterReason ?? "-",
      `${row.attempts}/${row.maxAttempts}`,
      row.lastError === undefined ? "-" : oneLine(`${row.lastError.name}: ${row.lastError.message}`),
    ]),
  );
}

/** Everything about one run, for people: its attempts, and where `inCloudWatch` the command that fetches each one's logs. */
export function occurrenceDetails(row: Occurrence, inCloudWatch: boolean): string {
  const lines = [
    `${formatKey(row)} (${row.status})`,
    ...facts({
      occurrenceId: row.occurrenceId,
      kind: row.kind,
      "scheduled for": utc(row.scheduledFor),
      "due at": row.dueAt === undefined ? undefined : utc(row.dueAt),
      "ended at": row.endedAt === undefined ? undefined : utc(row.endedAt),
      job: row.job,
      queue: row.queue,
      payload: row.payload,
      attempts: `${row.attempts} of ${row.maxAttempts}`,
      "fencing token": String(row.fencingToken),
      version: row.scheduleVersion,
      reason: row.deadLetterReason ?? row.skipReason ?? row.cancelReason,
      misfire: misfireText(row),
      "last error": row.lastError && `${row.lastError.name}: ${row.lastError.message}`,
      output: row.outputDropped ? "dropped: it was too large to keep" : row.output,
    }).map((line) => `  ${line}`),
  ];
  const log = row.log.flatMap((entry) => attemptLines(entry, inCloudWatch));
  return [...lines, ...(log.length === 0 ? [] : ["  attempts:", ...log])].join("\n");
}

/** One run for programs: instants in ISO form, payload and output as JSON values. */
export function occurrenceJson(row: Occurrence): Record<string, unknown> {
  const instants = [
    "scheduledFor",
    "dueAt",
    "firstDueAt",
    "leaseUntil",
    "createdAt",
    "claimedAt",
    "startedAt",
  ] as const;
  const ends = ["endedAt", "deadLetteredAt", "announcedAt"] as const;
  const iso = [...instants, ...ends].flatMap((name) => {
    const at = row[name];
    return at === undefined ? [] : [[name, toIso(at)] as const];
  });
  return {
    name: formatKey(row),
    ...row,
    ...Object.fromEntries(iso),
    payload: fromJson(row.payload),
    ...(row.output !== undefined && { output: fromJson(row.output) }),
    ...(row.misfire && { misfire: { ...row.misfire, from: toIso(row.misfire.from), to: toIso(row.misfire.to) } }),
    log: row.log.map((entry) => ({
      ...entry,
      startedAt: toIso(entry.startedAt),
      ...(entry.endedAt !== undefined && { endedAt: toIso(entry.endedAt) }),
    })),
  };
}

/**
 * The command that fetches an attempt's logs, where they are in CloudWatch: there `logs` is the log group, the stream and
 * the request id, and every line of the run carries the request id. `undefined` for other places.
 */
export function logsCommand(logs: string): string | undefined {
  const [group, stream, requestId, ...more] = logs.split(" ");
  if (group === undefined || stream === undefined || requestId === undefined || more.length > 0) return undefined;
  return `aws logs filter-log-events --log-group-name '${group}' --log-stream-names '${stream}' --filter-pattern '"${requestId}"' --query 'events[].message' --output text`;
}

function attemptLines(entry: AttemptLogEntry, inCloudWatch: boolean): string[] {
  const { attempt, token, startedAt, endedAt, error, logs } = entry;
  const end = endedAt === undefined ? "not reported to have ended" : `ended after ${duration(endedAt - startedAt)}`;
  const command = logs === undefined || !inCloudWatch ? undefined : logsCommand(logs);
  return [
    `    attempt ${attempt} (token ${token}): started ${utc(startedAt)}, ${end}`,
    ...(error === undefined ? [] : [`      ${oneLine(`${error.name}: ${error.message}`)}`]),
    ...(logs === undefined ? [] : [`      logs: ${command ?? logs}`]),
  ];
}

function reasonOf(row: Occurrence): string {
  const reason = row.deadLetterReason ?? row.skipReason ?? row.cancelReason;
  const error = row.lastError && oneLine(`${row.lastError.name}: ${row.lastError.message}`);
  return [reason, misfireText(row), error].filter((part) => part !== undefined).join("; ");
}

function misfireText({ misfire }: Occurrence): string | undefined {
  if (misfire === undefined) return undefined;
  const { policy, count, more, from, to } = misfire;
  return `${policy}: ${more ? "more than " : ""}${count} missed from ${utc(from)} to ${utc(to)}`;
}

/** The longest text in a table's cell. */
const CELL_MAX_CHARACTERS = 80;

function oneLine(text: string): string {
  const flat = text.replace(/\s+/g, " ");
  return flat.length <= CELL_MAX_CHARACTERS ? flat : `${flat.slice(0, CELL_MAX_CHARACTERS - 1)}…`;
}

/** Milliseconds for people: `850 ms`, `12.3 s`, `5 min`, `3.5 h`. */
function duration(ms: number): string {
  if (Math.abs(ms) < 1_000) return `${ms} ms`;
  if (Math.abs(ms) < 120_000) return `${Math.round(ms / 100) / 10} s`;
  if (Math.abs(ms) < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 360_000) / 10} h`;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A row is kept as it was written; what is no JSON is shown as the text it is.
    return text;
  }
}

import { errorMessage } from "../../core/errors.ts";
import type { Instant } from "../../core/instant.ts";
import type { Occurrence, OccurrenceKey } from "../../core/occurrence.ts";
import { type Backoff, retryDelayMs } from "../../core/retry.ts";
import { ClockUnavailableError } from "../errors.ts";
import type { Clock, Host, OccurrenceWrite, WriteVerdict } from "../ports.ts";
import type { Engine } from "./engine.ts";

/** A conditional write, and how to tell from the row that it was this write which took effect. */
export interface SettleableWrite extends OccurrenceWrite {
  readonly isMine: (row: Occurrence) => boolean;
}

/** A transition of `row` as a write that can be settled. */
export const settleable = (
  { scheduleId, firing }: OccurrenceKey,
  { guard, change }: Pick<OccurrenceWrite, "guard" | "change">,
  isMine: (row: Occurrence) => boolean,
): SettleableWrite => ({ key: { scheduleId, firing }, guard, change, isMine });

/**
 * Writes, and settles each answer that leaves it open whether the write took effect by reading the row again. What cannot
 * be settled stays `unknown`: the row's own `dueAt` recovers it.
 */
export async function writeSettled(
  engine: Pick<Engine, "occurrences" | "logger" | "metrics">,
  writes: readonly SettleableWrite[],
): Promise<readonly WriteVerdict[]> {
  if (writes.length === 0) return [];
  const verdicts = await engine.occurrences.write(writes);
  const open = writes.flatMap((write, index) => (verdicts[index]?.kind === "unknown" ? [{ write, index }] : []));
  const readings = open.length === 0 ? [] : await engine.occurrences.read(open.map(({ write }) => write.key));
  const settled = new Map<number, WriteVerdict>();
  for (const [position, { write, index }] of open.entries()) {
    const reading = readings[position];
    if (reading?.kind === "found")
      settled.set(index, write.isMine(reading.row) ? { kind: "applied", row: reading.row } : { kind: "refused" });
    else if (reading?.kind === "missing") settled.set(index, { kind: "refused" });
  }
  return verdicts.map((verdict, index) => {
    const final = settled.get(index) ?? verdict;
    const write = writes[index];
    if (write !== undefined && (final.kind === "failed" || final.kind === "unknown")) warnOf(engine, write, final);
    return final;
  });
}

/** Tries of a write that the store does not take, and the pauses between them. */
export const WRITE_TRIES = 5;
const WRITE_PAUSES: Backoff = { baseDelaySeconds: 0.2, multiplier: 2, maxDelaySeconds: 2, jitter: false };

/** How long something is tried again. */
export interface Patience {
  /** Whether another try is worth its while after so many. */
  readonly goesOn: (tries: number) => boolean;
  /** Each ends the pause that it meets: the next try comes at once. */
  readonly hurry: readonly AbortSignal[];
}

/** Some three seconds: what ends there is recovered elsewhere. */
const BRIEF: Patience = { goesOn: (tries) => tries < WRITE_TRIES, hurry: [] };

async function repeat<Result>(
  host: Pick<Host, "sleep">,
  { goesOn, hurry }: Patience,
  attempt: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  for (let tries = 1; ; tries += 1) {
    const result = await attempt();
    if (result !== undefined || !goesOn(tries)) return result;
    await host.sleep(retryDelayMs(WRITE_PAUSES, tries, 0), AbortSignal.any(hurry.filter(({ aborted }) => !aborted)));
  }
}

/**
 * Writes one row until the store has decided: a try that it did not take, or did not answer, is repeated. Only for writes
 * whose own effect makes their guard fail. `undefined`: it never decided, and the row's own `dueAt` recovers it.
 */
export function writeUntilDecided(
  engine: Pick<Engine, "occurrences" | "logger" | "metrics">,
  host: Pick<Host, "sleep">,
  write: SettleableWrite,
  patience = BRIEF,
): Promise<Extract<WriteVerdict, { kind: "applied" | "refused" }> | undefined> {
  let doubtful = false;
  return repeat(host, patience, async () => {
    const [verdict] = await engine.occurrences.write([write]);
    if (verdict?.kind === "applied") return verdict;
    // After an unanswered try, what stands in this one's way may be that one.
    const known = verdict?.kind !== "refused" ? undefined : doubtful ? await readBack(engine, write) : verdict;
    if (known !== undefined) return known;
    doubtful ||= verdict?.kind !== "failed";
    if (verdict?.kind !== "refused") warnOf(engine, write, verdict);
    return undefined;
  });
}

/**
 * The store's time, also where it is not known for a moment, as after this host stood still: the row is read then, since
 * whatever the store answers tells its time. `undefined`: it stayed unknown.
 */
export const timeOnceKnown = (
  engine: Pick<Engine, "clock" | "occurrences">,
  host: Pick<Host, "sleep">,
  key: OccurrenceKey,
  patience = BRIEF,
): Promise<Instant | undefined> => repeat(host, patience, () => timeOrRead(engine, key));

/** The store's time, for which the row of `key` is read where it is not known. `undefined`: one answer was not enough. */
export async function timeOrRead(
  { clock, occurrences }: Pick<Engine, "clock" | "occurrences">,
  key: OccurrenceKey,
): Promise<Instant | undefined> {
  const now = knownTime(clock);
  if (now !== undefined) return now;
  await occurrences.read([key]);
  return knownTime(clock);
}

/** The store's time; `undefined` while it is not known. */
function knownTime(clock: Clock): Instant | undefined {
  try {
    return clock.now();
  } catch (error) {
    if (error instanceof ClockUnavailableError) return undefined;
    throw error;
  }
}

async function readBack(
  { occurrences }: Pick<Engine, "occurrences">,
  { key, isMine }: SettleableWrite,
): Promise<Extract<WriteVerdict, { kind: "applied" | "refused" }> | undefined> {
  const [reading] = await occurrences.read([key]);
  if (reading === undefined || reading.kind === "failed") return undefined;
  return reading.kind === "found" && isMine(reading.row) ? { kind: "applied", row: reading.row } : { kind: "refused" };
}

function warnOf(
  { metrics, logger }: Pick<Engine, "metrics" | "logger">,
  { key }: SettleableWrite,
  verdict: Extract<WriteVerdict, { kind: "failed" | "unknown" }> | undefined,
): void {
  metrics.count("StoreFailures");
  logger.warn("a write was not answered or not taken; the row's due time recovers it", {
    key,
    verdict: verdict?.kind ?? "unknown",
    error: verdict === undefined ? "no answer" : errorMessage(verdict.error),
  });
}

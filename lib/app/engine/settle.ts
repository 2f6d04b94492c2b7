import { errorMessage } from "../../core/errors.ts";
import type { Occurrence } from "../../core/occurrence.ts";
import type { Host, OccurrenceWrite, WriteVerdict } from "../ports.ts";
import type { Engine } from "./engine.ts";

/** A conditional write, and how to tell from the row that it was this write which took effect. */
export interface SettleableWrite extends OccurrenceWrite {
  readonly isMine: (row: Occurrence) => boolean;
}

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
    if (final.kind === "failed" || final.kind === "unknown") {
      engine.metrics.count("StoreFailures");
      engine.logger.warn("a write was not answered or not taken; the row's due time recovers it", {
        key: writes[index]?.key,
        verdict: final.kind,
        error: errorMessage(final.error),
      });
    }
    return final;
  });
}

/** Tries of a write that the store does not take, and the pause after the first; it doubles each time. */
const WRITE_TRIES = 5;
const WRITE_PAUSE_MS = 200;

/**
 * Writes one row until the store has decided: a try that it did not take, or did not answer, is repeated. `undefined`: it
 * never decided, and the row's own `dueAt` recovers it.
 */
export async function writeUntilDecided(
  engine: Pick<Engine, "occurrences" | "logger" | "metrics">,
  host: Pick<Host, "sleep">,
  write: SettleableWrite,
): Promise<Extract<WriteVerdict, { kind: "applied" | "refused" }> | undefined> {
  let doubtful = false;
  for (let attempt = 1; attempt <= WRITE_TRIES; attempt += 1) {
    const [verdict] = await writeSettled(engine, [write]);
    if (verdict?.kind === "applied") return verdict;
    // An earlier try may be what stands in this one's way.
    if (verdict?.kind === "refused" && !doubtful) return verdict;
    if (verdict?.kind === "refused") {
      const [reading] = await engine.occurrences.read([write.key]);
      if (reading?.kind === "found" && write.isMine(reading.row)) return { kind: "applied", row: reading.row };
      if (reading?.kind === "found" || reading?.kind === "missing") return { kind: "refused" };
    }
    doubtful ||= verdict?.kind !== "failed";
    if (attempt < WRITE_TRIES) await host.sleep(WRITE_PAUSE_MS * 2 ** (attempt - 1));
  }
  return undefined;
}

import { errorMessage } from "../../core/errors.ts";
import type { Occurrence } from "../../core/occurrence.ts";
import type { OccurrenceWrite, WriteVerdict } from "../ports.ts";
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

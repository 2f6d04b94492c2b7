import { isTerminal, type Occurrence } from "../../../lib/core/occurrence.ts";
import { finding, type InvariantOf, isHeadRow } from "./invariant.ts";

/** What a clock and whole seconds may make of the end of a run. */
const SLACK_MS = 5_000;

/** Only what is over and needs nobody's attention may be removed, once history has been kept from its end and from its instant on. */
export const historyIsKept: InvariantOf = (world) => {
  const historyMs = world.settings.historySeconds * 1000;
  return {
    name: "history is kept",
    on: {
      moved: ({ key, old, new: row, at }) => {
        const { expiresAtSeconds, endedAt = at } = row;
        if (mustStay(row))
          return expiresAtSeconds === undefined ? undefined : finding(key, `it is ${row.status} and may be removed`);
        if (expiresAtSeconds === undefined) return finding(key, `it is ${row.status} and stays for ever`);
        if (expiresAtSeconds === old.expiresAtSeconds) return undefined;
        const keptMs = expiresAtSeconds * 1000 - historyMs;
        if (keptMs + SLACK_MS < Math.max(endedAt, row.scheduledFor))
          return finding(
            key,
            `it may be removed ${Math.max(endedAt, row.scheduledFor) - keptMs} ms before history ends`,
          );
        const longMs = keptMs - Math.max(at, row.scheduledFor);
        return longMs > SLACK_MS ? finding(key, `it is kept ${longMs} ms longer than history`) : undefined;
      },
    },
  };
};

const mustStay = ({ status, deadLetteredAt }: Occurrence): boolean =>
  !isTerminal(status) || deadLetteredAt !== undefined;

/**
 * What was removed does not come back: by whom ever, and for what ever it is taken. Except for a head that nobody could claim for
 * longer than history lasts: it brings its successor again.
 */
export const removedStaysRemoved: InvariantOf = (world) => ({
  name: "removed stays removed",
  on: {
    row: ({ key, old, new: inserted, at, by }) => {
      if (old !== undefined || !world.expired.has(key)) return undefined;
      const isLeftBehind = (row: Occurrence) =>
        row.scheduleId === inserted?.scheduleId &&
        isHeadRow(row) &&
        row.scheduledFor < Math.min(inserted.scheduledFor, at - world.settings.historySeconds * 1000);
      if (world.store.allOccurrences().some(isLeftBehind)) return undefined;
      return finding(key, `it was over and removed, and ${by?.name ?? "somebody"} inserts it again`);
    },
  },
});

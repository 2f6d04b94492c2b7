import { isTerminal, type Occurrence } from "../../lib/core/occurrence.ts";

/** The filter of the reconciler's second event source: the changes of a row after which its schedule is to be reconciled. */
export const callsForReconcile = ({ status, settles, skipReason }: Occurrence): boolean =>
  (settles === true && (status === "DISPATCHED" || isTerminal(status))) ||
  (status === "SKIPPED" && (skipReason === "paused" || skipReason === "disabled"));

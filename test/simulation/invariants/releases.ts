import { isDeepStrictEqual } from "node:util";
import { essence } from "../oracle/definitions.ts";
import { type Finding, finding, type InvariantOf } from "./invariant.ts";

/** What another release writes on rows, and authors on schedules, of which this one knows nothing. */
const FOREIGN = ["lane", "claimedBy"] as const;

/** No process takes away an attribute that it does not know: neither of a row nor of a schedule. */
export const foreignAttributesStay: InvariantOf = () => ({
  name: "foreign attributes stay",
  on: {
    moved: (change) => whatIsLost(change.key, change),
    schedule: ({ scheduleId, old, new: item, by }) =>
      // A person's own `PutItem` replaces all there is.
      old && item && by && by.role !== "operator" ? whatIsLost(scheduleId, { old, new: item }) : undefined,
  },
});

function whatIsLost(key: string, change: { readonly old: object; readonly new: object }): Finding | undefined {
  const lost = FOREIGN.find((name) => attributeOf(change.old, name) !== undefined && !isSame(change, name));
  return lost === undefined ? undefined : finding(key, `its attribute ${lost} was lost or changed`);
}

const attributeOf = (row: object, name: string): unknown => Reflect.get(row, name);
const isSame = (change: { old: object; new: object }, name: string): boolean =>
  isDeepStrictEqual(attributeOf(change.old, name), attributeOf(change.new, name));

/** What a change of release or definition may cost a schedule in statuses: each reconciler's, those that began before, and its end. */
const REWRITES_MAX = 6;

/** Releases that differ in what they make of a definition come to rest: none writes for ever what the other wrote otherwise. */
export const schedulesAreLeftAlone: InvariantOf = () => {
  const rewrites = new Map<string, number>();
  return {
    name: "schedules are left alone",
    on: {
      deployed: () => {
        rewrites.clear();
      },
      schedule: ({ scheduleId, old, new: item }) => {
        if (essence(old) !== essence(item)) {
          rewrites.delete(scheduleId);
          return undefined;
        }
        const count = (rewrites.get(scheduleId) ?? 0) + 1;
        rewrites.set(scheduleId, count);
        return count > REWRITES_MAX
          ? finding(scheduleId, `its status was written ${count} times, and nothing else of it changed`)
          : undefined;
      },
    },
  };
};

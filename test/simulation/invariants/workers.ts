import { NOT_STOPPED_IN_TIME } from "../platform/worker-source.ts";
import type { Process } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { finding, type Heard, type InvariantOf } from "./invariant.ts";

/** Within this a start is written and its job begun, where nothing goes wrong. */
const START_MS = 5_000;

/** A message that waits in a runner's hands, not begun and not given back, comes to nobody else, nor to the same once more. */
export const whatWaitsStaysHidden: InvariantOf = (world) => {
  const held = new Map<string, { readonly process: Process; readonly since: number; readonly receiveCount: number }>();
  const letGo = ({ messageId, by }: Heard["given-back" | "acknowledged"]): undefined => {
    if (held.get(messageId)?.process === by) held.delete(messageId);
  };
  return {
    name: "what waits stays hidden",
    on: {
      fault: ({ kind, by }) => {
        // The event source itself made visible again what it had handed over.
        if (kind === "delivered-twice") for (const [id, { process }] of held) if (process === by) held.delete(id);
      },
      "given-back": letGo,
      acknowledged: letGo,
      delivered: ({ key, token, messageId, by, receiveCount, at: since }) => {
        const holder = held.get(messageId);
        // An answer that was late brings what somebody else has had since.
        if (holder && holder.receiveCount > receiveCount) return undefined;
        if (by) held.set(messageId, { process: by, since, receiveCount });
        return holder?.process.alive && !holder.process.harmedSince(holder.since) && waits(world, key, token)
          ? finding(key, `attempt ${token} came to ${by?.name} while it waited with ${holder.process.name}`)
          : undefined;
      },
    },
  };
};

const waits = (world: World, key: string, token: number): boolean => {
  const row = world.row(key);
  return row?.status === "DISPATCHED" && row.fencingToken === token && !world.clocksAreWrong;
};

/** A worker that was told to stop begins nothing more, and has come to its end before its container loses patience. */
export const shutdownsAreKept: InvariantOf = () => {
  const toldAt = new WeakMap<Process, number>();
  /** When it was told, where nothing has happened to it since. */
  const toldTo = (by: Process | undefined): number | undefined => {
    const told = by && toldAt.get(by);
    return told === undefined || by?.harmedSince(told) ? undefined : told;
  };
  return {
    name: "shutdowns are kept",
    on: {
      "job-started": ({ attempt, by, at }) => {
        const told = toldTo(by);
        return told !== undefined && at > told + START_MS
          ? finding(attempt.key, `it began ${at - told} ms after ${by?.name} was told to stop`)
          : undefined;
      },
      process: ({ what, why, by, at }) => {
        if (by && what === "told-to-stop" && !toldAt.has(by)) toldAt.set(by, at);
        const told = what === "killed" && why === NOT_STOPPED_IN_TIME ? toldTo(by) : undefined;
        return told === undefined
          ? undefined
          : finding(undefined, `${by?.name} had not ended ${at - told} ms after it was told to stop`);
      },
    },
  };
};

import { NOT_STOPPED_IN_TIME } from "../platform/worker-source.ts";
import type { Process } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { finding, type InvariantOf } from "./invariant.ts";

/** Within this a start is written and its job begun, where nothing goes wrong. */
const START_MS = 5_000;

/** A message that waits in a runner's hands, not begun and not given back, comes to nobody else, nor to the same once more. */
export const whatWaitsStaysHidden: InvariantOf = (world) => {
  const held = new Map<string, { readonly process: Process; readonly since: number; readonly receiveCount: number }>();
  return {
    name: "what waits stays hidden",
    on: (fact) => {
      // The event source itself made visible again what it had handed over.
      if (fact.type === "fault" && fact.kind === "delivered-twice")
        for (const [id, { process }] of held) if (process === fact.by) held.delete(id);
      if (fact.type !== "delivered" && fact.type !== "given-back" && fact.type !== "acknowledged") return undefined;
      const { key, token, messageId, by } = fact;
      const holder = held.get(messageId);
      if (fact.type !== "delivered") {
        if (holder?.process === by) held.delete(messageId);
        return undefined;
      }
      const { receiveCount, at: since } = fact;
      // An answer that was late brings what somebody else has had since.
      if (holder && holder.receiveCount > receiveCount) return undefined;
      if (by) held.set(messageId, { process: by, since, receiveCount });
      return holder?.process.alive && !holder.process.harmedSince(holder.since) && waits(world, key, token)
        ? finding(key, `attempt ${token} came to ${by?.name} while it waited with ${holder.process.name}`)
        : undefined;
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
  return {
    name: "shutdowns are kept",
    on: (fact) => {
      const { by, at } = fact;
      if (by === undefined) return undefined;
      if (fact.type === "process" && fact.what === "told-to-stop" && !toldAt.has(by)) toldAt.set(by, at);
      const told = toldAt.get(by);
      if (told === undefined || by.harmedSince(told)) return undefined;
      if (fact.type === "job-started" && at > told + START_MS)
        return finding(fact.attempt.key, `it began ${at - told} ms after ${by.name} was told to stop`);
      return fact.type === "process" && fact.what === "killed" && fact.why === NOT_STOPPED_IN_TIME
        ? finding(undefined, `${by.name} had not ended ${at - told} ms after it was told to stop`)
        : undefined;
    },
  };
};

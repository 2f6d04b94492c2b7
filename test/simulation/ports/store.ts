import { StoreError } from "../../../lib/app/errors.ts";
import type {
  Gate,
  GatePassage,
  GateVerdict,
  InsertVerdict,
  OccurrenceRemoval,
  OccurrenceStore,
  OccurrenceWrite,
  ReadVerdict,
  RemovalVerdict,
  ScheduleItem,
  ScheduleStore,
  WriteVerdict,
} from "../../../lib/app/ports.ts";
import { type DueRow, formatKey, type Occurrence, type OccurrenceKey } from "../../../lib/core/occurrence.ts";
import type { Environment } from "../world/environment.ts";
import type { Process } from "../world/process.ts";
import { exchange, only, single, type Track } from "./exchange.ts";

const NO_ANSWER = new StoreError("the store must answer within its time, got no answer");
const THROTTLED = new StoreError("the store must have capacity left, got a throttled request");
const errors = (message: string) => new StoreError(message);
const failed = () => ({ kind: "failed", error: THROTTLED }) as const;
const unknown = () => ({ kind: "unknown", error: NO_ANSWER }) as const;

/** The Occurrences table as an invocation in `environment` meets it. */
export function occurrencesFor(environment: Environment, track: Track): OccurrenceStore {
  const { world } = environment;
  const store = world.store.occurrences;
  const once = <Answer>(name: string, effect: (process: Process) => Promise<Answer>) =>
    single(environment.process, { service: "store", name, effect, errors }, track);
  return {
    insert: (rows) =>
      exchange<Occurrence, InsertVerdict>(
        environment.process,
        {
          service: "store",
          name: "insert",
          items: rows,
          effect: async (row) => only(await store.insert([row])),
          failed,
          unknown,
          // The second try meets what the first one inserted.
          twice: (_, second) => second,
        },
        track,
      ),
    write: (writes) =>
      exchange<OccurrenceWrite, WriteVerdict>(
        environment.process,
        {
          service: "store",
          name: "write",
          items: writes,
          effect: writeOne,
          failed,
          unknown,
          // Where the SDK tried more than once, a failed condition says nothing.
          twice: (_, second) => (second.kind === "refused" ? unknown() : second),
        },
        track,
      ),
    remove: (removals) =>
      exchange<OccurrenceRemoval, RemovalVerdict>(
        environment.process,
        {
          service: "store",
          name: "remove",
          items: removals,
          effect: async (removal) => only(await store.remove([removal])),
          failed,
          unknown,
          twice: (_, second) => (second.kind === "refused" ? unknown() : second),
        },
        track,
      ),
    read: (keys) =>
      exchange<OccurrenceKey, ReadVerdict<Occurrence>>(
        environment.process,
        {
          service: "store",
          name: "read",
          items: keys,
          effect: async (key) => only(await store.read([key])),
          failed,
          unknown: failed,
          twice: (_, second) => second,
        },
        track,
      ),
    readGates: (scheduleIds) =>
      exchange<string, ReadVerdict<Gate>>(
        environment.process,
        {
          service: "store",
          name: "readGates",
          items: scheduleIds,
          effect: async (scheduleId) => only(await store.readGates([scheduleId])),
          failed,
          unknown: failed,
          twice: (_, second) => second,
        },
        track,
      ),
    passGates: (passages) =>
      exchange<GatePassage, GateVerdict>(
        environment.process,
        {
          service: "store",
          name: "passGates",
          items: passages,
          effect: passOne,
          failed,
          unknown,
          twice: (_, second) => (second.kind === "refused" ? unknown() : second),
        },
        track,
      ),
    due: async (query) => {
      const { process } = environment;
      const askedAt = world.kernel.now;
      const found = await once("due", async () => world.index.due(query));
      const isDue = ({ dueAt }: DueRow) => dueAt !== undefined && dueAt <= world.kernel.now;
      const ahead = found.rows.filter((row) => !isDue(row));
      if (found.rows.length > 0)
        world.tell({ type: "looked", askedAt, rows: found.rows.filter(isDue), ahead }, process);
      return found;
    },
    history: (query) => once("history", () => store.history(query)),
    deadLetters: (query) => once("deadLetters", () => store.deadLetters(query)),
    countDeadLetters: (query) => once("countDeadLetters", () => store.countDeadLetters(query)),
    removeHead: (head, asRead) => once("removeHead", () => store.removeHead(head, asRead)),
    shardHighWater: (shards) => once("shardHighWater", () => store.shardHighWater(shards)),
    readSweepCursor: () => once("readSweepCursor", () => store.readSweepCursor()),
    writeSweepCursor: (cursor) => once("writeSweepCursor", () => store.writeSweepCursor(cursor)),
  };
}

/** The Schedules table as an invocation in `environment` meets it. */
export function schedulesFor(environment: Environment, track: Track): ScheduleStore {
  const { world } = environment;
  const store = world.store.schedules;
  const once = <Answer>(name: string, effect: (process: Process) => Promise<Answer>) =>
    single(environment.process, { service: "store", name, effect, errors }, track);
  return {
    read: (scheduleIds) =>
      exchange<string, ReadVerdict<ScheduleItem>>(
        environment.process,
        {
          service: "store",
          name: "schedules.read",
          items: scheduleIds,
          effect: async (scheduleId, process) => {
            world.tell({ type: "schedule-read", scheduleId }, process);
            return only(await store.read([scheduleId]));
          },
          failed,
          unknown: failed,
          twice: (_, second) => second,
        },
        track,
      ),
    list: (query) => once("schedules.list", () => store.list(query)),
    put: (item, expect) => once("schedules.put", () => store.put(item, expect)),
    remove: (scheduleId) => once("schedules.remove", () => store.remove(scheduleId)),
    pause: (scheduleId, paused) => once("schedules.pause", () => store.pause(scheduleId, paused)),
    resume: (scheduleId, resumedAt) => once("schedules.resume", () => store.resume(scheduleId, resumedAt)),
    removeAsRead: (asRead) => once("schedules.removeAsRead", () => store.removeAsRead(asRead)),
    setStatus: (asRead, status) => once("schedules.setStatus", () => store.setStatus(asRead, status)),
  };
}

async function passOne(passage: GatePassage, process: Process): Promise<GateVerdict> {
  const { world } = process;
  const verdict = only(await world.store.occurrences.passGates([passage]));
  const { scheduleId, holder: firing } = passage;
  if (verdict.kind === "passed") world.tell({ type: "turn-taken", scheduleId, firing }, process);
  return verdict;
}

async function writeOne(write: OccurrenceWrite, process: Process): Promise<WriteVerdict> {
  const { world } = process;
  const answer = world.store.occurrences.write([write]);
  const { set } = write.change;
  const verdict = only(await answer);
  const status = set.status ?? Object.keys(set).join("+");
  world.tell({ type: "write", key: formatKey(write.key), status, applied: verdict.kind === "applied" }, process);
  return verdict;
}

import type { Fault, Point } from "../faults/plan.ts";
import { type Planned, playSmall, type SmallPoint, type SmallScenario } from "./small.ts";

/** Exchanges that change nothing: to lose the request or the answer is the same there. */
const READS: ReadonlySet<string> = new Set([
  "probe",
  "due",
  "read",
  "readGates",
  "history",
  "schedules.read",
  "shardHighWater",
  "countDeadLetters",
]);

/** Longer than the claim lease and the runner's lease. */
const PAUSE_MS = 65_000;

const READ_FAULTS: readonly Fault[] = [
  { kind: "crash-before" },
  { kind: "request-lost" },
  { kind: "paused-after", ms: PAUSE_MS },
];
const WRITE_FAULTS: readonly Fault[] = [
  { kind: "crash-before" },
  { kind: "crash-after" },
  { kind: "request-lost" },
  { kind: "answer-lost" },
  { kind: "throttled" },
  { kind: "sent-twice" },
  { kind: "late-effect", ms: 9_000 },
  { kind: "slow", ms: 31_000 },
  { kind: "paused-before", ms: PAUSE_MS },
  { kind: "paused-after", ms: PAUSE_MS },
];
/** What is like another fault at a worker's exchanges with its queue: it takes a refusal for no answer, and what is hidden or deleted twice is so once. */
const ALIKE_AT_QUEUE: Readonly<Record<string, readonly Fault["kind"][]>> = {
  receive: ["throttled"],
  hide: ["throttled", "sent-twice"],
  acknowledge: ["throttled", "sent-twice"],
};

/** An idle dispatcher polls, and asks for the time, again and again: one process's later reads of a kind are like its second. */
const ALIKE_AFTER = 2;

/** What a process does between two exchanges takes no time; a job does, and so does what waits for something. */
const AT_ONCE_MS = 1_000;

interface PossibleFault {
  readonly point: SmallPoint;
  readonly fault: Fault;
}

/**
 * Every fault that differs from the others, at each of `points` from `after` on. A process that dies before an exchange which
 * follows at once on one of its own has died after that one: tried there, or, where that was a read, before it. Where nothing is
 * under way any more a fault changes nothing but what its own process sees.
 */
function faultsFrom(points: readonly SmallPoint[], after: number): PossibleFault[] {
  const reads = new Map<string, number>();
  const last = new Map<string, SmallPoint>();
  return points.flatMap((point) => {
    const { index, at, name, process, idle } = point;
    const isRead = READS.has(name) || idle;
    const kind = `${process} ${name}`;
    const count = (reads.get(kind) ?? 0) + 1;
    reads.set(kind, count);
    const before = last.get(process);
    last.set(process, point);
    if (index <= after || point.quiet || (isRead && count > ALIKE_AFTER)) return [];
    const diedBefore = before !== undefined && before.index > after && at - before.at < AT_ONCE_MS;
    return (isRead ? READ_FAULTS : WRITE_FAULTS)
      .filter(({ kind: fault }) => !(fault === "crash-before" && diedBefore))
      .filter(({ kind: fault }) => !ALIKE_AT_QUEUE[name]?.includes(fault))
      .map((fault): PossibleFault => ({ point, fault }));
  });
}

/** What an exhaustive search came to: how many worlds, and the first that broke. */
export interface Exhaustion {
  readonly worlds: number;
  readonly broken: { readonly faults: readonly Planned[]; readonly report: string } | undefined;
}

/**
 * Every single fault at every exchange of `scenario`, and, up to `depth` 2, every second fault at every later exchange,
 * those that only the first one brings about included. `share`: takes the first faults whose number leaves that
 * remainder; `first`: only first faults of that kind at exchanges of that name.
 */
export async function exhaust(
  scenario: SmallScenario,
  depth: 1 | 2,
  share: { readonly index: number; readonly of: number } = { index: 0, of: 1 },
  first?: { readonly name: string; readonly kind: Fault["kind"] },
): Promise<Exhaustion> {
  const calm = await playSmall(scenario, []);
  if (calm.report !== undefined) return { worlds: 1, broken: { faults: [], report: calm.report } };
  let worlds = 1;
  const { firstFaultsOf, pairsAt } = scenario;
  const isPaired = ({ name }: Point) => depth === 1 || pairsAt === undefined || pairsAt.includes(name);
  const firsts = faultsFrom(calm.points, -1).filter(
    ({ point, fault: { kind } }) =>
      (depth === 1 || firstFaultsOf === undefined || firstFaultsOf.includes(point.role)) &&
      isPaired(point) &&
      (first === undefined || (point.name === first.name && kind === first.kind)),
  );
  for (const [number, { point, fault }] of firsts.entries()) {
    if (number % share.of !== share.index) continue;
    const one = { index: point.index, fault };
    const single = await playSmall(scenario, [one]);
    worlds += 1;
    if (single.report !== undefined) return { worlds, broken: { faults: [one], report: single.report } };
    if (depth === 1) continue;
    for (const second of faultsFrom(single.points, point.index)) {
      if (!isPaired(second.point)) continue;
      const faults = [one, { index: second.point.index, fault: second.fault }];
      const pair = await playSmall(scenario, faults);
      worlds += 1;
      if (pair.report !== undefined) return { worlds, broken: { faults, report: pair.report } };
    }
  }
  return { worlds, broken: undefined };
}

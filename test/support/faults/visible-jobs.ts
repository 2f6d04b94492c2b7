import { existsSync } from "node:fs";
import * as z from "zod";
import type { JobContext, JobMap } from "../../../lib/jobs/types.ts";
import { attemptName, failsByChance, type Report } from "./protocol.ts";

/** What a job is to do before it ends. Anything else ends at once. */
const payloads = z.union([
  /** Waits for the test's leave: in every attempt, in the first only, or until its signal aborts. */
  z.enum(["wait", "wait-once", "wait-or-abort"]),
  /** Fails in every fifth attempt or so, the same ones whoever runs them. */
  z.literal("flaky"),
  /** In its first attempt, lets nothing else happen in its process until the file is there. */
  z.object({ blockUntil: z.string() }),
]);

/** How long one look at the file is away from the next. */
const LOOK_EVERY_MS = 50;

/** Jobs that tell of their starts and ends, and the way to let those that wait come to theirs. */
export function createVisibleJobs(tell: (report: Report) => void): {
  readonly jobs: JobMap;
  finish(attempt: string, heartbeat: boolean): void;
} {
  const waiting = new Map<string, (heartbeat: boolean) => void>();

  async function visible(payload: unknown, context: JobContext): Promise<unknown> {
    const { scheduleId, firing } = context.occurrence;
    const attempt = { scheduleId, firing, attempt: context.attempt, fencingToken: context.fencingToken };
    tell({ kind: "started", ...attempt });
    const asked = payloads.safeParse(payload).data;
    if (asked === "flaky" && failsByChance(attempt)) throw new Error("by chance");
    if (typeof asked === "object" && context.attempt === 1) blockUntil(asked.blockUntil);
    const waits = asked === "wait" || asked === "wait-or-abort" || (asked === "wait-once" && context.attempt === 1);
    if (!waits) {
      tell({ kind: "ended", ...attempt });
      return undefined;
    }
    const heartbeat = await new Promise<boolean>((finish, abort) => {
      waiting.set(attemptName(attempt), finish);
      if (asked === "wait-or-abort") context.signal.addEventListener("abort", () => abort(context.signal.reason));
    });
    const lost = heartbeat ? await context.heartbeat().then(() => undefined, String) : undefined;
    tell({ kind: "ended", ...attempt, ...(lost !== undefined && { leaseLost: lost }) });
    return { token: context.fencingToken };
  }

  return { jobs: { default: visible }, finish: (attempt, heartbeat) => waiting.get(attempt)?.(heartbeat) };
}

function blockUntil(file: string): void {
  const nobodyWakesIt = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  while (!existsSync(file)) Atomics.wait(nobodyWakesIt, 0, 0, LOOK_EVERY_MS);
}

import { reconcile } from "../../../lib/app/engine/reconcile.ts";
import type { Attempt, Execution, Runner } from "../../../lib/app/engine/run-occurrence.ts";
import type { ScheduleItem } from "../../../lib/app/ports.ts";
import type { Instant } from "../../../lib/core/instant.ts";
import type { OccurrenceMessage } from "../../../lib/core/message.ts";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import { NOON } from "../../support/occurrences.ts";
import { newWorld, visitDue, type World, type WorldOptions } from "../../support/world.ts";

export const SUCCEEDED: Execution = { kind: "succeeded" };

/** A failed execution, as the one that runs jobs makes it of what they throw. */
export const failed = (given: Partial<Extract<Execution, { kind: "failed" }>> = {}): Execution => ({
  kind: "failed",
  error: { name: "Error", message: "it broke" },
  permanent: false,
  ...given,
});

/** A world whose schedule `a` was claimed at noon and lies in the queue; and a runner of it. */
export interface RunnerWorld extends World {
  readonly message: OccurrenceMessage;
  /** A runner that executes every job by `execute`. */
  runner(execute: (attempt: Attempt) => Promise<Execution>, more?: Partial<Runner>): Runner;
  /** Schedule `a`'s row of noon. */
  run(): Occurrence;
}

/** Makes it. `item`: what schedule `a` says beyond its time, noon. */
export async function claimedAtNoon(
  item: Readonly<Record<string, unknown>> = {},
  options: WorldOptions = {},
): Promise<RunnerWorld> {
  const world = newWorld({ start: NOON, ...options });
  const schedule: ScheduleItem = { scheduleId: "a", at: "2026-11-29T12:00:00Z", ...item };
  world.put(schedule);
  await seeded(world, schedule.scheduleId);
  const [message] = ["default", "slow"].flatMap((queue) => world.messages(queue));
  if (message === undefined) throw new Error("nothing was sent");
  return {
    ...world,
    message,
    runner: (execute, more = {}) => ({ engine: world.engine, host: world.time.host, execute, ...more }),
    run: () => world.row("a", NOON),
  };
}

/** Claims whatever is due anew and answers the message that this sends. */
export async function nextMessage(world: RunnerWorld, at: Instant): Promise<OccurrenceMessage> {
  world.time.leap(Math.max(0, at - world.time.now()));
  await visitDue(world);
  const message = world.messages().at(-1);
  if (message === undefined) throw new Error("nothing was sent");
  return message;
}

async function seeded(world: World, scheduleId: string): Promise<void> {
  await world.time.finish(reconcile(world.engine, scheduleId));
  await visitDue(world);
}

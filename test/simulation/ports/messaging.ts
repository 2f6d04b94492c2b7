import * as z from "zod";
import type { Announcement, EventBus, MessageQueue, OutgoingMessage, SendVerdict } from "../../../lib/app/ports.ts";
import { formatKey } from "../../../lib/core/occurrence.ts";
import type { Environment } from "../world/environment.ts";
import type { Process } from "../world/process.ts";
import { exchange } from "./exchange.ts";

/** What a request comes to that SQS did not answer, or throttled. */
export const NO_ANSWER = new Error("SQS must answer within its time, got no answer");
export const REFUSED = new Error("SQS must have capacity left, got a throttled request");
const BUS_FAILED = new Error("the bus must take the event, got an internal failure");

const body = z.object({ scheduleId: z.string(), firing: z.string(), fencingToken: z.number() });

/** Whose attempt a message carries; nothing for one that nobody can read. */
export function attemptOf(text: string): { readonly key: string; readonly token: number } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // A poison payload: no message of any run.
    return undefined;
  }
  const parsed = body.safeParse(value);
  return parsed.success ? { key: formatKey(parsed.data), token: parsed.data.fencingToken } : undefined;
}

/** The queues as an invocation in `environment` meets them. */
export function queueFor(environment: Environment): MessageQueue {
  return {
    send: (messages) =>
      exchange<OutgoingMessage, SendVerdict>(environment.process, {
        service: "queue",
        name: "send",
        items: messages,
        effect: sendOne,
        failed: () => ({ kind: "refused", error: REFUSED }),
        unknown: () => ({ kind: "unknown", error: NO_ANSWER }),
        twice: (_, second) => second,
      }),
  };
}

function sendOne(message: OutgoingMessage, process: Process): Promise<SendVerdict> {
  const { world } = process;
  const { queue, deduplicationId } = message;
  const lies = () => (world.hasQueue(queue) ? world.queue.peek(queue).length : 0);
  const before = lies();
  const verdict = world.queue.send([message]);
  const attempt = attemptOf(message.body);
  if (attempt && world.hasQueue(queue))
    world.tell({ type: "sent", ...attempt, queue, deduplicationId, swallowed: lies() === before }, process);
  return verdict.then(([answer]) => answer ?? { kind: "unknown", error: NO_ANSWER });
}

/** What an event says of its run; one of a schedule names none. */
const detail = z.object({
  occurrenceId: z.optional(z.string()),
  fencingToken: z.optional(z.number()),
  scheduleId: z.optional(z.string()),
  scheduleVersion: z.optional(z.string()),
  at: z.optional(z.string()),
});

/** The event bus as an invocation in `environment` meets it: what it takes is told as a fact. */
export function busFor(environment: Environment): EventBus {
  type Answer = { kind: "accepted" } | { kind: "failed"; error: Error };
  const lost = (): Answer => ({ kind: "failed", error: BUS_FAILED });
  return {
    publish: (announcements) =>
      exchange<Announcement, Answer>(environment.process, {
        service: "bus",
        name: "publish",
        items: announcements,
        effect: async (announcement, process) => {
          const { detailType } = announcement;
          const told = detail.parse(announcement.detail);
          const { occurrenceId = "", fencingToken: token = 0 } = told;
          // Its identity says which change of the schedule it is of.
          const scheduleNews = `${detailType} ${told.scheduleId} ${told.scheduleVersion ?? told.at}`;
          const ofSchedule = told.occurrenceId === undefined && { scheduleNews };
          process.world.tell({ type: "published", detailType, occurrenceId, token, ...ofSchedule }, process);
          return { kind: "accepted" };
        },
        failed: lost,
        unknown: lost,
        twice: (_, second) => second,
      }),
  };
}

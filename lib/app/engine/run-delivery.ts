import { errorMessage, formatProblems } from "../../core/errors.ts";
import { decodeMessage, type OccurrenceMessage } from "../../core/message.ts";
import { formatKey } from "../../core/occurrence.ts";
import { transition } from "../../core/transition.ts";
import { DEAD_LETTER_QUEUE } from "../ports.ts";
import { type Runner, type RunResult, runOccurrence } from "./run-occurrence.ts";
import { settleable, writeSettled } from "./settle.ts";

/** A message as a queue delivered it. */
export interface Delivery {
  readonly id: string;
  readonly body: string;
}

/** A delivery that has been read. */
export type OpenDelivery =
  | { readonly kind: "attempt" | "redriven"; readonly delivery: Delivery; readonly message: OccurrenceMessage }
  | { readonly kind: "malformed"; readonly delivery: Delivery; readonly problem: string };

/** What became of a delivery. Everything but `hand-back` is to be acknowledged. */
export type DeliveryResult =
  | RunResult
  /** A redriven dead letter: it is replayed, or was dealt with before. */
  | { readonly kind: "replayed" }
  /** Nobody can read it; it lies in the dead-letter queue. */
  | { readonly kind: "set-aside" };

/** Reads a delivery's body. */
export function openDelivery(delivery: Delivery): OpenDelivery {
  const body = decodeMessage(delivery.body);
  if (body.kind === "malformed") return { kind: "malformed", delivery, problem: formatProblems(body.problems) };
  return { kind: body.message.deadLetter ? "redriven" : "attempt", delivery, message: body.message };
}

/** Whether a delivery must run alone: an earlier attempt of its run took its process along. */
export const isSuspect = (opened: OpenDelivery): boolean =>
  opened.kind === "attempt" && opened.message.suspect === true;

/**
 * Deals with one delivery: runs the attempt it stands for, replays a redriven dead letter, sets aside what nobody can read.
 * Never rejects: one message's failure is its own, and a store's clock that is lost meanwhile, say, must not take its
 * neighbours' reports along.
 */
export async function runDelivery(runner: Runner, opened: OpenDelivery): Promise<DeliveryResult> {
  const result = await dealWith(runner, opened).catch(
    (error: unknown): RunResult => ({ kind: "hand-back", reason: errorMessage(error) }),
  );
  if (result.kind === "hand-back")
    runner.engine.logger.warn("a message could not be dealt with; it comes again", {
      messageId: opened.delivery.id,
      ...(opened.kind !== "malformed" && { key: formatKey(opened.message) }),
      reason: result.reason,
    });
  return result;
}

async function dealWith(runner: Runner, opened: OpenDelivery): Promise<DeliveryResult> {
  switch (opened.kind) {
    case "attempt":
      return runOccurrence(runner, opened.message);
    case "redriven":
      return replayRedriven(runner, opened.message);
    case "malformed":
      return setAside(runner, opened.delivery, opened.problem);
    default:
      return opened satisfies never;
  }
}

/** A message nobody can read goes to the dead-letter queue as it is, with the reason. */
async function setAside({ engine }: Runner, { id, body }: Delivery, problem: string): Promise<DeliveryResult> {
  const [verdict] = await engine.queue.send([
    {
      queue: DEAD_LETTER_QUEUE,
      deduplicationId: `malformed:${id}`,
      body,
      attributes: { reason: "malformed-message", errorName: "MalformedMessage", errorMessage: problem },
    },
  ]);
  if (verdict?.kind !== "accepted") return { kind: "hand-back", reason: "the dead-letter queue did not take it" };
  engine.metrics.count("MalformedMessages");
  engine.logger.error("a message could not be read and is set aside in the dead-letter queue", {
    messageId: id,
    problem,
  });
  return { kind: "set-aside" };
}

/**
 * A dead letter's message that an operator redrove into the main queue is that dead letter's replay, once: the row says
 * whether it already was, by its token, and whether it was discarded.
 */
async function replayRedriven({ engine }: Runner, message: OccurrenceMessage): Promise<DeliveryResult> {
  const key = { scheduleId: message.scheduleId, firing: message.firing };
  const [reading] = await engine.occurrences.read([key]);
  if (reading === undefined || reading.kind === "failed")
    return { kind: "hand-back", reason: "the dead letter's row could not be read" };
  if (reading.kind === "missing" || reading.row.fencingToken !== message.fencingToken) return { kind: "replayed" };
  const { deadLetteredAt } = reading.row;
  if (deadLetteredAt === undefined) return { kind: "replayed" };
  const event = { type: "replay", diedAt: deadLetteredAt } as const;
  const next = transition(reading.row, event, engine.clock.now(), engine.settings);
  if (next.kind === "refused") return { kind: "replayed" };
  const [verdict] = await writeSettled(engine, [settleable(key, next, ({ status }) => status === "PENDING")]);
  if (verdict?.kind === "applied") engine.logger.info("a redriven dead letter is replayed", { key: formatKey(key) });
  return verdict?.kind === "applied" || verdict?.kind === "refused"
    ? { kind: "replayed" }
    : { kind: "hand-back", reason: "the store did not take the replay" };
}

import { announcementOf, isDeadLetter, isNewDeadLetter } from "../../core/announcement.ts";
import { errorMessage } from "../../core/errors.ts";
import { statusIs, tokenIs } from "../../core/guard.ts";
import { deadLetterDeduplicationId } from "../../core/ids.ts";
import { toIso } from "../../core/instant.ts";
import { encodeMessage, messageOf } from "../../core/message.ts";
import { formatKey, type Occurrence } from "../../core/occurrence.ts";
import { DEAD_LETTER_QUEUE, type EventBus, type OutgoingMessage } from "../ports.ts";
import type { Engine } from "./engine.ts";
import { pauseAfterDeadLetters } from "./pause-after-dead-letters.ts";
import { settleable, writeSettled } from "./settle.ts";

/** A change of a row, as its stream told it. */
export interface RowChange {
  readonly before?: Occurrence;
  readonly after: Occurrence;
}

/**
 * Makes known what happened to occurrences: dead letters to the dead-letter queue, news to the event bus; and pauses the
 * schedules that want to be after so many dead letters. At least once,
 * with (occurrenceId, fencingToken, status) as the identity of each piece of news. Answers per change whether all of it is
 * out; what is not is to be brought again.
 */
export async function announce(
  engine: Engine,
  bus: EventBus,
  changes: readonly RowChange[],
): Promise<readonly boolean[]> {
  const out = changes.map(() => true);
  const dead = changes.flatMap(({ before, after }, index) =>
    isNewDeadLetter(before, after) ? [{ row: after, index }] : [],
  );
  const sent = await engine.queue.send(dead.map(({ row }) => deadLetterMessage(row)));
  for (const [position, { row, index }] of dead.entries()) {
    const verdict = sent[position];
    if (verdict?.kind === "accepted") continue;
    // What SQS can never take stays on the row, where the dead-letter index has it: it must not block those behind it.
    out[index] = verdict?.kind === "rejected";
    const error = verdict?.kind === "rejected" ? verdict.error.message : errorMessage(verdict?.error);
    engine.logger.error("a dead letter's message did not reach its queue", { key: formatKey(row), error });
  }

  const unpaused = await pauseAfterDeadLetters(
    engine,
    dead.map(({ row }) => row),
  );
  for (const { row, index } of dead) if (unpaused.has(row.scheduleId)) out[index] = false;

  const news = changes.flatMap(({ before, after }, index) => {
    const announcement = announcementOf(before, after, engine.settings.announce);
    return announcement === undefined ? [] : [{ announcement, index }];
  });
  const published = await bus.publish(news.map(({ announcement }) => announcement));
  for (const [position, { index }] of news.entries()) {
    const verdict = published[position];
    if (verdict?.kind === "accepted") continue;
    out[index] = false;
    engine.logger.warn("an event did not reach its bus", {
      key: formatKey(changes[index]?.after ?? { scheduleId: "", firing: "" }),
      error: verdict === undefined ? "no answer" : errorMessage(verdict.error),
    });
  }
  await writeReceipts(
    engine,
    dead.flatMap(({ row, index }) => (out[index] ? [row] : [])),
  );
  return out;
}

/** Announces what a sweep found: dead letters whose stream record never came through. */
export const announceDeadLetters = (engine: Engine, bus: EventBus, rows: readonly Occurrence[]) =>
  announce(
    engine,
    bus,
    rows.filter(isDeadLetter).map((after) => ({ after })),
  );

/** The message an operator sees in the console: the body as it was sent, and as attributes why it is here. */
export function deadLetterMessage(row: Occurrence): OutgoingMessage {
  return {
    queue: DEAD_LETTER_QUEUE,
    deduplicationId: deadLetterDeduplicationId(row.occurrenceId, row.fencingToken),
    body: encodeMessage({ ...messageOf(row), deadLetter: true }),
    attributes: {
      reason: row.deadLetterReason ?? "unknown",
      errorName: row.lastError?.name ?? "",
      errorMessage: row.lastError?.message ?? "",
      attempts: `${row.attempts} of ${row.maxAttempts}`,
      scheduleId: row.scheduleId,
      scheduledFor: toIso(row.scheduledFor),
      occurrenceId: row.occurrenceId,
      fencingToken: String(row.fencingToken),
    },
  };
}

/** Notes on each row that its dead letter is known, so that the sweep leaves it alone. A later state of the row needs none. */
async function writeReceipts(engine: Engine, rows: readonly Occurrence[]): Promise<void> {
  if (rows.length === 0) return;
  const announcedAt = engine.clock.now();
  await writeSettled(
    engine,
    rows.map((row) => {
      const guard = [statusIs(row.status), tokenIs(row.fencingToken)];
      return settleable(row, { guard, change: { set: { announcedAt } } }, (seen) => seen.announcedAt === announcedAt);
    }),
  );
}

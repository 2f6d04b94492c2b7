import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEAD_LETTER_QUEUE, type MessageQueue, type OutgoingMessage } from "../../lib/app/ports.ts";
import { deadLetterDeduplicationId, deduplicationId } from "../../lib/core/ids.ts";
import { encodeMessage, type OccurrenceMessage } from "../../lib/core/message.ts";

/** A message as the contract looks at it. */
export interface Received {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly groupId: string;
  readonly deduplicationId: string;
  readonly receiveCount: number;
  readonly receiptHandle: string;
}

/** One implementation: the port, and the receiver's side by the queues' names. Receives are invisible for `VISIBILITY_MS`. */
export interface QueueWorld {
  readonly queue: MessageQueue;
  receive(name: string, max: number): Promise<readonly Received[]>;
  delete(name: string, receiptHandle: string): Promise<void>;
  release(name: string, receiptHandle: string): Promise<void>;
  close(): Promise<void>;
}

/** The queues that a world has; `redriving` moves messages to the dead-letter queue after {@link MAX_RECEIVES}. */
export const QUEUES = ["emails", "reports", "redriving"] as const;
export const MAX_RECEIVES = 2;
export const VISIBILITY_MS = 30_000;

const MIB = 1_048_576;

/** A message of an attempt of its own. */
const message = (queue: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  queue,
  deduplicationId: randomUUID(),
  body: "{}",
  ...more,
});

/**
 * What the engine relies on in a queue. Not in it: several messages of one group in one receive, which SQS may hand out and the
 * local stand-in does not; a group holds one message here, since it is the deduplication id.
 */
export function messageQueueContract(name: string, start: () => Promise<QueueWorld>): void {
  describe(`the message queue: ${name}`, () => {
    // A receive takes from the whole queue, so every test has a world, and with it queues, of its own.
    const test = (behaviour: string, body: (world: QueueWorld) => Promise<void>) =>
      describe("", () => {
        let world: QueueWorld;
        beforeAll(async () => {
          world = await start();
        });
        afterAll(() => world.close());
        it(behaviour, () => body(world));
      });

    test("delivers a message as it was sent, its group and deduplication id the same", async ({ queue, receive }) => {
      const sent = message("emails", { body: '{"to":"ada"}', attributes: { reason: "attempts-exhausted" } });
      expect(await queue.send([sent])).toEqual([{ kind: "accepted" }]);
      expect(await receive("emails", 10)).toEqual([
        expect.objectContaining({
          body: '{"to":"ada"}',
          attributes: { reason: "attempts-exhausted" },
          groupId: sent.deduplicationId,
          deduplicationId: sent.deduplicationId,
          receiveCount: 1,
        }),
      ]);
    });

    test("answers for each message in its place, however many of whichever queues", async ({ queue, receive }) => {
      const messages = Array.from({ length: 25 }, (_, index) => {
        const name = index % 5 === 4 ? "nowhere" : index % 2 === 0 ? "emails" : "reports";
        return message(name, { body: String(index) });
      });
      const verdicts = await queue.send(messages);
      expect(verdicts.map(({ kind }) => kind)).toEqual(
        messages.map(({ queue: to }) => (to === "nowhere" ? "rejected" : "accepted")),
      );
      for (const to of ["emails", "reports"]) {
        const bodies = [...(await receive(to, 10)), ...(await receive(to, 10))].map(({ body }) => body);
        expect(bodies).toEqual(messages.filter(({ queue: name }) => name === to).map(({ body }) => body));
      }
    });

    test("says of an unknown queue which there are", async ({ queue }) => {
      const [verdict] = await queue.send([message("nowhere")]);
      expect(verdict).toEqual({
        kind: "rejected",
        error: { name: "UnknownQueue", message: 'queue must be one of emails, reports, redriving, got "nowhere"' },
      });
    });

    test("sends nothing when asked to send nothing", async ({ queue }) => {
      expect(await queue.send([])).toEqual([]);
    });

    test("swallows a known deduplication id, also after the first message was deleted", async (world) => {
      const sent = message("emails");
      await world.queue.send([sent]);
      expect(await world.queue.send([sent])).toEqual([{ kind: "accepted" }]);
      const received = await world.receive("emails", 10);
      expect(received).toHaveLength(1);
      for (const { receiptHandle } of received) await world.delete("emails", receiptHandle);
      expect(await world.queue.send([sent])).toEqual([{ kind: "accepted" }]);
      expect(await world.receive("emails", 10)).toEqual([]);
    });

    test("delivers a run's later attempt while its earlier one is in flight", async ({ queue, receive }) => {
      const occurrenceId = randomUUID();
      for (const token of [1, 2]) {
        await queue.send([message("emails", { deduplicationId: deduplicationId(occurrenceId, token) })]);
        expect(await receive("emails", 10)).toHaveLength(1);
      }
    });

    test("hands a message out again once it is released, and counts that", async (world) => {
      await world.queue.send([message("emails")]);
      const [first] = await world.receive("emails", 10);
      expect(await world.receive("emails", 10)).toEqual([]);
      await world.release("emails", first?.receiptHandle ?? "");
      expect(await world.receive("emails", 10)).toEqual([expect.objectContaining({ receiveCount: 2 })]);
    });

    test("moves a message to the dead-letter queue once its receives exceed the maximum", async (world) => {
      await world.queue.send([message("redriving", { body: "poison", attributes: { schedule: "hello" } })]);
      for (let receives = 1; receives <= MAX_RECEIVES; receives++) {
        const [received] = await world.receive("redriving", 10);
        expect(received?.receiveCount).toBe(receives);
        await world.release("redriving", received?.receiptHandle ?? "");
      }
      expect(await world.receive("redriving", 10)).toEqual([]);
      expect(await world.receive(DEAD_LETTER_QUEUE, 10)).toEqual([
        expect.objectContaining({ body: "poison", attributes: { schedule: "hello" } }),
      ]);
    });

    test("keeps a dead letter's attributes readable, bounded and few", async ({ queue, receive }) => {
      const attributes = {
        error: `it broke: \u0000\uFFFF ${"x".repeat(5_000)}`,
        empty: "",
        ...Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`a${index}`, "kept \u{1F600}"])),
      };
      const sent = message(DEAD_LETTER_QUEUE, {
        deduplicationId: deadLetterDeduplicationId(randomUUID(), 3),
        attributes,
      });
      expect(await queue.send([sent])).toEqual([{ kind: "accepted" }]);
      const [received] = await receive(DEAD_LETTER_QUEUE, 10);
      const kept = received?.attributes ?? {};
      expect(kept["error"]).toMatch(/^it broke: \uFFFD\uFFFD x+…$/);
      expect(kept["error"]).toHaveLength(1_024);
      expect(kept["a0"]).toBe("kept \u{1F600}");
      expect(Object.keys(kept)).toEqual(["error", ...Array.from({ length: 9 }, (_, index) => `a${index}`)]);
    });

    test("sends what fits into no single request in several", async ({ queue, receive }) => {
      const messages = Array.from({ length: 9 }, () => message("emails", { body: "x".repeat(300_000) }));
      expect(await queue.send(messages)).toEqual(messages.map(() => ({ kind: "accepted" })));
      expect(await receive("emails", 10)).toHaveLength(9);
    });

    test("takes a message of exactly 1 MiB, attributes included, and rejects a larger one for good", async ({
      queue,
    }) => {
      const attributes = { a: "12345" };
      const overhead = "a".length + "String".length + "12345".length;
      const verdicts = await queue.send([
        message("emails", { body: "x".repeat(MIB - overhead), attributes }),
        message("emails", { body: "x".repeat(MIB - overhead + 1), attributes }),
        message("emails"),
      ]);
      expect(verdicts).toEqual([
        { kind: "accepted" },
        {
          kind: "rejected",
          error: {
            name: "MessageTooLarge",
            message: "message must be at most 1048576 bytes with its attributes, got 1048577",
          },
        },
        { kind: "accepted" },
      ]);
    });

    test("rejects a body with refused characters for good, and its neighbours go out", async ({ queue, receive }) => {
      const verdicts = await queue.send([
        message("emails", { body: "one" }),
        message("emails", { body: "\uFFFE" }),
        message("emails", { body: "two" }),
      ]);
      expect(verdicts).toMatchObject([
        { kind: "accepted" },
        { kind: "rejected", error: { name: "InvalidMessageContents" } },
        { kind: "accepted" },
      ]);
      expect((await receive("emails", 10)).map(({ body }) => body)).toEqual(["one", "two"]);
    });

    test("carries every payload that the message codec writes", async ({ queue, receive }) => {
      const payload = "\u0000\t\u2028 \uD7FF \uE000 \uFFFD \uFFFE \uFFFF \uD800 \uDC00 \u{1F600} \u{10FFFF}";
      const body = encodeMessage(codecMessage(payload));
      expect(await queue.send([message("emails", { body })])).toEqual([{ kind: "accepted" }]);
      const [received] = await receive("emails", 10);
      expect(JSON.parse(received?.body ?? "null")).toMatchObject({ payload });
    });
  });
}

const codecMessage = (payload: string): OccurrenceMessage => ({
  version: 1,
  occurrenceId: randomUUID(),
  scheduleId: "hello",
  firing: "2026-11-29T09:00:00.000Z",
  kind: "scheduled",
  scheduledFor: "2026-11-29T09:00:00.000Z",
  job: "log",
  payload,
  attempt: 1,
  maxAttempts: 10,
  fencingToken: 1,
  timeoutSeconds: 60,
  scheduleVersion: "0123456789abcdef",
});

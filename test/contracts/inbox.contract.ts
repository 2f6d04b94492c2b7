import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Inbox, InboxMessage } from "../../lib/app/ports.ts";

/** One implementation, with a queue of its own. */
export interface InboxWorld {
  readonly inbox: Inbox;
  send(bodies: readonly string[]): Promise<void>;
  /** Lets `ms` pass where the queue is. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

const never = new AbortController().signal;
/** Short, since on a real queue it passes in real time. */
const SHORT_SECONDS = 1;
const LONG_SECONDS = 60;

/** What a worker relies on in an inbox. */
export function inboxContract(name: string, start: () => Promise<InboxWorld>): void {
  describe(`the inbox: ${name}`, () => {
    // A receive takes from the whole queue, so every test has a world, and with it a queue, of its own.
    const test = (behaviour: string, body: (world: InboxWorld) => Promise<void>) =>
      describe("", () => {
        let world: InboxWorld;
        beforeAll(async () => {
          world = await start();
        });
        afterAll(() => world.close());
        it(behaviour, () => body(world));
      });
    const receive = async (
      { inbox }: InboxWorld,
      { max = 10, waitSeconds = 0, visibilitySeconds = LONG_SECONDS } = {},
    ): Promise<readonly InboxMessage[]> => {
      const answer = await inbox.receive({ max, waitSeconds, visibilitySeconds, signal: never });
      if (answer.kind === "failed") throw answer.error;
      return answer.messages;
    };
    const receipts = (messages: readonly InboxMessage[]) => messages.map(({ receipt }) => receipt);
    const bodies = (messages: readonly InboxMessage[]) => messages.map(({ body }) => body).sort();
    const kinds = (verdicts: readonly { readonly kind: string }[]) => verdicts.map(({ kind }) => kind);

    test("hands messages out once, and counts how often", async (world) => {
      await world.send(["a", "b"]);
      const first = await receive(world);
      expect(bodies(first)).toEqual(["a", "b"]);
      expect(first.map(({ receives }) => receives)).toEqual([1, 1]);
      expect(new Set(first.map(({ id }) => id)).size).toBe(2);
      expect(await receive(world)).toEqual([]);
    });

    test("hands out no more than it is asked for, nor than a receive can bring", async (world) => {
      await world.send(Array.from({ length: 14 }, () => randomUUID()));
      expect(await receive(world, { max: 2 })).toHaveLength(2);
      expect(await receive(world, { max: 100 })).toHaveLength(10);
      expect(await receive(world)).toHaveLength(2);
    });

    test("waits for a first message as long as it is told, and not when it is aborted", async (world) => {
      expect(await receive(world, { waitSeconds: 1 })).toEqual([]);
      const gone = AbortSignal.abort();
      const request = { max: 1, waitSeconds: 20, visibilitySeconds: LONG_SECONDS, signal: gone };
      expect(await world.inbox.receive(request)).toEqual({ kind: "received", messages: [] });
    });

    test("removes what is acknowledged, also more than a request can name", async (world) => {
      await world.send(Array.from({ length: 12 }, (_, index) => String(index)));
      const all = [...(await receive(world)), ...(await receive(world))];
      expect(kinds(await world.inbox.acknowledge(receipts(all)))).toEqual(Array.from({ length: 12 }, () => "done"));
      await world.inbox.hide(receipts(all), 0);
      expect(await receive(world)).toEqual([]);
    });

    test("takes the same receipt twice in a request, and answers for each (F299)", async (world) => {
      await world.send(["a"]);
      const [receipt = ""] = receipts(await receive(world));
      expect(await world.inbox.acknowledge([receipt, receipt])).toHaveLength(2);
      expect(await receive(world)).toEqual([]);
    });

    test("hands back what is hidden for no time at all, and only that", async (world) => {
      await world.send(["a", "b"]);
      const held = await receive(world);
      const back = held.filter(({ body }) => body === "a");
      expect(kinds(await world.inbox.hide(receipts(back), 0))).toEqual(["done"]);
      const again = await receive(world);
      expect(again).toMatchObject([{ body: "a", receives: 2 }]);
    });

    test("keeps hidden what is hidden anew", async (world) => {
      await world.send(["a"]);
      const held = await receive(world, { visibilitySeconds: 3 });
      expect(kinds(await world.inbox.hide(receipts(held), LONG_SECONDS))).toEqual(["done"]);
      await world.pass(3_000);
      expect(await receive(world)).toEqual([]);
    });

    test("hands out again what was neither removed nor hidden anew in time", async (world) => {
      await world.send(["a"]);
      await receive(world, { visibilitySeconds: SHORT_SECONDS });
      await world.pass(SHORT_SECONDS * 1000);
      expect(await receive(world)).toMatchObject([{ body: "a", receives: 2 }]);
    });

    test("answers for each of many receipts, and nothing to none", async (world) => {
      expect(await world.inbox.acknowledge([])).toEqual([]);
      expect(await world.inbox.hide([], 0)).toEqual([]);
    });
  });
}

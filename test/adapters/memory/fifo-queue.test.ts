import { describe, expect, it } from "vitest";
import {
  DEDUPLICATION_WINDOW_MS,
  FifoQueue,
  type FifoQueueOptions,
  VISIBILITY_MAX_MS,
} from "../../../lib/adapters/memory/fifo-queue.ts";
import { instant } from "../../../lib/core/instant.ts";

const VISIBILITY_MS = 30_000;

function world(options: FifoQueueOptions = {}) {
  let nowMs = 0;
  const now = () => instant(nowMs);
  const queue = new FifoQueue("q", now, options);
  return {
    queue,
    now,
    advance: (ms: number) => {
      nowMs += ms;
    },
    send: (body: string, groupId = body, deduplicationId = body) =>
      queue.send({ groupId, deduplicationId, body, attributes: {} }),
    receive: (max = 10) => queue.receive({ max, visibilityMs: VISIBILITY_MS }),
    bodies: (max = 10) => queue.receive({ max, visibilityMs: VISIBILITY_MS }).map(({ body }) => body),
  };
}

describe("deduplication", () => {
  it("swallows an id for five minutes from its first send, also past deletion, and no longer", () => {
    const { queue, send, receive, advance, bodies } = world();
    expect(send("a")).toBe("taken");
    for (const { receiptHandle } of receive()) queue.delete(receiptHandle);
    advance(DEDUPLICATION_WINDOW_MS - 1);
    expect(send("a")).toBe("swallowed");
    expect(bodies()).toEqual([]);
    advance(1);
    expect(send("a")).toBe("taken");
    expect(bodies()).toEqual(["a"]);
  });

  it("goes by message group", () => {
    const { send, bodies } = world();
    send("a", "group-1", "id");
    expect(send("b", "group-2", "id")).toBe("taken");
    expect(send("c", "group-2", "id")).toBe("swallowed");
    expect(bodies()).toEqual(["a", "b"]);
  });
});

describe("a message group", () => {
  it("is blocked while a message of it is in flight, and others are not", () => {
    const { send, bodies, advance } = world();
    send("a1", "a");
    send("b1", "b");
    send("a2", "a");
    expect(bodies(1)).toEqual(["a1"]);
    expect(bodies()).toEqual(["b1"]);
    advance(VISIBILITY_MS);
    expect(bodies()).toEqual(["a1", "b1", "a2"]);
  });

  it("may come several messages at a time, or only one", () => {
    const several = world();
    const single = world({ severalOfAGroup: false });
    for (const { send } of [several, single]) for (const body of ["a1", "a2", "a3"]) send(body, "a");
    expect(several.bodies(2)).toEqual(["a1", "a2"]);
    expect(several.bodies()).toEqual([]);
    expect(single.bodies()).toEqual(["a1"]);
    expect(single.bodies()).toEqual([]);
  });

  it("goes on in order once its message was deleted", () => {
    const { queue, send, receive, bodies } = world({ severalOfAGroup: false });
    send("a1", "a");
    send("a2", "a");
    for (const { receiptHandle } of receive()) queue.delete(receiptHandle);
    expect(bodies()).toEqual(["a2"]);
  });
});

describe("visibility", () => {
  it("ends by itself, and the handle with it", () => {
    const { queue, send, receive, advance } = world();
    send("a");
    const [first] = receive();
    advance(VISIBILITY_MS - 1);
    expect(receive()).toEqual([]);
    advance(1);
    expect(queue.delete(first?.receiptHandle ?? "")).toBe("stale");
    const [second] = receive();
    expect(second?.receiveCount).toBe(2);
    expect(queue.delete(first?.receiptHandle ?? "")).toBe("stale");
    expect(queue.delete(second?.receiptHandle ?? "")).toBe("done");
    expect(queue.delete(second?.receiptHandle ?? "")).toBe("stale");
    expect(queue.peek()).toEqual([]);
  });

  it("can be made longer or shorter, for this receive only", () => {
    const { queue, send, receive, advance } = world();
    send("a");
    const [first] = receive();
    advance(20_000);
    expect(queue.changeVisibility(first?.receiptHandle ?? "", VISIBILITY_MS)).toBe("done");
    advance(20_000);
    expect(receive()).toEqual([]);
    expect(queue.changeVisibility(first?.receiptHandle ?? "", 0)).toBe("done");
    expect(queue.changeVisibility(first?.receiptHandle ?? "", 0)).toBe("stale");
    expect(receive()).toHaveLength(1);
    advance(VISIBILITY_MS);
    expect(receive()).toHaveLength(1);
  });

  it("lasts twelve hours at most, counted from the receive", () => {
    const { queue, send, receive, advance } = world();
    send("a");
    const [first] = receive();
    advance(10_000);
    const handle = first?.receiptHandle ?? "";
    expect(() => queue.changeVisibility(handle, VISIBILITY_MAX_MS - 9_999)).toThrow(
      "visibility must be at most 43200000 ms from the receive, got 43200001",
    );
    expect(queue.changeVisibility(handle, VISIBILITY_MAX_MS - 10_000)).toBe("done");
  });
});

describe("the limits of a queue", () => {
  it("lets it hand out nothing, and say nothing, while too many messages are in flight", () => {
    const { queue, send, receive, bodies } = world({ inFlightMax: 2 });
    for (const body of ["a", "b", "c"]) send(body);
    const [first] = receive();
    expect(bodies()).toEqual([]);
    queue.delete(first?.receiptHandle ?? "");
    expect(bodies()).toEqual(["c"]);
  });

  it("lets it forget what is older than its retention", () => {
    const { queue, send, advance } = world({ retentionMs: 60_000 });
    send("old");
    advance(30_000);
    send("young");
    advance(30_000);
    expect(queue.peek().map(({ body }) => body)).toEqual(["young"]);
  });
});

describe("redrive", () => {
  it("moves a message on the receive after the last allowed one, and hands out those behind it", () => {
    const { queue: deadLetters } = world();
    const { send, bodies, advance } = world({ redrive: { maxReceiveCount: 2, to: deadLetters } });
    send("poison");
    for (const receives of [1, 2]) {
      expect(bodies(), `receive ${receives}`).toEqual(["poison"]);
      advance(VISIBILITY_MS);
    }
    send("healthy");
    expect(bodies()).toEqual(["healthy"]);
    expect(deadLetters.peek()).toEqual([
      expect.objectContaining({ body: "poison", groupId: "poison", deduplicationId: "poison", receiveCount: 0 }),
    ]);
  });
});

describe("peek", () => {
  it("shows what lies in the queue, and what is in flight, without receiving it", () => {
    const { queue, send, receive } = world();
    send("a");
    send("b");
    receive(1);
    expect(queue.peek()).toMatchObject([{ body: "a", receiveCount: 1, invisibleUntil: VISIBILITY_MS }, { body: "b" }]);
    expect(queue.peek()[1]).not.toHaveProperty("invisibleUntil");
    expect(queue.peek()[1]).toMatchObject({ receiveCount: 0 });
  });
});

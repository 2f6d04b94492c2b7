import { describe, expect, it } from "vitest";
import { createMemoryBus } from "../../../lib/adapters/memory/bus.ts";
import { createMemoryQueue } from "../../../lib/adapters/memory/queue.ts";
import { DEAD_LETTER_QUEUE } from "../../../lib/app/ports.ts";
import { instant } from "../../../lib/core/instant.ts";

describe("queues in memory", () => {
  it("share no messages, and name the known ones when asked for another", async () => {
    const queue = createMemoryQueue({ now: () => instant(0), queues: { emails: {}, reports: {} } });
    await queue.send([{ queue: "emails", deduplicationId: "a", body: "{}" }]);
    expect(queue.peek("emails")).toHaveLength(1);
    expect(queue.peek("reports")).toEqual([]);
    expect(queue.peek(DEAD_LETTER_QUEUE)).toEqual([]);
    expect(() => queue.peek("nowhere")).toThrow("queue must be one of #dead-letters, emails, reports, got nowhere");
  });
});

describe("the event bus in memory", () => {
  it("keeps what was published, and fails what it is told to", async () => {
    const down = new Error("down");
    const bus = createMemoryBus(({ detailType }) => (detailType === "bad" ? down : undefined));
    const good = { detailType: "good", detail: {} };
    expect(await bus.publish([good, { detailType: "bad", detail: {} }])).toEqual([
      { kind: "accepted" },
      { kind: "failed", error: down },
    ]);
    expect(bus.published).toEqual([good]);
  });
});

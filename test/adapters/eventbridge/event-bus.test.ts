import {
  EventBridgeClient,
  PutEventsCommand,
  type PutEventsCommandInput,
  type PutEventsCommandOutput,
} from "@aws-sdk/client-eventbridge";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, it } from "vitest";
import { createEventBus } from "../../../lib/adapters/eventbridge/event-bus.ts";
import type { Announcement } from "../../../lib/app/ports.ts";

type Answer = (input: PutEventsCommandInput) => Omit<PutEventsCommandOutput, "$metadata">;

const taking: Answer = ({ Entries = [] }) => ({
  FailedEntryCount: 0,
  Entries: Entries.map((_, index) => ({ EventId: `event-${index}` })),
});

function world(answer: Answer = taking) {
  const client = new EventBridgeClient({ region: "eu-west-1" });
  const requests: PutEventsCommandInput[] = [];
  mockClient(client)
    .on(PutEventsCommand)
    .callsFake((input: PutEventsCommandInput) => {
      requests.push(input);
      return answer(input);
    });
  return { bus: createEventBus({ client, busName: "runs", source: "punctual" }), requests };
}

const announcements = (count: number, text = ""): Announcement[] =>
  Array.from({ length: count }, (_, index) => ({ detailType: "Occurrence Failed", detail: { index, text } }));

describe("the event bus", () => {
  it("puts source, detail type and the detail as JSON on the bus", async () => {
    const { bus, requests } = world();
    expect(await bus.publish(announcements(1, "é"))).toEqual([{ kind: "accepted" }]);
    expect(requests).toEqual([
      {
        Entries: [
          {
            EventBusName: "runs",
            Source: "punctual",
            DetailType: "Occurrence Failed",
            Detail: '{"index":0,"text":"é"}',
          },
        ],
      },
    ]);
  });

  it("puts ten events a request, and no more than 256 KB", async () => {
    const byNumber = world();
    await byNumber.bus.publish(announcements(23));
    expect(byNumber.requests.map(({ Entries = [] }) => Entries.length)).toEqual([10, 10, 3]);
    const bySize = world();
    await bySize.bus.publish(announcements(3, "x".repeat(100_000)));
    expect(bySize.requests.map(({ Entries = [] }) => Entries.length)).toEqual([2, 1]);
  });

  it("publishes nothing without a request", async () => {
    const { bus, requests } = world();
    expect(await bus.publish([])).toEqual([]);
    expect(requests).toEqual([]);
  });

  it("answers per event: of ten, the three that were refused", async () => {
    const { bus } = world(({ Entries = [] }) => ({
      FailedEntryCount: 3,
      Entries: Entries.map((_, index) =>
        [2, 5, 9].includes(index)
          ? { ErrorCode: "ThrottlingException", ErrorMessage: "slow down" }
          : { EventId: `event-${index}` },
      ),
    }));
    const answers = await bus.publish(announcements(10));
    expect(answers.flatMap(({ kind }, index) => (kind === "failed" ? [index] : []))).toEqual([2, 5, 9]);
    expect(answers[2]).toMatchObject({
      error: { message: "event bus runs refused the event: ThrottlingException: slow down" },
    });
  });

  it("takes an event that the answer does not mention for failed", async () => {
    const { bus } = world(() => ({ FailedEntryCount: 0, Entries: [{ EventId: "event-0" }] }));
    expect((await bus.publish(announcements(2))).map(({ kind }) => kind)).toEqual(["accepted", "failed"]);
  });

  it("lets a request that fails take down none of another", async () => {
    const { bus } = world((input) => {
      if (input.Entries?.some(({ Detail }) => Detail?.includes('"index":3,'))) throw new Error("socket hang up");
      return taking(input);
    });
    const answers = await bus.publish(announcements(15));
    expect(answers.map(({ kind }) => kind)).toEqual([
      ...new Array(10).fill("failed"),
      ...new Array(5).fill("accepted"),
    ]);
    expect(answers[0]).toMatchObject({
      error: { message: "event bus runs did not take the request: Error: socket hang up" },
    });
  });

  it("fails an event that is too large by itself, with the numbers, and sends the others", async () => {
    const { bus, requests } = world();
    const [huge, small] = await bus.publish([...announcements(1, "x".repeat(300_000)), ...announcements(1)]);
    expect(huge).toMatchObject({
      kind: "failed",
      error: { message: "event bus runs takes at most 262144 bytes, got 300046" },
    });
    expect(small).toEqual({ kind: "accepted" });
    expect(requests).toHaveLength(1);
  });
});

import { describe, expect, it } from "vitest";
import { toShardRecord } from "../../../lib/local/event-sources/stream-event.ts";

const read = {
  eventID: "e1",
  eventName: "MODIFY" as const,
  awsRegion: "local",
  dynamodb: {
    SequenceNumber: "7",
    ApproximateCreationDateTime: new Date("2026-11-29T14:05:00Z"),
    Keys: { id: { S: "a" } },
    NewImage: {
      binary: { B: new Uint8Array([1, 2]) },
      nested: { M: { list: { L: [{ N: "1" }, { BOOL: true }, { NULL: true }] } } },
      sets: { BS: [new Uint8Array([3])] },
    },
    StreamViewType: "NEW_AND_OLD_IMAGES" as const,
  },
};

describe("a stream record", () => {
  it("with an attribute whose value the SDK lost comes through without it", () => {
    const NewImage = { kept: { S: "x" } };
    Reflect.defineProperty(NewImage, "__proto__", { value: undefined, enumerable: true });
    const { record } = toShardRecord({ ...read, dynamodb: { ...read.dynamodb, NewImage } }, "arn:stream", undefined);
    expect(record.dynamodb?.NewImage).toEqual({ kept: { S: "x" } });
  });

  it("reaches the function in Lambda's form: seconds, and binary in base64", () => {
    expect(toShardRecord(read, "arn:stream", undefined)).toEqual({
      sequenceNumber: "7",
      record: {
        eventID: "e1",
        eventName: "MODIFY",
        awsRegion: "local",
        eventSource: "aws:dynamodb",
        eventSourceARN: "arn:stream",
        dynamodb: {
          SequenceNumber: "7",
          ApproximateCreationDateTime: Date.parse("2026-11-29T14:05:00Z") / 1_000,
          Keys: { id: { S: "a" } },
          NewImage: {
            binary: { B: "AQI=" },
            nested: { M: { list: { L: [{ N: "1" }, { BOOL: true }, { NULL: true }] } } },
            sets: { BS: ["Aw=="] },
          },
          StreamViewType: "NEW_AND_OLD_IMAGES",
        },
      },
    });
  });

  it("was not written before what is known of it, whatever minute the stand-in rounds it to", () => {
    const creation = (notBefore: string) =>
      toShardRecord(read, "arn:stream", Date.parse(notBefore)).record.dynamodb?.ApproximateCreationDateTime;
    expect(creation("2026-11-29T14:05:33.687Z")).toBe(Date.parse("2026-11-29T14:05:33Z") / 1_000);
    expect(creation("2026-11-29T14:04:59.000Z")).toBe(Date.parse("2026-11-29T14:05:00Z") / 1_000);
  });
});

import { describe, expect, it } from "vitest";
import {
  contentHash,
  deadLetterDeduplicationId,
  deduplicationId,
  manualFiring,
  manualOccurrenceId,
  occurrenceIdAt,
  shardOf,
} from "../../lib/core/ids.ts";
import { instant } from "../../lib/core/instant.ts";

const NINE = instant(Date.UTC(2026, 10, 29, 9));
const UUID_SCHEDULE = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";

describe("an OccurrenceId", () => {
  // Computed with Python's uuid.uuid5, an implementation of its own.
  it.each([
    ["nightly", NINE, "684b4bbf-bd85-580b-88b8-3142bed04f21"],
    ["nightly", instant(0), "843821cf-7ca3-5ba5-8287-2ae890da738a"],
    ["nightly", instant(-1), "6335a95e-32e3-5585-9652-b8ac0d37ce3f"],
    ["nightly", instant(-14_182_940_000), "9b368fa5-00e7-512e-a1ec-6333584b98c8"],
    [UUID_SCHEDULE, NINE, "f16dc807-c4ff-51c7-9bf4-a8b225fa2bb4"],
    ["NIGHTLY", instant(0), "718f8193-083f-5e36-b93d-44959772333a"],
  ])("of %s at %i is %s, in every process and for ever", (scheduleId, at, id) => {
    expect(occurrenceIdAt(scheduleId, at)).toBe(id);
  });

  it("of a manual run comes from its caller's key", () => {
    expect(manualFiring("2026-11")).toBe("manual#2026-11");
    expect(manualOccurrenceId("nightly", "2026-11")).toBe("41f28d36-b4cb-512b-84b3-2d1e53ce4b78");
  });

  it("of a manual run is never that of a firing, though its key reads like one (F248)", () => {
    expect(manualOccurrenceId("nightly", String(NINE))).not.toBe(occurrenceIdAt("nightly", NINE));
  });

  it("differs between schedules whose ids are the same UUID in other letters", () => {
    const shouted = UUID_SCHEDULE.toUpperCase();
    expect(occurrenceIdAt(shouted, instant(0))).not.toBe(occurrenceIdAt(UUID_SCHEDULE, instant(0)));
    expect(occurrenceIdAt(shouted, instant(0))).toBe("6c3dab3a-0c79-5430-8d0c-4a2dec3f010d");
  });
});

describe("a shard", () => {
  const ids = Array.from({ length: 4_000 }, (_, minute) => occurrenceIdAt("nightly", instant(minute * 60_000)));

  it("is one of those there are, and always the same", () => {
    for (const id of ids.slice(0, 100)) {
      expect([0, 1, 2]).toContain(shardOf(id, 3));
      expect(shardOf(id, 3)).toBe(shardOf(id, 3));
      expect(shardOf(id, 1)).toBe(0);
    }
  });

  it("gets its share of a schedule's rows", () => {
    const counts = new Map<number, number>();
    for (const id of ids) counts.set(shardOf(id, 8), (counts.get(shardOf(id, 8)) ?? 0) + 1);
    for (const count of counts.values()) expect(Math.abs(count - 500)).toBeLessThan(120);
    expect(counts.size).toBe(8);
  });
});

describe("a deduplication id", () => {
  it("is the bare OccurrenceId at the first token, and names the token later", () => {
    expect([1, 2, 11].map((token) => deduplicationId("id", token))).toEqual(["id", "id:2", "id:11"]);
    expect(deadLetterDeduplicationId("id", 1)).toBe("dead:id:1");
  });
});

describe("a content hash", () => {
  it("does not depend on the order of keys, at any depth", () => {
    expect(contentHash({ a: 1, b: { c: [1, { d: 2, e: 3 }] } })).toBe(
      contentHash({ b: { c: [1, { e: 3, d: 2 }] }, a: 1 }),
    );
  });

  it("depends on values, types and the order of lists, and not on members that are not there", () => {
    const hashes = [{ a: 1 }, { a: "1" }, { a: true }, { a: null }, { a: [1, 2] }, { a: [2, 1] }, {}].map(contentHash);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(contentHash({ a: 1, b: undefined })).toBe(contentHash({ a: 1 }));
  });

  it("is sixteen hexadecimal digits that stay the same from build to build", () => {
    expect(contentHash({ rate: "5 minutes" })).toMatch(/^[0-9a-f]{16}$/);
    expect(contentHash({ rate: "5 minutes" })).toBe("7145441631735726");
  });
});

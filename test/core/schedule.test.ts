import { describe, expect, it } from "vitest";
import { instant, toIso } from "../../lib/core/instant.ts";
import { parseSchedule, pauseNote } from "../../lib/core/schedule.ts";
import { DEFINITION_ATTRIBUTES, PAYLOAD_MAX_BYTES } from "../../lib/core/schedule-definition.ts";
import { definitionVersion, isSameTiming } from "../../lib/core/schedule-version.ts";
import { LIMITS, problemsWith, scheduleItem, scheduleOf } from "../support/schedules.ts";

const NOON = instant(Date.UTC(2026, 10, 29, 12));

describe("a schedule's item", () => {
  it("needs no more than an id and a timing", () => {
    const { snapshot, ...schedule } = scheduleOf({ scheduleId: "hello", rate: "5 seconds" });
    expect(schedule).toMatchObject({ scheduleId: "hello", enabled: true, paused: false, warnings: [] });
    expect(snapshot).toEqual({
      scheduleVersion: schedule.version,
      payload: "{}",
      job: "default",
      queue: "default",
      retry: { maxAttempts: 10, baseDelaySeconds: 1, multiplier: 2, maxDelaySeconds: 300, jitter: true },
      timeoutSeconds: 60,
      startDeadlineSeconds: 86_400,
      timezone: "UTC",
      misfirePolicy: { policy: "coalesce", graceSeconds: 120, catchupWindowSeconds: 86_400 },
      overlap: "allow",
    });
  });

  it("may say everything that there is to say", () => {
    const item = {
      scheduleId: "invoices.eu_1-x",
      cron: "0 9 * * MON-FRI",
      timezone: "Europe/Berlin",
      dst: { gap: "skip", repeated: "both" },
      enabled: false,
      payload: [1, "two", null, { three: true }],
      job: "send-invoice",
      queue: "slow",
      group: "tenant-7",
      startAt: "2026-01-01T00:00:00Z",
      endAt: "2027-01-01T00:00:00Z",
      jitterSeconds: 30,
      misfire: { policy: "all", graceSeconds: 10, catchupWindowSeconds: 600 },
      overlap: "wait",
      retry: { maxAttempts: 2, baseDelaySeconds: 0.5, multiplier: 1, maxDelaySeconds: 60, jitter: false },
      timeoutSeconds: 1_800,
      startDeadlineSeconds: 3_600,
      effects: "fenced",
      deleteAfterCompletion: true,
      pauseAfterDeadLetters: 3,
      description: "Sends invoices",
      tags: { team: "billing" },
      managedBy: "stack/billing",
    };
    // `rate` and `at` stand in `cron`'s place.
    expect([...Object.keys(item), "rate", "at"].sort()).toEqual([...DEFINITION_ATTRIBUTES].sort());
    expect(scheduleOf(item)).toMatchObject({ enabled: false, deleteAfterCompletion: true, warnings: [] });
    expect(scheduleOf(item).snapshot).toMatchObject({
      payload: '[1,"two",null,{"three":true}]',
      queue: "slow",
      retry: item.retry,
      misfirePolicy: item.misfire,
      overlap: "wait",
      timezone: "Europe/Berlin",
    });
  });

  it("keeps the defaults of what its maps leave out, the queue's own before the project's", () => {
    const { retry, misfirePolicy } = scheduleOf(
      scheduleItem({ queue: "slow", retry: { jitter: false }, misfire: { policy: "skip" } }),
    ).snapshot;
    expect(retry).toEqual({
      maxAttempts: 3,
      baseDelaySeconds: 1,
      multiplier: 2,
      maxDelaySeconds: 300,
      jitter: false,
    });
    expect(misfirePolicy).toEqual({ policy: "skip", graceSeconds: 120, catchupWindowSeconds: 86_400 });
  });

  it("asks for no longer a timeout by default than its queue can give", () => {
    const limits = { ...LIMITS, queues: { default: { timeoutMaxSeconds: 20 } } };
    expect(scheduleOf(scheduleItem(), limits).snapshot.timeoutSeconds).toBe(20);
  });
});

describe("an attribute of the wrong type or range", () => {
  it.each<[string, unknown, string]>([
    ["scheduleId", 7, "must be text, got 7"],
    ["scheduleId", "a b", "must be 1-128 letters, digits, '.', '_' or '-', got \"a b\""],
    ["scheduleId", "a@b", "must be 1-128 letters, digits, '.', '_' or '-', got \"a@b\""],
    ["rate", 5, "must be text, for example '5 minutes', got 5"],
    ["timezone", 1, "must be an IANA time zone name, got 1"],
    ["enabled", "true", 'must be true or false, got "true"'],
    ["job", "", "must be 1-128 letters, digits, '.', '_' or '-', got \"\""],
    ["group", "x".repeat(129), `must be 1-128 letters, digits, '.', '_' or '-', got "${"x".repeat(79)}...`],
    ["startAt", 0, "must be text, an ISO instant, got 0"],
    ["jitterSeconds", "30", 'must be a number of seconds from 0 to 86400, got "30"'],
    ["jitterSeconds", -1, "must be a number of seconds from 0 to 86400, got -1"],
    ["misfire", "skip", 'must be a map of policy, graceSeconds and catchupWindowSeconds, got "skip"'],
    ["misfire.policy", { policy: "never" }, 'must be one of coalesce, all, skip, got "never"'],
    ["misfire.grace", { grace: 5 }, "is not known here; remove it or mend its spelling"],
    ["overlap", true, "must be one of allow, skip, wait, replace, got true"],
    ["retry", 3, "must be a map of maxAttempts, baseDelaySeconds, multiplier, maxDelaySeconds and jitter, got 3"],
    ["retry.maxAttempts", { maxAttempts: 0 }, "must be a whole number from 1 to 100, got 0"],
    ["retry.maxAttempts", { maxAttempts: 2.5 }, "must be a whole number from 1 to 100, got 2.5"],
    ["retry.multiplier", { multiplier: 0.5 }, "must be a number from 1 to 100, got 0.5"],
    // F272: a policy that is no number at all.
    ["retry.multiplier", { multiplier: Number.NaN }, "must be a number from 1 to 100, got NaN"],
    ["retry.jitter", { jitter: 0 }, "must be true or false, got 0"],
    ["dst.gap", { gap: "second" }, 'must be one of shift, skip, got "second"'],
    ["timeoutSeconds", 0, "must be a number of seconds from 1 to 604800, got 0"],
    ["startDeadlineSeconds", 59, "must be a number of seconds from 60 to 1209600, got 59"],
    ["effects", "some", 'must be one of idempotent, fenced, none, got "some"'],
    ["pauseAfterDeadLetters", 0, "must be a whole number from 1 to 1000, got 0"],
    ["description", 1, "must be text, got 1"],
    ["tags", ["a"], 'must be a map of text to text, got ["a"]'],
    ["tags.team", { team: 1 }, "must be text, got 1"],
  ])("is named with what it must be: %s of %j", (path, value, message) => {
    const [attribute = ""] = path.split(".");
    expect(problemsWith(scheduleItem({ [attribute]: value }))).toContainEqual({ path, message });
  });

  it("hides no other: every problem is told at once", () => {
    const problems = problemsWith({ scheduleId: "a b", cron: "61 * * * *", enabled: 1, retry: { maxAttempts: 0 } });
    expect(problems.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["scheduleId", "cron", "enabled", "retry.maxAttempts"]),
    );
  });

  it("keeps an item that is no map of attributes at all from being anything but invalid", () => {
    expect(problemsWith({}).length).toBeGreaterThan(0);
  });
});

describe("a timing", () => {
  const timed = (given: Record<string, unknown>) => problemsWith({ scheduleId: "nightly", ...given });

  it("must be exactly one of cron, rate and at", () => {
    expect(timed({})).toHaveLength(1);
    expect(timed({ cron: "0 9 * * *", rate: "5 minutes" })).toHaveLength(1);
    expect(timed({ cron: "0 9 * * *", rate: "5 minutes", at: "2027-01-01T00:00" })).toHaveLength(1);
    for (const problem of [...timed({}), ...timed({ cron: "0 9 * * *", at: "2027-01-01T00:00" })])
      expect(problem.message).toMatch(/cron.*rate.*at/);
  });

  it("is not called missing where it is there in the wrong type", () => {
    expect(timed({ rate: 5 })).toEqual([{ path: "rate", message: "must be text, for example '5 minutes', got 5" }]);
    expect(timed({ cron: ["0 9 * * *"] })).toEqual([{ path: "cron", message: 'must be text, got ["0 9 * * *"]' }]);
  });

  it("must be one that can be read, in a time zone that exists (F196)", () => {
    expect(timed({ cron: "0 25 * * *" })[0]).toMatchObject({ path: "cron" });
    expect(timed({ rate: "5 parsecs" })[0]).toMatchObject({ path: "rate" });
    expect(timed({ at: "tomorrow" })[0]).toMatchObject({ path: "at" });
    expect(timed({ cron: "0 9 * * *", timezone: "Mars/Olympus" })[0]).toMatchObject({ path: "timezone" });
  });
});

describe("what a deployment allows", () => {
  it("is a queue that it has", () => {
    expect(problemsWith(scheduleItem({ queue: "fast" }))).toEqual([
      { path: "queue", message: 'must be a queue of this deployment (default, slow), got "fast"' },
    ]);
  });

  it.each(["constructor", "toString", "hasOwnProperty"])("is no queue named %s for being every object's", (queue) => {
    expect(problemsWith(scheduleItem({ queue }))).toMatchObject([{ path: "queue" }]);
  });

  it("is no longer a timeout than the queue's consumer can give", () => {
    expect(problemsWith(scheduleItem({ timeoutSeconds: 290 }))).toEqual([]);
    expect(problemsWith(scheduleItem({ timeoutSeconds: 291 }))).toEqual([
      { path: "timeoutSeconds", message: 'must be at most the 290 that queue "default" can give, got 291' },
    ]);
  });

  it("is no longer a catch-up than history is kept", () => {
    const catchup = (catchupWindowSeconds: number) => problemsWith(scheduleItem({ misfire: { catchupWindowSeconds } }));
    expect(catchup(30 * 86_400)).toEqual([]);
    expect(catchup(30 * 86_400 + 1)).toMatchObject([{ path: "misfire.catchupWindowSeconds" }]);
  });

  it("is a payload without members that DynamoDB's client would lose", () => {
    const payload = JSON.parse('{"a":[{"__proto__":1}]}');
    expect(problemsWith(scheduleItem({ payload }))).toEqual([
      {
        path: "payload",
        message: 'must not have a member named __proto__, which would be lost, got {"a":[{"__proto__":1}]}',
      },
    ]);
    expect(problemsWith(scheduleItem({ payload: { a: '{"__proto__":1}' } }))).toEqual([]);
  });

  it("is a payload that DynamoDB can hold: names that are not empty, at most 30 levels deep", () => {
    const messagesOf = (payload: unknown) => problemsWith(scheduleItem({ payload })).map(({ message }) => message);
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    expect(messagesOf({ a: [{ "": 1 }] })).toEqual([
      expect.stringMatching(/^must not have a member whose name is empty/),
    ]);
    expect(messagesOf(nested(30))).toEqual([]);
    expect(messagesOf(nested(31))).toEqual([
      expect.stringMatching(/^must not nest lists and maps more than 30 levels/),
    ]);
  });

  it("is a payload of 32 KB of JSON, in bytes", () => {
    const payload = (characters: number) => problemsWith(scheduleItem({ payload: "é".repeat(characters) }));
    expect(payload((PAYLOAD_MAX_BYTES - 2) / 2)).toEqual([]);
    expect(payload((PAYLOAD_MAX_BYTES - 2) / 2 + 1)).toEqual([
      {
        path: "payload",
        message: "must be at most 32768 bytes of JSON, got 32770; keep larger data in S3 and put its key here",
      },
    ]);
  });
});

describe("a warning", () => {
  it("names a grace that firings on time outlast", () => {
    const graceOf = (graceSeconds: number) => scheduleOf(scheduleItem({ misfire: { graceSeconds } })).warnings;
    expect(graceOf(2)).toEqual([expect.stringMatching(/^misfire.graceSeconds: .* with a grace of 2$/)]);
    expect(graceOf(3)).toEqual([]);
  });

  it("meets attributes that nothing reads, and stops no schedule", () => {
    expect(scheduleOf(scheduleItem({ cronn: "x", fromTheFuture: 1 })).warnings).toEqual([
      "cronn: is no attribute of a schedule and changes nothing",
      "fromTheFuture: is no attribute of a schedule and changes nothing",
    ]);
  });

  it("meets effects that a second run would do harm to, and what others write on the item earns none", () => {
    const { warnings } = scheduleOf(scheduleItem({ effects: "none", paused: false, resumedAt: "x", status: {} }));
    expect(warnings).toEqual([expect.stringMatching(/^effects: 'none' .* may happen twice$/)]);
  });
});

describe("a version", () => {
  it("stays the same whatever the order of attributes, whoever pauses, and whatever the system writes", () => {
    const version = definitionVersion({
      scheduleId: "nightly",
      rate: "5 minutes",
      payload: { a: 1, b: [{ c: 2, d: 3 }] },
    });
    expect(
      definitionVersion({ payload: { b: [{ d: 3, c: 2 }], a: 1 }, rate: "5 minutes", scheduleId: "nightly" }),
    ).toBe(version);
    const others = { paused: { at: toIso(NOON) }, resumedAt: toIso(NOON), status: { state: "ACTIVE" }, unknown: 1 };
    expect(
      definitionVersion({
        scheduleId: "nightly",
        rate: "5 minutes",
        payload: { a: 1, b: [{ c: 2, d: 3 }] },
        ...others,
      }),
    ).toBe(version);
  });

  it("changes with every attribute of the definition", () => {
    const versions = DEFINITION_ATTRIBUTES.map((attribute) =>
      definitionVersion({ ...scheduleItem(), [attribute]: "x" }),
    );
    expect(new Set([...versions, definitionVersion(scheduleItem())]).size).toBe(DEFINITION_ATTRIBUTES.length + 1);
  });

  it("is the one that stands on the rows of earlier deployments", () => {
    const item = {
      scheduleId: "nightly",
      cron: "0 9 * * MON-FRI",
      timezone: "Europe/Berlin",
      payload: { b: 1, a: [2] },
    };
    // Whoever changes this puts a mark and a colon before it: see docs/decisions/0014.
    expect(definitionVersion(item)).toBe("68860268dde59549-fa94b6ad3b1bf71b");
  });

  it("says whether the firing times are the same, and of a release that hashes otherwise takes them for the same", () => {
    const [hourly, edited, halfHourly] = [
      { rate: "1 hour" },
      { rate: "1 hour", payload: 1 },
      { rate: "30 minutes" },
    ].map((item) => definitionVersion({ scheduleId: "a", ...item }));
    expect(isSameTiming(hourly ?? "", edited ?? "")).toBe(true);
    expect(isSameTiming(hourly ?? "", halfHourly ?? "")).toBe(false);
    expect(isSameTiming(hourly ?? "", "2:0123456789abcdef-0123456789abcdef")).toBe(true);
    expect(isSameTiming("2:01-23", "2:45-23")).toBe(false);
  });

  it("is there for an invalid definition too, so that its status can be kept right", () => {
    const item = scheduleItem({
      enabled: "yes",
      status: { state: "INVALID", version: "v", since: toIso(NOON), problem: "p" },
    });
    expect(parseSchedule(item, LIMITS)).toMatchObject({
      kind: "invalid",
      scheduleId: "nightly",
      version: definitionVersion(item),
      status: { state: "INVALID", since: NOON, problem: "p" },
    });
  });
});

describe("what others write on the item", () => {
  it.each([[true], ["yes"], [{}], [{ at: "x" }], [0], [[]]])("pauses by `paused: %j`, typed by hand", (paused) => {
    expect(scheduleOf(scheduleItem({ paused })).paused).toBe(true);
  });

  it.each([[false], [null], [undefined]])("does not pause by `paused: %j`", (paused) => {
    expect(scheduleOf(scheduleItem({ paused })).paused).toBe(false);
  });

  it("is read where it makes sense, and ignored where it does not", () => {
    const status = { state: "ACTIVE", version: "v", since: toIso(NOON) };
    expect(scheduleOf(scheduleItem({ resumedAt: toIso(NOON), status }))).toMatchObject({
      resumedAt: NOON,
      status: { state: "ACTIVE", version: "v", since: NOON },
    });
    const odd = scheduleOf(scheduleItem({ resumedAt: "yesterday", status: { state: "ODD" } }));
    expect(odd).not.toHaveProperty("resumedAt");
    expect(odd).not.toHaveProperty("status");
  });

  it("tells who paused and why, where they said so", () => {
    const paused = { at: toIso(NOON), by: "ops", note: "incident 7" };
    expect(pauseNote({ paused })).toEqual(paused);
    expect(pauseNote({ paused: { at: toIso(NOON) } })).toEqual({ at: toIso(NOON) });
    expect(pauseNote({ paused: true })).toBeUndefined();
    expect(pauseNote({})).toBeUndefined();
  });
});

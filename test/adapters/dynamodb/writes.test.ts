import { BatchExecuteStatementCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import type { OccurrenceWrite } from "../../../lib/app/ports.ts";
import { plusMs } from "../../../lib/core/instant.ts";
import { transition } from "../../../lib/core/transition.ts";
import { anOccurrence, NOON } from "../../support/occurrences.ts";
import { applied, failed, metadata, serviceError, stubbedStores } from "./stub.ts";

const row = anOccurrence();
const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => anOccurrence({ scheduledFor: plusMs(NOON, index * 1_000) }));
const release = (of = row): OccurrenceWrite => ({
  key: of,
  guard: [{ attribute: "status", op: "=", value: "DISPATCHED" }],
  change: { set: { status: "PENDING" } },
});
const HISTORY = { historySeconds: 30 * 86_400 };

describe("a conditional write", () => {
  it("is one UPDATE that names its guard's clauses and gives the row back", async () => {
    const { occurrences, dynamodb, batches } = stubbedStores();
    dynamodb.on(BatchExecuteStatementCommand).resolves({ Responses: [applied(row)], ...metadata() });
    const claim = transition({ ...row, owner: "old" }, { type: "claim", owner: "me" }, NOON, HISTORY);
    if (claim.kind === "refused") throw new Error(claim.reason);
    expect(await occurrences.write([{ key: row, ...claim }])).toEqual([{ kind: "applied", row }]);
    const [[statement] = []] = batches();
    expect(statement?.Statement).toBe(
      'UPDATE "Occurrences" SET "status" = ? SET "claimedAt" = ? SET "firstDueAt" = ? SET "owner" = ? SET "leaseUntil" = ? ' +
        'SET "dueAt" = ? SET "attempts" = "attempts" + ? SET "fencingToken" = "fencingToken" + ? ' +
        'WHERE "scheduleId" = ? AND "firing" = ? AND "status" = ? AND "fencingToken" = ? AND "owner" = ? AND "dueAt" = ? ' +
        'AND "attempts" < ? AND "scheduleVersion" = ? RETURNING ALL NEW *',
    );
    const [now, lease] = [String(NOON), String(NOON + 60_000)];
    expect(statement?.Parameters).toEqual([
      { S: "DISPATCHED" },
      { N: now },
      { N: now },
      { S: "me" },
      { N: lease },
      { N: lease },
      { N: "1" },
      { N: "1" },
      { S: "nightly" },
      { S: row.firing },
      { S: "PENDING" },
      { N: "0" },
      { S: "old" },
      { N: now },
      { N: "10" },
      { S: row.scheduleVersion },
    ]);
  });

  it("renders every kind of clause and change", async () => {
    const { occurrences, batches } = stubbedStores();
    await occurrences.write([
      {
        key: row,
        guard: [
          { attribute: "status", op: "in", values: ["FAILED", "DEAD_LETTERED"] },
          { attribute: "leaseUntil", op: "<=", value: 5 },
          { attribute: "deadLetteredAt", op: "=", value: 4 },
        ],
        change: {
          set: {},
          appendLog: { token: 1, attempt: 1, startedAt: NOON },
          remove: ["owner", "leaseUntil"],
        },
      },
    ]);
    const [[statement] = []] = batches();
    expect(statement?.Statement).toBe(
      'UPDATE "Occurrences" SET "log" = list_append("log", ?) REMOVE "owner" REMOVE "leaseUntil" ' +
        'WHERE "scheduleId" = ? AND "firing" = ? AND "status" IN [?, ?] AND "leaseUntil" <= ? AND "deadLetteredAt" = ? ' +
        "RETURNING ALL NEW *",
    );
    expect(statement?.Parameters?.slice(0, 1)).toEqual([
      { L: [{ M: { token: { N: "1" }, attempt: { N: "1" }, startedAt: { N: String(NOON) } } }] },
    ]);
  });

  it("gives a finished row's time to live in seconds: milliseconds would keep it for fifty thousand years", async () => {
    const { occurrences, batches } = stubbedStores();
    const held = anOccurrence({ status: "DISPATCHED", fencingToken: 1, owner: "me" });
    const end = transition(held, { type: "enqueued", owner: "me" }, NOON, HISTORY);
    if (end.kind === "refused") throw new Error(end.reason);
    await occurrences.write([{ key: held, ...end }]);
    const [[statement] = []] = batches();
    const sets = statement?.Statement?.split(" SET ") ?? [];
    const index = sets.findIndex((text) => text.startsWith('"expiresAtSeconds"')) - 1;
    const ttl = Number(statement?.Parameters?.[index]?.N);
    expect(ttl).toBeGreaterThan(1e9);
    expect(ttl).toBeLessThan(1e11);
  });
});

describe("an insert", () => {
  it("names each attribute of the row, and none that is undefined", async () => {
    const { occurrences, dynamodb, batches } = stubbedStores();
    dynamodb.on(BatchExecuteStatementCommand).resolves({ Responses: [{}], ...metadata() });
    const { dueAt: _, ...finished } = anOccurrence({ status: "SKIPPED" });
    expect(await occurrences.insert([finished])).toEqual([{ kind: "inserted" }]);
    const [[statement] = []] = batches();
    expect(statement?.Statement).toMatch(
      /^INSERT INTO "Occurrences" VALUE \{'scheduleId': \?, 'firing': \?, .*'log': \?/,
    );
    expect(statement?.Statement).not.toContain("dueAt");
    expect(statement?.Parameters).toHaveLength(Object.keys(finished).length);
  });
});

describe("batches of statements", () => {
  it("go out in twenty-fives, each verdict matched to its own statement", async () => {
    const { occurrences, dynamodb, batches } = stubbedStores();
    const all = rows(60);
    dynamodb.on(BatchExecuteStatementCommand).callsFake(({ Statements }) => ({
      Responses: Statements.map(({ Parameters }: { Parameters: { S?: string }[] }) => {
        const firing = Parameters[2]?.S;
        const found = all.find((one) => one.firing === firing);
        return found && all.indexOf(found) % 2 === 0 ? applied(found) : failed("ConditionalCheckFailed");
      }),
      ...metadata(),
    }));
    const verdicts = await occurrences.write(all.map(release));
    expect(batches().map((batch) => batch.length)).toEqual([25, 25, 10]);
    expect(verdicts).toEqual(
      all.map((one, index) => (index % 2 === 0 ? { kind: "applied", row: one } : { kind: "refused" })),
    );
  });

  it("never name a key twice", async () => {
    const { occurrences, dynamodb, batches } = stubbedStores();
    dynamodb
      .on(BatchExecuteStatementCommand)
      .resolvesOnce({ Responses: [{}, {}], ...metadata() })
      .resolvesOnce({ Responses: [failed("DuplicateItem")], ...metadata() });
    const [first = row, second = row] = rows(2);
    const verdicts = await occurrences.insert([first, first, second]);
    expect(batches().map((batch) => batch.length)).toEqual([2, 1]);
    expect(verdicts).toEqual([{ kind: "inserted" }, { kind: "exists" }, { kind: "inserted" }]);
  });

  it("are nothing for nothing", async () => {
    const { occurrences, batches } = stubbedStores();
    expect(await occurrences.write([])).toEqual([]);
    expect(await occurrences.insert([])).toEqual([]);
    expect(batches()).toEqual([]);
  });
});

describe("what a statement's answer means", () => {
  const verdicts = async (code: Parameters<typeof failed>[0], attempts: number) => {
    const { occurrences, dynamodb } = stubbedStores();
    dynamodb.on(BatchExecuteStatementCommand).resolves({ Responses: [failed(code)], ...metadata(attempts) });
    const [insert, write] = [await occurrences.insert([row]), await occurrences.write([release()])];
    return [insert[0]?.kind, write[0]?.kind];
  };

  it.each([
    ["ConditionalCheckFailed", ["failed", "refused"]],
    ["DuplicateItem", ["exists", "failed"]],
    ["ThrottlingError", ["failed", "failed"]],
    ["ProvisionedThroughputExceeded", ["failed", "failed"]],
    ["RequestLimitExceeded", ["failed", "failed"]],
    ["ValidationError", ["failed", "failed"]],
    ["TransactionConflict", ["failed", "failed"]],
    ["AccessDenied", ["failed", "failed"]],
    ["InternalServerError", ["unknown", "unknown"]],
  ] as const)("%s", async (code, expected) => {
    expect(await verdicts(code, 1)).toEqual(expected);
  });

  it("says nothing certain after a second try, since the first may have taken effect; a row that stands stands", async () => {
    expect(await verdicts("ConditionalCheckFailed", 2)).toEqual(["unknown", "unknown"]);
    expect(await verdicts("ThrottlingError", 2)).toEqual(["unknown", "unknown"]);
    expect((await verdicts("DuplicateItem", 2))[0]).toBe("exists");
  });

  it("keeps a throttled statement's neighbours out of it", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    const [first = row, second = row, third = row] = rows(3);
    dynamodb.on(BatchExecuteStatementCommand).resolves({
      Responses: [applied(first), failed("ThrottlingError"), applied(third)],
      ...metadata(),
    });
    const verdicts = await occurrences.write([first, second, third].map(release));
    expect(verdicts.map(({ kind }) => kind)).toEqual(["applied", "failed", "applied"]);
  });

  it("is unknown where there is none", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    dynamodb.on(BatchExecuteStatementCommand).resolves({ Responses: [applied(row)], ...metadata() });
    const verdicts = await occurrences.write(rows(2).map(release));
    expect(verdicts.map(({ kind }) => kind)).toEqual(["applied", "unknown"]);
  });

  it("is unknown where the row that comes back cannot be read: it did take effect", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    const mangled = { ...applied(row), Item: { ...applied(row).Item, attempts: { S: "two" } } };
    dynamodb.on(BatchExecuteStatementCommand).resolves({ Responses: [mangled], ...metadata() });
    const [verdict] = await occurrences.write([release()]);
    expect(verdict).toMatchObject({
      kind: "unknown",
      error: { message: expect.stringContaining("attempts: must be") },
    });
  });
});

describe("a batch that fails as a whole", () => {
  const verdictsOf = async (thrown: Error) => {
    const { occurrences, dynamodb } = stubbedStores();
    dynamodb.on(BatchExecuteStatementCommand).rejects(thrown);
    return (await occurrences.write(rows(2).map(release))).map(({ kind }) => kind);
  };

  it.each([
    ["throttled", serviceError("ThrottlingException", 400), "failed"],
    ["refused its rights", serviceError("AccessDeniedException", 400), "failed"],
    ["throttled at a second try", serviceError("ThrottlingException", 400, 2), "unknown"],
    ["answered with a 5xx", serviceError("InternalServerError", 500), "unknown"],
    ["timed out", Object.assign(new Error("socket hang up"), { name: "TimeoutError" }), "unknown"],
    ["cut off", Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }), "unknown"],
  ] as const)("%s: all of it is that", async (_, thrown, kind) => {
    expect(await verdictsOf(thrown)).toEqual([kind, kind]);
  });

  it("fails alone: the other batches of the same call are answered", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    dynamodb
      .on(BatchExecuteStatementCommand)
      .rejectsOnce(serviceError("ThrottlingException", 400))
      .resolves({ Responses: rows(25).map(() => failed("ConditionalCheckFailed")), ...metadata() });
    const kinds = (await occurrences.write(rows(50).map(release))).map(({ kind }) => kind);
    expect(kinds).toEqual([...Array(25).fill("failed"), ...Array(25).fill("refused")]);
  });

  it("is taken apart where one statement makes it invalid", async () => {
    const { occurrences, dynamodb, batches } = stubbedStores();
    dynamodb.on(BatchExecuteStatementCommand).callsFake(({ Statements }) => {
      const poisoned = JSON.stringify(Statements).includes("poison");
      if (poisoned) throw serviceError("ValidationException", 400);
      return { Responses: [{}], ...metadata() };
    });
    const [first = row, second = row] = rows(2);
    const poison = anOccurrence({ scheduleId: "poison" });
    const kinds = (await occurrences.insert([first, poison, second])).map(({ kind }) => kind);
    expect(kinds).toEqual(["inserted", "failed", "inserted"]);
    expect(batches().map((batch) => batch.length)).toEqual([3, 1, 1, 1]);
  });
});

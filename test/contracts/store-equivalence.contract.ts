import fc from "fast-check";
import { expect, it } from "vitest";
import type { OccurrenceWrite } from "../../lib/app/ports.ts";
import type { Clause, Guard } from "../../lib/core/guard.ts";
import { instant } from "../../lib/core/instant.ts";
import { OCCURRENCE_KINDS, OCCURRENCE_STATUSES, type Occurrence } from "../../lib/core/occurrence.ts";
import { anOccurrence } from "../support/occurrences.ts";
import { newMemoryStores, type Stores } from "./stores.ts";

/** Few values, so that clauses and rows often meet; with the edges that text and numbers have. */
const texts = fc.constantFrom("", "a", "A", "a ", "ä", "🎉", "PENDING", "RUNNING", "scheduled", "10", "9");
const numbers = fc.constantFrom(-1, 0, 1, 2, 9, 10, 1_764_417_600_000, Number.MAX_SAFE_INTEGER);
const instants = numbers.filter((ms) => ms < 8.64e15).map(instant);

const rows: fc.Arbitrary<Occurrence> = fc
  .record(
    {
      status: fc.constantFrom(...OCCURRENCE_STATUSES),
      kind: fc.constantFrom(...OCCURRENCE_KINDS),
      fencingToken: numbers.filter((count) => count >= 0),
      attempts: numbers.filter((count) => count >= 0 && count < Number.MAX_SAFE_INTEGER),
      scheduleVersion: texts,
      owner: texts,
      dueAt: instants,
      leaseUntil: instants,
      deadLetteredAt: instants,
    },
    { requiredKeys: ["status", "kind", "fencingToken", "attempts", "scheduleVersion"] },
  )
  .map(({ dueAt, ...given }) => {
    const { dueAt: _, ...row } = anOccurrence(given);
    return dueAt === undefined ? row : { ...row, dueAt };
  });

const attribute = fc.constantFrom(
  ...([
    "status",
    "fencingToken",
    "owner",
    "dueAt",
    "leaseUntil",
    "attempts",
    "scheduleVersion",
    "kind",
    "deadLetteredAt",
  ] as const),
);
const clauses: fc.Arbitrary<Clause> = fc.oneof(
  fc.record({ attribute, op: fc.constant("=" as const), value: fc.oneof(texts, numbers) }),
  fc.record({ attribute, op: fc.constantFrom("<" as const, "<=" as const), value: numbers }),
  fc.record({ attribute, op: fc.constant("in" as const), values: fc.array(texts, { minLength: 1, maxLength: 3 }) }),
);

/** A clause that holds on `row` as often as not: mostly about a value that the row has. */
const guardFor = (row: Occurrence): fc.Arbitrary<Guard> =>
  fc.array(
    fc.oneof(
      clauses,
      attribute.map((name): Clause => {
        const value = row[name];
        return { attribute: name, op: "=", value: value ?? "" };
      }),
    ),
    { minLength: 1, maxLength: 3 },
  );

const cases = fc.array(
  rows.chain((row) => guardFor(row).map((guard) => ({ row, guard }))),
  { minLength: 1, maxLength: 50 },
);

/** Guards are data for two interpreters: `newStores` must judge as the memory store does. */
export function storeEquivalence(name: string, newStores: () => Promise<Stores>): void {
  it(`memory and ${name} judge every guard on every row alike`, async () => {
    const worlds = [newMemoryStores(), await newStores()];
    let run = 0;
    const verdicts = new Set<string>();
    await fc.assert(
      fc.asyncProperty(cases, async (given) => {
        run += 1;
        const named = given.map(({ row, guard }, index) => ({
          guard,
          row: { ...row, scheduleId: `run-${run}-${index}` },
        }));
        const writes = named.map(
          ({ row, guard }): OccurrenceWrite => ({
            key: row,
            guard,
            change: { set: { queue: "changed" }, add: { attempts: 1 }, remove: ["owner", "suspect"] },
          }),
        );
        const [memory, other] = await Promise.all(
          worlds.map(async ({ occurrences }) => {
            const inserted = await occurrences.insert(named.map(({ row }) => row));
            expect(inserted.every(({ kind }) => kind === "inserted")).toBe(true);
            return occurrences.write(writes);
          }),
        );
        expect(other).toEqual(memory);
        for (const { kind } of memory ?? []) verdicts.add(kind);
      }),
      { numRuns: 40 },
    );
    expect([...verdicts].sort()).toEqual(["applied", "refused"]);
  });
}

import type { OccurrenceStatus } from "./occurrence.ts";

/** What a guard can compare: the attributes of an occurrence that decide who may change it. */
export type GuardedAttribute =
  | "status"
  | "fencingToken"
  | "owner"
  | "dueAt"
  | "leaseUntil"
  | "attempts"
  | "scheduleVersion"
  | "kind"
  | "deadLetteredAt";

/**
 * One condition on one attribute. A clause on an attribute that the row lacks is false, whatever it compares (as in
 * DynamoDB).
 */
export type Clause =
  | { readonly attribute: GuardedAttribute; readonly op: "="; readonly value: string | number }
  | { readonly attribute: GuardedAttribute; readonly op: "<" | "<="; readonly value: number }
  | { readonly attribute: GuardedAttribute; readonly op: "in"; readonly values: readonly string[] };

/**
 * A condition as data: every clause must hold on the stored row at the moment of the write. DynamoDB renders it into a
 * condition, the memory store evaluates it, and the store's contract suite holds the two together.
 */
export type Guard = readonly Clause[];

/** The row is in this state. Every guard has one: a token alone let a paused worker overwrite a finished row. */
export const statusIs = (status: OccurrenceStatus): Clause => ({ attribute: "status", op: "=", value: status });

/** The row is in one of these states. */
export const statusIn = (statuses: readonly OccurrenceStatus[]): Clause => ({
  attribute: "status",
  op: "in",
  values: statuses,
});

/** Nobody has taken an attempt since: the fence. */
export const tokenIs = (fencingToken: number): Clause => ({
  attribute: "fencingToken",
  op: "=",
  value: fencingToken,
});

/** The holder is still this one, which tells two visits with the same token apart. */
export const ownerIs = (owner: string): Clause => ({ attribute: "owner", op: "=", value: owner });

/** The row falls due when it was seen to: a stale index costs a lost race, not a skipped backoff. */
export const dueAtIs = (dueAt: number): Clause => ({ attribute: "dueAt", op: "=", value: dueAt });

/** The lease does not already run longer than this. */
export const leaseUntilAtMost = (leaseUntil: number): Clause => ({
  attribute: "leaseUntil",
  op: "<=",
  value: leaseUntil,
});

/** There is an attempt left, decided by the stored counter and not by the one that was read. */
export const attemptsBelow = (maxAttempts: number): Clause => ({ attribute: "attempts", op: "<", value: maxAttempts });

/**
 * The snapshot is the one that was decided on. A head that another edit has put in the place of the one that was seen has the same
 * status, token and due time.
 */
export const versionIs = (scheduleVersion: string): Clause => ({
  attribute: "scheduleVersion",
  op: "=",
  value: scheduleVersion,
});

/** It is the dead letter that was seen, and still open: neither replayed nor discarded. */
export const deadLetteredAtIs = (deadLetteredAt: number): Clause => ({
  attribute: "deadLetteredAt",
  op: "=",
  value: deadLetteredAt,
});

/** Evaluates `guard` on a row, `undefined` for a row that does not exist: what DynamoDB does with the rendered condition. */
export function guardHolds(
  guard: Guard,
  row: Readonly<Partial<Record<GuardedAttribute, string | number>>> | undefined,
): boolean {
  return row !== undefined && guard.every((clause) => clauseHolds(clause, row[clause.attribute]));
}

function clauseHolds(clause: Clause, actual: string | number | undefined): boolean {
  switch (clause.op) {
    case "=":
      return actual === clause.value;
    case "<":
      return typeof actual === "number" && actual < clause.value;
    case "<=":
      return typeof actual === "number" && actual <= clause.value;
    case "in":
      return typeof actual === "string" && clause.values.includes(actual);
    default:
      return clause satisfies never;
  }
}

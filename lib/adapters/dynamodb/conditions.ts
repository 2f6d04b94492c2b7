import type { AttributeValue, BatchStatementRequest } from "@aws-sdk/client-dynamodb";
import type { OccurrenceWrite } from "../../app/ports.ts";
import type { Clause } from "../../core/guard.ts";
import type { Occurrence } from "../../core/occurrence.ts";
import type { Change } from "../../core/transition.ts";
import { fromPlain, itemFrom } from "./attribute-value.ts";

/** A piece of PartiQL with the values of its question marks, in order. */
interface Fragment {
  readonly text: string;
  readonly parameters: readonly AttributeValue[];
}

/** Names are always quoted: `status`, `owner`, `log`, `queue`, `kind`, `timezone` and more are reserved words. */
const quoted = (name: string): string => `"${name}"`;

/** The conditional write as one UPDATE that gives back the row as it stands afterwards. It never creates a row. */
export function updateStatement(tableName: string, { key, guard, change }: OccurrenceWrite): BatchStatementRequest {
  const conditions = [equals("scheduleId", key.scheduleId), equals("firing", key.firing), ...guard.map(clauseFragment)];
  const changes = changeFragments(change);
  return {
    Statement: `UPDATE ${quoted(tableName)} ${joined(changes, " ")} WHERE ${joined(conditions, " AND ")} RETURNING ALL NEW *`,
    Parameters: [...changes, ...conditions].flatMap(({ parameters }) => parameters),
  };
}

/** The row as one INSERT, which fails with `DuplicateItem` where the key stands already. */
export function insertStatement(tableName: string, row: Occurrence): BatchStatementRequest {
  const item = itemFrom(row);
  // `VALUE ?` with one map for the whole item is refused: each attribute needs a question mark of its own.
  const members = Object.keys(item).map((name) => `'${name}': ?`);
  return {
    Statement: `INSERT INTO ${quoted(tableName)} VALUE {${members.join(", ")}}`,
    Parameters: Object.values(item),
  };
}

const joined = (fragments: readonly Fragment[], separator: string): string =>
  fragments.map(({ text }) => text).join(separator);

const equals = (name: string, value: string | number): Fragment => ({
  text: `${quoted(name)} = ?`,
  parameters: [fromPlain(value)],
});

function clauseFragment(clause: Clause): Fragment {
  const name = quoted(clause.attribute);
  switch (clause.op) {
    case "=":
      return equals(clause.attribute, clause.value);
    case "<":
    case "<=":
      return { text: `${name} ${clause.op} ?`, parameters: [fromPlain(clause.value)] };
    case "in":
      return {
        text: `${name} IN [${clause.values.map(() => "?").join(", ")}]`,
        parameters: clause.values.map(fromPlain),
      };
    case "missing":
      return { text: `${name} IS MISSING`, parameters: [] };
    default:
      return clause satisfies never;
  }
}

function changeFragments({ set, add, appendLog, remove }: Change): Fragment[] {
  return [
    ...Object.entries(itemFrom(set)).map(([name, value]) => ({ text: `SET ${quoted(name)} = ?`, parameters: [value] })),
    ...Object.entries(itemFrom(add ?? {})).map(([name, value]) => ({
      text: `SET ${quoted(name)} = ${quoted(name)} + ?`,
      parameters: [value],
    })),
    ...(appendLog === undefined
      ? []
      : [{ text: `SET "log" = list_append("log", ?)`, parameters: [fromPlain([appendLog])] }]),
    ...(remove ?? []).map((name) => ({ text: `REMOVE ${quoted(name)}`, parameters: [] })),
  ];
}

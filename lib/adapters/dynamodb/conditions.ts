import type { AttributeValue, BatchStatementRequest } from "@aws-sdk/client-dynamodb";
import type { OccurrenceWrite } from "../../app/ports.ts";
import type { Clause } from "../../core/guard.ts";
import type { Occurrence } from "../../core/occurrence.ts";
import type { Change } from "../../core/transition.ts";
import { fromPlain, itemFrom } from "./attribute-value.ts";

/** Names are always quoted: `status`, `owner`, `log`, `queue`, `kind`, `timezone` and more are reserved words. */
const quoted = (name: string): string => `"${name}"`;

/** The conditional write as one UPDATE that gives back the row as it stands afterwards. It never creates a row. */
export function updateStatement(tableName: string, { key, guard, change }: OccurrenceWrite): BatchStatementRequest {
  const Parameters: AttributeValue[] = [];
  /** A question mark for `value`: parameters must be asked for in the order of the text. */
  const ask: Ask = (value) => {
    Parameters.push(fromPlain(value));
    return "?";
  };
  const changes = changeText(change, ask);
  const identity = `"scheduleId" = ${ask(key.scheduleId)} AND "firing" = ${ask(key.firing)}`;
  const conditions = guard.map((clause) => ` AND ${clauseText(clause, ask)}`).join("");
  return {
    Statement: `UPDATE ${quoted(tableName)}${changes} WHERE ${identity}${conditions} RETURNING ALL NEW *`,
    Parameters,
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

type Ask = (value: unknown) => "?";

function clauseText(clause: Clause, ask: Ask): string {
  const name = quoted(clause.attribute);
  switch (clause.op) {
    case "=":
    case "<":
    case "<=":
      return `${name} ${clause.op} ${ask(clause.value)}`;
    case "in":
      return `${name} IN [${clause.values.map(ask).join(", ")}]`;
    case "missing":
      return `${name} IS MISSING`;
    default:
      return clause satisfies never;
  }
}

function changeText({ set, add, appendLog, remove }: Change, ask: Ask): string {
  let text = "";
  for (const [name, value] of Object.entries(set)) if (value !== undefined) text += ` SET "${name}" = ${ask(value)}`;
  for (const [name, by] of Object.entries(add ?? {})) text += ` SET "${name}" = "${name}" + ${ask(by)}`;
  if (appendLog !== undefined) text += ` SET "log" = list_append("log", ${ask([appendLog])})`;
  for (const name of remove ?? []) text += ` REMOVE "${name}"`;
  return text;
}

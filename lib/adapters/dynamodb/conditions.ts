import type { AttributeValue, BatchStatementRequest } from "@aws-sdk/client-dynamodb";
import type { OccurrenceRemoval, OccurrenceWrite } from "../../app/ports.ts";
import type { Clause } from "../../core/guard.ts";
import type { Change } from "../../core/machine.ts";
import type { Occurrence } from "../../core/occurrence.ts";
import { fromPlain, itemFrom } from "./attribute-value.ts";

/** Names are always quoted: `status`, `owner`, `log`, `queue`, `kind`, `timezone` and more are reserved words. */
const quoted = (name: string): string => `"${name}"`;

/** The conditional write as one UPDATE that gives back the row as it stands afterwards. It never creates a row. */
export function updateStatement(tableName: string, { key, guard, change }: OccurrenceWrite): BatchStatementRequest {
  const { ask, Parameters } = questions();
  const changes = changeText(change, ask);
  const where = whereText({ key, guard }, ask);
  return { Statement: `UPDATE ${quoted(tableName)}${changes} WHERE ${where} RETURNING ALL NEW *`, Parameters };
}

/** The conditional removal as one DELETE, which fails with `ConditionalCheckFailed` where there is no such row, too. */
export function deleteStatement(tableName: string, removal: OccurrenceRemoval): BatchStatementRequest {
  const { ask, Parameters } = questions();
  return { Statement: `DELETE FROM ${quoted(tableName)} WHERE ${whereText(removal, ask)}`, Parameters };
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

/** A question mark for a value. */
type Ask = (value: unknown) => "?";

/** A statement's parameters, which must be asked for in the order of its text. */
function questions(): { readonly ask: Ask; readonly Parameters: AttributeValue[] } {
  const Parameters: AttributeValue[] = [];
  const ask: Ask = (value) => {
    Parameters.push(fromPlain(value));
    return "?";
  };
  return { ask, Parameters };
}

function whereText({ key, guard }: OccurrenceRemoval, ask: Ask): string {
  const identity = `"scheduleId" = ${ask(key.scheduleId)} AND "firing" = ${ask(key.firing)}`;
  return identity + guard.map((clause) => ` AND ${clauseText(clause, ask)}`).join("");
}

function clauseText(clause: Clause, ask: Ask): string {
  const name = quoted(clause.attribute);
  switch (clause.op) {
    case "=":
    case "<":
    case "<=":
      return `${name} ${clause.op} ${ask(clause.value)}`;
    case "in":
      return `${name} IN [${clause.values.map(ask).join(", ")}]`;
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

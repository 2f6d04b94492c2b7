import type { BatchStatementRequest } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import type { Gate, GatePassage, GateVerdict, ReadVerdict } from "../../app/ports.ts";
import { GATE_FIRING } from "../../app/reserved.ts";
import { fromPlain, itemFrom } from "./attribute-value.ts";
import { batchGet, type ReadPlan } from "./batch-get.ts";
import { mapped } from "./mapping.ts";
import { DEFAULT_CONCURRENCY, type DynamoDbStoreOptions } from "./settings.ts";
import { executeStatements, type StatementAnswer } from "./statements.ts";

const gate: z.ZodType<Gate> = z.object({ holder: z.string("must be text"), turns: z.int("must be a whole number") });

const plan = ({ occurrencesTable }: DynamoDbStoreOptions): ReadPlan<string, Gate> => ({
  tableName: occurrencesTable,
  attributesOf: (scheduleId) => itemFrom({ scheduleId, firing: GATE_FIRING }),
  textOf: (item) => item["scheduleId"]?.S ?? "",
  map: (item) => mapped(gate, item),
});

/** Gates by schedule, consistently. */
export const readGates = (
  options: DynamoDbStoreOptions,
  scheduleIds: readonly string[],
): Promise<ReadVerdict<Gate>[]> => batchGet(options, plan(options), scheduleIds);

/** Conditional writes of gates, each with its own verdict. */
export async function passGates(
  options: DynamoDbStoreOptions,
  passages: readonly GatePassage[],
): Promise<GateVerdict[]> {
  const statements = passages.map((passage) => ({
    key: passage.scheduleId,
    request: passageStatement(options.occurrencesTable, passage),
  }));
  const answers = await executeStatements(options.client, statements, options.concurrency ?? DEFAULT_CONCURRENCY);
  return answers.map(verdictOf);
}

function passageStatement(
  tableName: string,
  { scheduleId, asRead, holder, expiresAtSeconds }: GatePassage,
): BatchStatementRequest {
  if (asRead === undefined)
    return {
      Statement: `INSERT INTO "${tableName}" VALUE {'scheduleId': ?, 'firing': ?, 'holder': ?, 'turns': ?, 'expiresAtSeconds': ?}`,
      Parameters: [scheduleId, GATE_FIRING, holder, 1, expiresAtSeconds].map(fromPlain),
    };
  return {
    Statement: `UPDATE "${tableName}" SET "holder" = ? SET "turns" = "turns" + ? SET "expiresAtSeconds" = ? WHERE "scheduleId" = ? AND "firing" = ? AND "holder" = ? AND "turns" = ?`,
    Parameters: [holder, 1, expiresAtSeconds, scheduleId, GATE_FIRING, asRead.holder, asRead.turns].map(fromPlain),
  };
}

function verdictOf(answer: StatementAnswer): GateVerdict {
  switch (answer.kind) {
    case "done":
      return { kind: "passed" };
    case "exists":
    case "refused":
      return { kind: "refused" };
    case "failed":
    case "unknown":
      return { kind: answer.kind, error: answer.error };
    default:
      return answer satisfies never;
  }
}

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClosing } from "../../../lib/local/closing.ts";
import { startDynamoDb } from "../../../lib/local/engines/dynamodb.ts";
import type { Engine } from "../../../lib/local/engines/engine.ts";
import type { Template } from "../../../lib/local/template/document.ts";
import { synthesizedTemplate } from "../../../lib/local/template/synthesize.ts";
import { bundleFunctionProgram, type FunctionProgram } from "./processes.ts";

const PROJECT_DIR = fileURLToPath(new URL("../../../", import.meta.url));

/** What the worlds of one test file have in common: each makes tables and queues of its own. */
export interface FaultEngines {
  readonly dynamodb: Engine;
  readonly template: Template;
  readonly program: FunctionProgram;
  close(): Promise<void>;
}

/** The longest that {@link startFaultEngines} takes on a busy machine: a server in Java, a synthesis, a bundle. */
export const START_TIMEOUT_MS = 180_000;

/**
 * The longest that one scenario takes. On a machine so busy that answers come too late, a run waits for its lease now and
 * then: a minute each time.
 */
export const SCENARIO_TIMEOUT_MS = 300_000;

/** Starts DynamoDB Local on a free port and makes ready what worlds need. */
export async function startFaultEngines(): Promise<FaultEngines> {
  const stopping = new AbortController();
  const closing = createClosing();
  closing.add(() => stopping.abort());
  const [dynamodb, template, program] = await Promise.all([
    startDynamoDb(),
    synthesizedTemplate(PROJECT_DIR, join(PROJECT_DIR, ".punctual"), stopping.signal),
    bundleFunctionProgram(),
  ]);
  closing.add(() => dynamodb.close());
  closing.add(() => program.remove());
  return { dynamodb, template, program, close: closing.close };
}

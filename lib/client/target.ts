import type { ManageSettings } from "../app/manage/manager.ts";
import { DEFAULT_HISTORY_SECONDS } from "../core/lease.ts";
import { LOCAL_ENGINE } from "../core/local-engine.ts";
import { ENVIRONMENT_NAMES, readEnvironment, type Settings } from "../runtime/env.ts";
import { UnnamedTargetError } from "./errors.ts";
import { readLocalFile } from "./local-file.ts";
import { readStackOutputs, type StackAccess } from "./stack-outputs.ts";

/** Which deployment is meant, in one of four ways, first come first served; and how AWS is reached, as the AWS CLI has it. */
export interface TargetOptions {
  /** The local engine that was started in this directory (`true`: the current one). */
  readonly local?: boolean | string;
  /** A deployed stack, whose outputs name the tables. */
  readonly stack?: string;
  readonly schedulesTable?: string;
  readonly occurrencesTable?: string;
  readonly region?: string;
  readonly profile?: string;
  readonly endpointUrl?: string;
  /** Where the tables' names are looked for last (`PUNCTUAL_SCHEDULES_TABLE`, `PUNCTUAL_OCCURRENCES_TABLE`). Default: this process's own. */
  readonly env?: NodeJS.ProcessEnv;
}

/** A deployment that was found: its tables, what is known of its settings, and how DynamoDB is reached. */
export interface Target {
  /** Short, for people: `local engine`, `stack NAME`; `undefined` where only the tables are known. */
  readonly name?: string;
  readonly schedulesTable: string;
  readonly occurrencesTable: string;
  readonly settings: ManageSettings;
  readonly access: {
    readonly region?: string;
    readonly profile?: string;
    readonly endpoint?: string;
    readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  };
}

/** What is taken for granted where a deployment's settings are not known. */
const UNKNOWN_SETTINGS: ManageSettings = { historySeconds: DEFAULT_HISTORY_SECONDS };

/** Finds the deployment. Throws `TargetError`, and `InvalidEnvironmentError` for variables that are half of a deployment's. */
export async function findTarget(options: TargetOptions): Promise<Target> {
  const { local, stack, env = process.env } = options;
  if (local !== undefined && local !== false) return localTarget(typeof local === "string" ? local : process.cwd());
  const access: StackAccess = {
    ...(options.region !== undefined && { region: options.region }),
    ...(options.profile !== undefined && { profile: options.profile }),
    ...(options.endpointUrl !== undefined && { endpoint: options.endpointUrl }),
  };
  if (stack !== undefined) {
    const tables = await readStackOutputs(stack, access);
    return { name: `stack ${stack}`, settings: UNKNOWN_SETTINGS, ...tables, access };
  }
  const schedulesTable = options.schedulesTable ?? env[ENVIRONMENT_NAMES.schedulesTable];
  const occurrencesTable = options.occurrencesTable ?? env[ENVIRONMENT_NAMES.occurrencesTable];
  if (!schedulesTable || !occurrencesTable)
    throw new UnnamedTargetError(
      `the deployment must be named by --local, --stack, --schedules-table with --occurrences-table, or ${ENVIRONMENT_NAMES.schedulesTable} with ${ENVIRONMENT_NAMES.occurrencesTable}`,
    );
  const isOfEnv = options.schedulesTable === undefined && options.occurrencesTable === undefined;
  const known = isOfEnv && env[ENVIRONMENT_NAMES.queues] !== undefined;
  const settings = known ? settingsOf(readEnvironment(env)) : UNKNOWN_SETTINGS;
  return { schedulesTable, occurrencesTable, settings, access };
}

async function localTarget(directory: string): Promise<Target> {
  const { dynamodb, settings } = await readLocalFile(directory);
  const { schedulesTable, occurrencesTable } = settings;
  const { region, credentials } = LOCAL_ENGINE;
  return {
    name: "local engine",
    schedulesTable,
    occurrencesTable,
    settings: settingsOf(settings),
    access: { region, credentials, endpoint: dynamodb },
  };
}

const settingsOf = ({ historySeconds, shards, queues }: Settings): ManageSettings => ({
  historySeconds,
  shards,
  queues,
});

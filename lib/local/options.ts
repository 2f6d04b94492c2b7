import { Command, InvalidArgumentError } from "commander";
import { LOCAL_ENGINE } from "../core/local-engine.ts";

/** What `npm start` was asked for. */
export interface LocalOptions {
  /** Keeps the tables across restarts. */
  readonly dataDir?: string;
  readonly examples: boolean;
  /** A file of schedule definitions to start with. */
  readonly schedules?: string;
  /** A file of named queues beside `default`, as for a deployment. */
  readonly queues?: string;
  /** A module whose default export is the user's own jobs. */
  readonly jobs?: string;
  /** Ends by itself after so many seconds. */
  readonly seconds?: number;
  readonly dynamodbPort: number;
  readonly sqsPort: number;
  /** Engines that already run, used instead of starting them. */
  readonly dynamodbEndpoint?: string;
  readonly sqsEndpoint?: string;
}

const PORT_MAX = 65_535;

/** Reads the command line. Throws commander's `CommanderError` for a wrong one, and for `--help`, whose text goes to `stdout`. */
export function parseOptions(args: readonly string[], stdout: (text: string) => void): LocalOptions {
  const command = new Command("npm start --")
    .description("Runs the whole scheduler on this machine, against DynamoDB Local and a local SQS.")
    .option("--data-dir <dir>", "keep the tables in <dir> across restarts (default: in memory)")
    .option("--no-examples", "start without the example schedules")
    .option("--schedules <file>", "put the schedules of a JSON or YAML file first")
    .option("--queues <file>", "have the named queues of a JSON or YAML file, as a deployment with -c queues=<file>")
    .option("--jobs <file>", "run the jobs that a TypeScript or JavaScript module exports by default")
    .option("--seconds <n>", "end after <n> seconds and print a summary", positiveNumber)
    .option("--dynamodb-port <port>", "where DynamoDB Local listens; 0 for a free one", port, LOCAL_ENGINE.dynamodbPort)
    .option("--sqs-port <port>", "where SQS listens; 0 for a free one", port, LOCAL_ENGINE.sqsPort)
    .option("--dynamodb-endpoint <url>", "use a DynamoDB Local that already runs", url)
    .option("--sqs-endpoint <url>", "use an SQS stand-in that already runs", url)
    .allowExcessArguments(false)
    .configureOutput({ writeOut: stdout, writeErr: () => {} })
    .exitOverride();
  return command.parse(args, { from: "user" }).opts<LocalOptions>();
}

function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError(`must be a number above 0, got ${text}`);
  return value;
}

function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > PORT_MAX)
    throw new InvalidArgumentError(`must be a whole number from 0 to ${PORT_MAX}, got ${text}`);
  return value;
}

function url(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError(`must be a URL like http://127.0.0.1:8000, got ${text}`);
  return text.replace(/\/$/, "");
}

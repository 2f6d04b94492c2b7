import type { Connection, ConnectOptions } from "../client/index.ts";
import { PunctualError } from "../core/errors.ts";
import type { Instant } from "../core/instant.ts";

/** Where text goes. */
export interface Output {
  write(text: string): unknown;
}

/** The world of the command line, so that tests give it theirs. */
export interface Io {
  /** Results. */
  readonly stdout: Output;
  /** Diagnostics: problems, notes, the target of a write. */
  readonly stderr: Output;
  readonly env: NodeJS.ProcessEnv;
  /** What `-` reads. */
  readonly stdin: AsyncIterable<string | Uint8Array>;
  /** Asks a yes-or-no question; absent where nobody can answer (no terminal). */
  readonly ask?: (question: string) => Promise<boolean>;
  /** Has `listener` called instead of the process ended at the next Ctrl-C, until what is answered is called. */
  readonly onInterrupt: (listener: () => void) => () => void;
  readonly now: () => Instant;
  readonly sleep: (ms: number) => Promise<void>;
  readonly connect: (options: ConnectOptions) => Promise<Connection>;
}

/** The command line was not used as it must be: exit code 2. */
export class UsageError extends PunctualError {
  constructor(message: string) {
    super("Usage", message);
  }
}

/** A command could not do all that was asked, and has said so: exit code 1, nothing more to print. */
export class ReportedError extends PunctualError {
  constructor() {
    super("Reported", "the command did not succeed");
  }
}

/** One run of the command line. */
export interface Cli {
  readonly io: Io;
  /** A line of the result. */
  print(line: string): void;
  /** The result as JSON. */
  printJson(value: unknown): void;
  /** A line beside the result. */
  note(line: string): void;
  /** Connects to the deployment that the options name. */
  connect(options: TargetFlags): Promise<Connection>;
  /** Connects for a write, and says where it goes. */
  connectToWrite(options: TargetFlags): Promise<Connection>;
  /** Throws unless the user agrees: by `--yes`, or asked on a terminal. */
  confirm(question: string, options: { readonly yes?: boolean }): Promise<void>;
  close(): void;
}

/** The flags that name a deployment, as commander reads them. */
export interface TargetFlags {
  readonly local?: boolean;
  readonly stack?: string;
  readonly schedulesTable?: string;
  readonly occurrencesTable?: string;
  readonly region?: string;
  readonly profile?: string;
  readonly endpointUrl?: string;
}

/** A run of the command line on `io`. */
export function createCli(io: Io): Cli {
  const open: Connection[] = [];
  const note = (line: string) => void io.stderr.write(`${line}\n`);
  const say = (level: string) => (message: string) => note(`${level}: ${message}`);
  const logger = { debug: () => {}, info: () => {}, warn: say("warning"), error: say("error") };
  const connect = async (flags: TargetFlags): Promise<Connection> => {
    const { local, stack, schedulesTable, occurrencesTable, region, profile, endpointUrl } = flags;
    const connection = await io.connect({
      env: io.env,
      logger,
      ...(local !== undefined && { local }),
      ...(stack !== undefined && { stack }),
      ...(schedulesTable !== undefined && { schedulesTable }),
      ...(occurrencesTable !== undefined && { occurrencesTable }),
      ...(region !== undefined && { region }),
      ...(profile !== undefined && { profile }),
      ...(endpointUrl !== undefined && { endpointUrl }),
    });
    open.push(connection);
    return connection;
  };
  return {
    io,
    print: (line) => void io.stdout.write(`${line}\n`),
    printJson: (value) => void io.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`),
    note,
    connect,
    connectToWrite: async (flags) => {
      const connection = await connect(flags);
      note(`target: ${await connection.describe()}`);
      return connection;
    },
    confirm: async (question, { yes = false }) => {
      if (yes) return;
      if (io.ask === undefined) throw new UsageError(`${question} Add --yes: there is no terminal to ask on`);
      if (await io.ask(question)) return;
      note("nothing was done");
      throw new ReportedError();
    },
    close: () => {
      for (const connection of open) connection.close();
    },
  };
}

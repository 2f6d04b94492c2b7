import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type GuardedChild, spawnGuarded } from "../../lib/local/engines/child.ts";
import { claimPort } from "../../lib/local/engines/ports.ts";

/** Where Debian's packages put each version's programs. */
const VERSIONS = "/usr/lib/postgresql";

/** Debian's `nobody`: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;

/** Why a test of SQL is skipped where it is. */
export const NO_POSTGRES = `there is no PostgreSQL under ${VERSIONS} (apt-get install postgresql)`;

/** A PostgreSQL server of a test's own. */
export interface Postgres {
  /** A client, connected. Closed with the server. */
  connect(): Promise<pg.Client>;
  close(): Promise<void>;
}

/** Starts a server on a free port, in a temporary directory; `undefined` where PostgreSQL is not installed. */
export async function startPostgres(): Promise<Postgres | undefined> {
  const bin = programs();
  if (bin === undefined) return undefined;
  const directory = mkdtempSync(join(tmpdir(), "punctual-postgres-"));
  if (isRoot()) chownSync(directory, NOBODY, NOBODY);
  const data = join(directory, "data");
  const initdb = run(join(bin, "initdb"), ["-D", data, "-U", "test", "-A", "trust", "--no-sync"], directory);
  if ((await initdb.exited) !== 0) throw new Error(`initdb failed: ${initdb.output()}`);
  const port = await claimPort(undefined, "the port of PostgreSQL");
  const settings = ["listen_addresses=127.0.0.1", `unix_socket_directories=${directory}`, "fsync=off"];
  const args = ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  const server = run(join(bin, "postgres"), args, directory);
  await ready(server);
  const clients: pg.Client[] = [];
  return {
    connect: async () => {
      const client = new pg.Client({ host: "127.0.0.1", port, user: "test", database: "postgres" });
      clients.push(client);
      await client.connect();
      return client;
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.end()));
      await server.close();
      rmSync(directory, { recursive: true });
    },
  };
}

/** The programs of the newest version that is installed. */
function programs(): string | undefined {
  const versions = existsSync(VERSIONS)
    ? readdirSync(VERSIONS).sort((left, right) => Number(right) - Number(left))
    : [];
  return versions.map((version) => join(VERSIONS, version, "bin")).find((bin) => existsSync(join(bin, "postgres")));
}

const isRoot = (): boolean => process.getuid?.() === 0;

function run(program: string, args: readonly string[], cwd: string): GuardedChild {
  const as = isRoot() ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  const [command = program, ...rest] = [...as, program, ...args];
  return spawnGuarded(command, rest, { cwd, env: { PATH: process.env["PATH"], LC_ALL: "C" } });
}

/** Resolves once the server takes connections; rejects with what it wrote where it ended instead. */
const ready = (server: GuardedChild): Promise<void> =>
  new Promise((resolve, reject) => {
    server.onOutput((output) => {
      if (output.includes("ready to accept connections")) resolve();
    });
    server.exited.then((code) => reject(new Error(`PostgreSQL ended with ${code}: ${server.output()}`)), reject);
  });

import { describe, expect, it } from "vitest";
import { importsOf, type SourceFile, sourceFiles } from "./source-files.ts";

/** Where a room's files lie, and what they may import. */
interface Room {
  /** What the room is for, and why it needs what it imports. */
  readonly why: string;
  /** Other rooms (`core`), or single files of them (`runtime/names.ts`). */
  readonly rooms: readonly string[];
  /** Packages, and Node's own modules: a name that ends in `*` stands for all that begin so. */
  readonly packages: readonly string[];
}

const ROOMS: Readonly<Record<string, Room>> = {
  core: {
    why: "decides, and must stay pure: what it takes of npm computes; node:crypto is there for its hashes",
    rooms: [],
    packages: ["cron-parser", "cronstrue", "luxon", "node:crypto", "uuid", "zod"],
  },
  app: {
    why: "does, behind ports: no SDK, no environment, no clock of its own",
    rooms: ["core"],
    packages: [],
  },
  adapters: {
    why: "speaks AWS. The indexes' names are shared with the construct that makes them; a pause is a timer that can be aborted",
    rooms: ["core", "app", "runtime/names.ts", "runtime/pause.ts"],
    packages: [
      "@aws-sdk/client-dynamodb",
      "@aws-sdk/client-eventbridge",
      "@aws-sdk/client-lambda",
      "@aws-sdk/client-sqs",
      "aws-lambda",
      "zod",
    ],
  },
  jobs: {
    why: "runs the user's code: wires a consumer out of the engine and the runtime; built-in jobs go out to the network",
    rooms: ["core", "app", "runtime"],
    packages: ["aws-lambda", "node:*", "zod"],
  },
  client: {
    why: "manages schedules for programs: the use cases of app on the adapters, found by a stack's outputs or the environment",
    rooms: ["core", "app", "adapters", "runtime"],
    packages: ["@aws-sdk/client-cloudformation", "@aws-sdk/client-dynamodb", "node:*", "zod"],
  },
  cli: {
    why: "prints: all that it does the client does",
    rooms: ["core", "client"],
    packages: ["commander", "luxon", "node:*", "yaml", "zod"],
  },
  construct: {
    why: "deploys: the numbers of core, the environment contract and names of the runtime, app's metric names, and what the http job's allow-list can hold",
    rooms: [
      "core",
      "app/ports.ts",
      "jobs/builtin/http/allow-list.ts",
      "runtime/env.ts",
      "runtime/names.ts",
      "runtime/schedule-settings.ts",
    ],
    packages: ["aws-cdk-lib", "constructs", "esbuild", "node:*", "yaml", "zod"],
  },
  local: {
    why: "imitates AWS around the real handlers, and shows what happens; never bundled, so it may reach everywhere but the command line",
    rooms: ["core", "app", "adapters", "jobs", "client", "construct", "runtime", "functions"],
    packages: [
      "@aws-sdk/client-dynamodb",
      "@aws-sdk/client-dynamodb-streams",
      "@aws-sdk/client-sqs",
      "amplify-dynamodb-simulator",
      "aws-cdk-lib",
      "aws-lambda",
      "commander",
      "esbuild",
      "fauxqs",
      "luxon",
      "node:*",
      "yaml",
      "zod",
    ],
  },
  runtime: {
    why: "the environment contract, logger, metrics, and the engine that they make of the adapters",
    rooms: ["core", "app", "adapters"],
    packages: ["@aws-lambda-powertools/logger", "@aws-lambda-powertools/metrics", "node:*", "zod"],
  },
  functions: {
    why: "wires: thin handlers, with the jobs that the build puts in place of `#jobs`",
    rooms: ["core", "app", "adapters", "jobs", "runtime"],
    packages: ["#jobs", "aws-lambda", "zod"],
  },
  bin: {
    why: "starts: the CDK app, the command line and the local engine; tsx lets them run from a checkout",
    rooms: ["core", "cli", "construct", "local"],
    packages: ["aws-cdk-lib", "node:*", "tsx"],
  },
};

/** `core` for `lib/core/ids.ts`, `functions` for `functions/consumer.ts`; nothing for the package's own entry, `lib/index.ts`. */
const roomOf = (path: string): string | undefined => /^(?:lib\/)?([^/]+)\//.exec(path)?.[1];
const withinRoom = (path: string): string => path.replace(/^lib\//, "");

const files = sourceFiles("lib", "functions", "bin");
const filesOf = (room: string): SourceFile[] => files.filter(({ path }) => roomOf(path) === room);
const isFile = (imported: string): boolean => /^(lib|functions|bin|test)\//.test(imported);

function isAllowed(room: string, imported: string): boolean {
  const { rooms = [], packages = [] } = ROOMS[room] ?? {};
  if (isFile(imported))
    return roomOf(imported) === room || rooms.some((other) => [roomOf(imported), withinRoom(imported)].includes(other));
  return packages.some((name) => (name.endsWith("*") ? imported.startsWith(name.slice(0, -1)) : imported === name));
}

describe("imports", () => {
  it("are read from files that were seen, in every room", () => {
    expect(files.length).toBeGreaterThan(150);
    for (const room of Object.keys(ROOMS)) expect(filesOf(room).length, room).toBeGreaterThan(0);
    expect(files.filter(({ path }) => importsOf({ path, text: "" }).length > 0)).toEqual([]);
    expect(files.flatMap(importsOf).length).toBeGreaterThan(500);
  });

  it("lie in rooms that the table knows", () => {
    const unknown = files.filter(({ path }) => path !== "lib/index.ts" && ROOMS[roomOf(path) ?? ""] === undefined);
    expect(unknown.map(({ path }) => path)).toEqual([]);
  });

  it.each(Object.keys(ROOMS))("of %s are what the table allows it", (room) => {
    const forbidden = filesOf(room).flatMap((file) =>
      importsOf(file)
        .filter((imported) => !isAllowed(room, imported))
        .map((imported) => `${file.path} imports ${imported}`),
    );
    expect(forbidden).toEqual([]);
  });

  it("of core are its packages exactly, each of them in use", () => {
    const packages = filesOf("core")
      .flatMap(importsOf)
      .filter((imported) => !isFile(imported));
    expect([...new Set(packages)].sort()).toEqual(ROOMS["core"]?.packages);
  });

  it("of the package's own entry are core's, so that it is pure", () => {
    const entry = files.filter(({ path }) => path === "lib/index.ts").flatMap(importsOf);
    expect(entry.filter((imported) => roomOf(imported) !== "core")).toEqual([]);
  });

  it("never reach into the tests", () => {
    const reaching = files.filter((file) => importsOf(file).some((imported) => imported.startsWith("test/")));
    expect(reaching.map(({ path }) => path)).toEqual([]);
  });

  it("are found whatever their form", () => {
    const text =
      'import a from "./a.ts"; import type { B } from "../app/b.ts"; export * from "zod/mini"; import "#jobs"; const c = await import("@aws-sdk/client-sqs/x");';
    expect(importsOf({ path: "lib/core/x.ts", text }).sort()).toEqual([
      "#jobs",
      "@aws-sdk/client-sqs",
      "lib/app/b.ts",
      "lib/core/a.ts",
      "zod",
    ]);
  });
});

describe("core", () => {
  it("reads no clock, no environment and no dice, and sets no timer", () => {
    const impure =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\b|\bprocess\.|\bset(Timeout|Interval|Immediate)\b/;
    const guilty = filesOf("core").filter(({ text }) => impure.test(withoutComments(text)));
    expect(guilty.map(({ path }) => path)).toEqual([]);
  });
});

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");

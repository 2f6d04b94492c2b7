import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, it, onTestFinished } from "vitest";
import { readStackOutputs } from "../../lib/client/stack-outputs.ts";
import { findTarget } from "../../lib/client/target.ts";
import { writeAddressFiles } from "../../lib/local/address-file.ts";
import { createClosing } from "../../lib/local/closing.ts";
import { environmentOf, readEnvironment } from "../../lib/runtime/env.ts";

const ENVIRONMENT = environmentOf({
  deployment: "local",
  schedulesTable: "Schedules",
  occurrencesTable: "Occurrences",
  queues: {
    default: {
      url: "http://127.0.0.1:1/q.fifo",
      timeoutMaxSeconds: 60,
      consumerTimeoutSeconds: 120,
      visibilityTimeoutSeconds: 180,
    },
  },
  deadLetterQueueUrl: "http://127.0.0.1:1/d.fifo",
  eventBusName: "default",
  shards: 8,
  dispatchers: 1,
  historySeconds: 30 * 86_400,
  messageRetentionSeconds: 14 * 86_400,
  maxReceiveCount: 20,
  announce: [],
  metricsBySchedule: false,
  builtinJobs: { httpAllowedHosts: [], lambdaFunctions: [] },
  logLevel: "INFO",
});

async function aDirectory(localFile?: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "punctual-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  if (localFile !== undefined) {
    await mkdir(join(directory, ".punctual"));
    await writeFile(join(directory, ".punctual", "local.json"), localFile);
  }
  return directory;
}

describe("the local engine", () => {
  it("is found by the file it writes while it runs", async () => {
    const endpoints = { dynamodb: "http://127.0.0.1:8077", sqs: "http://127.0.0.1:8078" };
    const directory = await aDirectory(JSON.stringify({ ...endpoints, environment: ENVIRONMENT }));
    expect(await findTarget({ local: directory })).toMatchObject({
      name: "local engine",
      schedulesTable: "Schedules",
      occurrencesTable: "Occurrences",
      settings: { shards: 8, historySeconds: 30 * 86_400, queues: { default: { timeoutMaxSeconds: 60 } } },
      access: { endpoint: "http://127.0.0.1:8077", region: "us-east-1" },
    });
  });

  it("takes its file away when it ends, unless a later one has taken it over", async () => {
    const directory = await aDirectory();
    const start = async (port: number) => {
      const closing = createClosing();
      const endpoints = { dynamodb: `http://127.0.0.1:${port}`, sqs: "http://127.0.0.1:2", eventbridge: "http://x" };
      await writeAddressFiles({ endpoints, settings: readEnvironment(ENVIRONMENT) }, directory, closing);
      return closing;
    };
    const first = await start(1);
    const variables = parseEnv(await readFile(join(directory, ".punctual/local.env"), "utf8"));
    expect(readEnvironment(variables)).toEqual(readEnvironment(ENVIRONMENT));
    expect(variables).toMatchObject({ AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:1", AWS_REGION: "us-east-1" });
    const second = await start(2);
    await first.close();
    expect(await findTarget({ local: directory })).toMatchObject({ access: { endpoint: "http://127.0.0.1:2" } });
    await second.close();
    await expect(findTarget({ local: directory })).rejects.toThrow("no local engine");
  });

  it("that does not run is said to be started by npm start", async () => {
    const directory = await aDirectory();
    await expect(findTarget({ local: directory })).rejects.toThrow(
      /no local engine was started in .* npm start starts it/,
    );
  });

  it.each([
    ["{", "must be JSON"],
    ["{}", "dynamodb: must be DynamoDB's endpoint, got nothing"],
    [JSON.stringify({ dynamodb: "http://x", sqs: "http://y", environment: {} }), "PUNCTUAL_SCHEDULES_TABLE"],
  ])("whose file is %s is refused", async (text, message) => {
    await expect(findTarget({ local: await aDirectory(text) })).rejects.toThrow(message);
  });
});

describe("a stack", () => {
  const answer = (outputs: Readonly<Record<string, string>>) => {
    const cloudformation = mockClient(CloudFormationClient);
    const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
    const stack = {
      StackName: "Punctual",
      CreationTime: new Date(0),
      StackStatus: "CREATE_COMPLETE" as const,
      Outputs,
    };
    cloudformation.on(DescribeStacksCommand, { StackName: "Punctual" }).resolves({ Stacks: [stack] });
    onTestFinished(() => cloudformation.restore());
    return new CloudFormationClient({ region: "eu-central-1" });
  };

  it("names its tables in its outputs", async () => {
    const tables = { SchedulesTable: "S", OccurrencesTable: "O" };
    const limits = { shards: 8, historySeconds: 86_400, queues: { default: { timeoutMaxSeconds: 290 } } };
    const told = answer({ ...tables, ScheduleSettings: JSON.stringify(limits) });
    expect(await readStackOutputs("Punctual", {}, told)).toMatchObject({ settings: limits });
    expect(await readStackOutputs("Punctual", {}, answer(tables))).toEqual({
      schedulesTable: "S",
      occurrencesTable: "O",
    });
  });

  it("of something else is refused, with what it has", async () => {
    await expect(readStackOutputs("Punctual", {}, answer({ Url: "x" }))).rejects.toThrow(
      "stack Punctual must have the outputs SchedulesTable and OccurrencesTable, got Url",
    );
  });

  it("that does not exist is refused with CloudFormation's own words", async () => {
    const cloudformation = mockClient(CloudFormationClient);
    onTestFinished(() => cloudformation.restore());
    cloudformation.on(DescribeStacksCommand).rejects(new Error("Stack with id nope does not exist"));
    await expect(readStackOutputs("nope", {}, new CloudFormationClient({ region: "eu-central-1" }))).rejects.toThrow(
      "the outputs of stack nope cannot be read: Stack with id nope does not exist",
    );
  });
});

describe("an account", () => {
  it("is found by flags, whose tables come before the environment's", async () => {
    const target = await findTarget({
      schedulesTable: "S",
      occurrencesTable: "O",
      region: "eu-west-1",
      profile: "ops",
      env: ENVIRONMENT,
    });
    expect(target).toMatchObject({ schedulesTable: "S", access: { region: "eu-west-1", profile: "ops" } });
    expect(target.settings.queues).toBeUndefined();
  });

  it("is found by the environment of its functions, with all their settings", async () => {
    const target = await findTarget({ env: ENVIRONMENT });
    expect(target).toMatchObject({ schedulesTable: "Schedules", settings: { shards: 8 } });
  });

  it("is found by the names of its tables alone", async () => {
    const env = { PUNCTUAL_SCHEDULES_TABLE: "S", PUNCTUAL_OCCURRENCES_TABLE: "O" };
    expect(await findTarget({ env })).toMatchObject({ schedulesTable: "S", occurrencesTable: "O" });
  });

  it("that nothing names is asked for", async () => {
    await expect(findTarget({ env: {} })).rejects.toThrow(/must be named by --local, --stack, --schedules-table/);
    await expect(findTarget({ schedulesTable: "S", env: {} })).rejects.toThrow(/must be named by/);
  });
});

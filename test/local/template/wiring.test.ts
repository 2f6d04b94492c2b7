import { describe, expect, it } from "vitest";
import { readEventSources, type Standing } from "../../../lib/local/template/event-sources.ts";
import { readFunctions } from "../../../lib/local/template/functions.ts";
import type { ResourceValues, Scope } from "../../../lib/local/template/intrinsics.ts";
import { readRules } from "../../../lib/local/template/rules.ts";
import { fixtureJson, fixtureTemplate } from "./fixture.ts";

const standing = (id: string, extra: Record<string, string> = {}): [string, ResourceValues] => [
  id,
  { ref: `ref-${id}`, attributes: { Arn: `arn-${id}`, ...extra } },
];

const scope: Scope = {
  resources: new Map([
    standing("TableEEEEEEEE", { StreamArn: "stream" }),
    standing("Jobs99AABBCC"),
    standing("Failures11223344"),
    standing("ConsumerDDDDDDDD"),
    standing("NotifierFFFFFFFF"),
  ]),
  parameters: {},
};

const functions = readFunctions(fixtureTemplate(), scope);
const queue = (id: string) => ({ logicalId: id, name: id, url: `ref-${id}`, arn: `arn-${id}` });
const table = { logicalId: "TableEEEEEEEE", name: "Table", arn: "arn-TableEEEEEEEE", streamArn: "stream" };
const world: Standing = { tables: [table], queues: [queue("Jobs99AABBCC"), queue("Failures11223344")], functions };

describe("a function", () => {
  it("has the environment that the template gives it, with every reference resolved", () => {
    expect(functions[0]).toEqual({
      logicalId: "ConsumerDDDDDDDD",
      path: "Stack/Consumer/Resource",
      name: "ref-ConsumerDDDDDDDD",
      arn: "arn-ConsumerDDDDDDDD",
      timeoutSeconds: 5,
      memoryMb: 256,
      logGroupName: "/aws/lambda/ref-ConsumerDDDDDDDD",
      environment: { QUEUE_URL: "ref-Jobs99AABBCC", TABLE: "ref-TableEEEEEEEE", SHARDS: "4" },
    });
  });

  it("has Lambda's defaults where the template says nothing", () => {
    expect(functions[1]).toMatchObject({ timeoutSeconds: 3, memoryMb: 128, environment: {} });
  });
});

describe("event sources", () => {
  it("are read with their batches, filters, retries and destinations", () => {
    expect(readEventSources(fixtureTemplate(), scope, world)).toEqual([
      {
        kind: "queue",
        logicalId: "QueueMapping",
        functionId: "ConsumerDDDDDDDD",
        reportsItemFailures: true,
        queue: queue("Jobs99AABBCC"),
        batchSize: 10,
        maxConcurrency: 2,
      },
      {
        kind: "stream",
        logicalId: "StreamMapping",
        functionId: "NotifierFFFFFFFF",
        reportsItemFailures: true,
        table,
        streamArn: "stream",
        startingPosition: "TRIM_HORIZON",
        batchSize: 25,
        patterns: [{ dynamodb: { NewImage: { status: { S: ["done", "failed"] } } } }],
        bisect: true,
        maxRetries: 1,
        onFailureQueue: queue("Failures11223344"),
      },
    ]);
  });

  it("are left out when they are disabled", () => {
    const { QueueMapping } = fixtureJson.Resources;
    const disabled = { ...QueueMapping, Properties: { ...QueueMapping.Properties, Enabled: false } };
    expect(readEventSources(fixtureTemplate({ QueueMapping: disabled }), scope, world)).toHaveLength(1);
  });

  it("are refused when they read something that is not here", () => {
    expect(() => readEventSources(fixtureTemplate(), scope, { ...world, tables: [] })).toThrow(
      "AWS::Lambda::EventSourceMapping StreamMapping: EventSourceArn must be a queue or a table's stream of this template, got stream",
    );
    expect(() => readEventSources(fixtureTemplate(), scope, { ...world, functions: [] })).toThrow(
      "the target must be a function of this template, got ref-ConsumerDDDDDDDD",
    );
  });
});

describe("rules", () => {
  const ticks = (properties: object) => ({
    Ticks: { ...fixtureJson.Resources.Ticks, Properties: { ...fixtureJson.Resources.Ticks.Properties, ...properties } },
  });
  const rules = (properties: object = {}) => readRules(fixtureTemplate(ticks(properties)), scope, functions);

  it("have their rate, targets and constant input", () => {
    const targets = [{ id: "first", functionId: "ConsumerDDDDDDDD", input: { dispatcher: 1 } }];
    expect(rules()).toEqual([{ logicalId: "Ticks", everySeconds: 60, targets }]);
    expect(rules({ ScheduleExpression: "rate(2 hours)" })).toMatchObject([{ everySeconds: 7_200 }]);
  });

  it("are left out when they are disabled or wait for events", () => {
    expect(rules({ State: "DISABLED" })).toEqual([]);
    expect(rules({ ScheduleExpression: undefined })).toEqual([]);
  });

  it.each([
    [
      { ScheduleExpression: "cron(0 9 * * ? *)" },
      "ScheduleExpression must be a rate like rate(1 minute), got cron(0 9 * * ? *)",
    ],
    [{ ScheduleExpression: "rate(0 minutes)" }, "got rate(0 minutes)"],
    [
      { Targets: [{ Id: "x", Arn: "arn-ConsumerDDDDDDDD", Input: "{" }] },
      "AWS::Events::Rule Ticks: Input must be JSON, got {",
    ],
  ])("are refused when they cannot be imitated: %j", (properties, message) => {
    expect(() => rules(properties)).toThrow(message);
  });
});

import { describe, expect, it } from "vitest";
import { resolve, type Scope } from "../../../lib/local/template/intrinsics.ts";
import { placeholder } from "./fixture.ts";

const scope: Scope = {
  resources: new Map([
    ["Jobs", { ref: "http://127.0.0.1/jobs", attributes: { Arn: "arn:aws:sqs:r:0:jobs", "Stream.Arn": "nested" } }],
  ]),
  parameters: { "AWS::Region": "us-east-1", Stage: "test", Count: 3 },
};

const [region, jobsArn, literal] = ["AWS::Region", "Jobs.Arn", "!Literal"].map(placeholder);

const resolved = (value: unknown): unknown => resolve(value, scope, "Fixture.Property");

describe("intrinsic functions", () => {
  it.each([
    ["Ref to a resource", { Ref: "Jobs" }, "http://127.0.0.1/jobs"],
    ["Ref to a parameter", { Ref: "Stage" }, "test"],
    ["Ref to a pseudo parameter", { Ref: "AWS::Region" }, "us-east-1"],
    ["Fn::GetAtt as a list", { "Fn::GetAtt": ["Jobs", "Arn"] }, "arn:aws:sqs:r:0:jobs"],
    ["Fn::GetAtt as a text", { "Fn::GetAtt": "Jobs.Stream.Arn" }, "nested"],
    ["Fn::Join", { "Fn::Join": ["-", ["a", { Ref: "Stage" }, { Ref: "Count" }]] }, "a-test-3"],
    [
      "Fn::Sub",
      { "Fn::Sub": `${region}/${jobsArn}/${literal}` },
      `us-east-1/arn:aws:sqs:r:0:jobs/${placeholder("Literal")}`,
    ],
    [
      "Fn::Sub with variables",
      { "Fn::Sub": [`${placeholder("Name")} in ${placeholder("Stage")}`, { Name: { Ref: "Jobs" } }] },
      "http://127.0.0.1/jobs in test",
    ],
    ["Fn::Select of Fn::Split", { "Fn::Select": [3, { "Fn::Split": [":", { "Fn::GetAtt": ["Jobs", "Arn"] }] }] }, "r"],
  ])("resolve %s", (_, value, expected) => {
    expect(resolved(value)).toEqual(expected);
  });

  it("are found at any depth, and everything else stays as it is", () => {
    const value = { a: [1, { b: { Ref: "Stage" } }, null], Ref: "a key like any other", c: true };
    expect(resolved(value)).toEqual({ a: [1, { b: "test" }, null], Ref: "a key like any other", c: true });
  });

  it("leave out what is AWS::NoValue", () => {
    expect(resolved({ a: { Ref: "AWS::NoValue" }, b: [{ Ref: "AWS::NoValue" }, 1] })).toEqual({ b: [1] });
    expect(resolved({ Ref: "AWS::NoValue" })).toBeUndefined();
  });

  it.each([
    [
      { a: { "Fn::Cidr": ["10.0.0.0/16", 1] } },
      /^Fixture\.Property\.a: the function must be one of Ref, .*, got Fn::Cidr$/,
    ],
    [{ Ref: "Nothing" }, "Fixture.Property: Ref must name a known resource or parameter, got Nothing"],
    [{ "Fn::GetAtt": ["Jobs", "Colour"] }, "Fixture.Property: Fn::GetAtt must name a known attribute, got Jobs.Colour"],
    [{ "Fn::Join": ["-", "no list"] }, 'Fixture.Property: the argument must be a list, got "no list"'],
    [{ "Fn::Select": [7, ["a"]] }, "Fixture.Property: Fn::Select must be within its list, got index 7"],
  ])("are refused with their place when they cannot be resolved: %j", (value, message) => {
    expect(() => resolved(value)).toThrow(message);
  });
});

import { describe, expect, it } from "vitest";
import { parseTemplate, resourcesOf } from "../../../lib/local/template/document.ts";
import { derivedNames } from "../../../lib/local/template/names.ts";
import { fixtureTemplate } from "./fixture.ts";

describe("a template", () => {
  it("gives its resources by type, with their place in the construct tree", () => {
    const functions = resourcesOf(fixtureTemplate(), "AWS::Lambda::Function");
    expect(functions.map(({ logicalId, path }) => ({ logicalId, path }))).toEqual([
      { logicalId: "ConsumerDDDDDDDD", path: "Stack/Consumer/Resource" },
      { logicalId: "NotifierFFFFFFFF", path: undefined },
    ]);
  });

  it("is refused when it is none", () => {
    expect(() => parseTemplate({ Resource: {} })).toThrow("not a CloudFormation template");
  });

  it("names its resources without the CDK's hash, unless two would get one name", () => {
    const names = derivedNames(
      parseTemplate({
        Resources: {
          SchedulesA1B2C3D4: { Type: "T" },
          QueueA1B2C3D4: { Type: "T" },
          QueueFFFFFFFF: { Type: "T" },
          Plain: { Type: "T" },
        },
      }),
    );
    expect(Object.fromEntries(names)).toEqual({
      SchedulesA1B2C3D4: "Schedules",
      QueueA1B2C3D4: "QueueA1B2C3D4",
      QueueFFFFFFFF: "QueueFFFFFFFF",
      Plain: "Plain",
    });
  });
});

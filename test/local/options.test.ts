import { CommanderError } from "commander";
import { describe, expect, it } from "vitest";
import { parseOptions } from "../../lib/local/options.ts";

const parsed = (...args: string[]) => parseOptions(args, () => {});

describe("the options of npm start", () => {
  it("have defaults that need nothing from the user", () => {
    expect(parsed()).toEqual({ examples: true, dynamodbPort: 8077, sqsPort: 8078 });
  });

  it("are read", () => {
    expect(
      parsed("--data-dir", "data", "--no-examples", "--schedules", "s.yaml", "--jobs", "j.ts", "--seconds", "2.5"),
    ).toMatchObject({ dataDir: "data", examples: false, schedules: "s.yaml", jobs: "j.ts", seconds: 2.5 });
    expect(parsed("--dynamodb-port", "0", "--sqs-endpoint", "http://127.0.0.1:4566/")).toMatchObject({
      dynamodbPort: 0,
      sqsEndpoint: "http://127.0.0.1:4566",
    });
  });

  it.each([
    [["--dynamodb-port", "65536"], "must be a whole number from 0 to 65535, got 65536"],
    [["--sqs-port", "http"], "must be a whole number from 0 to 65535, got http"],
    [["--seconds", "0"], "must be a number above 0, got 0"],
    [["--dynamodb-endpoint", "localhost:8000"], "must be a URL like http://127.0.0.1:8000, got localhost:8000"],
    [["--colour"], "unknown option '--colour'"],
    [["now"], "too many arguments"],
  ])("are refused when they are wrong: %j", (args, message) => {
    expect(() => parsed(...args)).toThrow(message);
  });

  it("explain themselves", () => {
    const texts: string[] = [];
    expect(() => parseOptions(["--help"], (text) => texts.push(text))).toThrow(CommanderError);
    expect(texts.join("")).toContain("--data-dir <dir>");
  });
});

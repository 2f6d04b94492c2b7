import { expect, test } from "vitest";
import { createLogger } from "../../lib/runtime/logger.ts";
import { outputLines } from "./output.ts";

test("an entry is one JSON line with its level, deployment, function and fields", () => {
  const lines = outputLines();
  createLogger({ deployment: "Punctual/Scheduler", logLevel: "INFO" }, "consumer").warn("not taken", { attempts: 3 });
  expect(lines()).toEqual([
    expect.objectContaining({
      level: "WARN",
      message: "not taken",
      service: "Punctual/Scheduler",
      function: "consumer",
      attempts: 3,
    }),
  ]);
});

test("entries below the deployment's level are not written", () => {
  const lines = outputLines();
  const logger = createLogger({ deployment: "d", logLevel: "WARN" }, "consumer");
  logger.debug("no");
  logger.info("no");
  logger.error("yes");
  expect(lines()).toEqual([expect.objectContaining({ level: "ERROR", message: "yes" })]);
});

test("an error in the fields keeps its name, message and cause", () => {
  const lines = outputLines();
  createLogger({ deployment: "d", logLevel: "INFO" }, "notifier").error("failed", {
    error: new RangeError("too far", { cause: new TypeError("below") }),
  });
  expect(lines()).toEqual([
    expect.objectContaining({
      error: expect.objectContaining({
        name: "RangeError",
        message: "too far",
        cause: expect.objectContaining({ name: "TypeError", message: "below" }),
      }),
    }),
  ]);
});

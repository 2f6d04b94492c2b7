import { describe, expect, it } from "vitest";
import { createClosing } from "../../lib/local/closing.ts";
import { createLocalLogger } from "../../lib/local/log.ts";

describe("the functions' log", () => {
  const logged = (name: "consumer" | "dispatcher") => {
    const lines: string[] = [];
    const logger = createLocalLogger(name, (line) => lines.push(line.replace(/^\S+ /, "")));
    logger.debug("a detail");
    logger.info("in passing", { count: 1 });
    logger.warn("a warning");
    logger.error("an attempt failed", { status: "RETRYING" });
    return lines;
  };

  it("shows what jobs say, and warnings of any function", () => {
    expect(logged("consumer")).toEqual(['info consumer: in passing {"count":1}', "warn consumer: a warning"]);
    expect(logged("dispatcher")).toEqual(["warn dispatcher: a warning"]);
  });
});

describe("closing", () => {
  it("ends the last opened first, each once, and goes on past a failure, which it then throws", async () => {
    const closed: string[] = [];
    const closing = createClosing();
    closing.add(() => void closed.push("first"));
    closing.add(() => Promise.reject(new Error("stuck")));
    closing.add(async () => void closed.push("last"));
    await expect(closing.close()).rejects.toThrow("stuck");
    await closing.close();
    expect(closed).toEqual(["last", "first"]);
  });
});

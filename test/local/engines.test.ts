import { describe, expect, it } from "vitest";
import { parseJavaMajor } from "../../lib/local/engines/java.ts";

describe("the Java version", () => {
  it.each([
    ['openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17],
    ['java version "1.8.0_422"', 8],
    ['openjdk version "24" 2025-03-18', 24],
    ['openjdk version "21-ea" 2023-09-19', 21],
  ])("is read from %j", (output, major) => {
    expect(parseJavaMajor(output)).toBe(major);
  });

  it("is nothing in the output of a placeholder that asks to install Java", () => {
    expect(parseJavaMajor("The operation couldn’t be completed. Unable to locate a Java Runtime.")).toBeUndefined();
  });
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("the README shows the two commands that are enough", () => {
  const readme = readFileSync("README.md", "utf8");
  expect(readme).toMatch(/^npm ci && npm start\b/m);
  expect(readme).toMatch(/^npm ci && npm test\b/m);
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const readme = readFileSync("README.md", "utf8");
const snippets = [...readme.matchAll(/<!-- snippet: (\S+) -->\n```ts\n(.*?)```/gs)].map(([, file = "", code]) => ({
  file,
  code,
}));

test("the README shows code", () => {
  expect(snippets.length).toBeGreaterThan(0);
});

test.each(snippets)("the README shows $file as it compiles", ({ file, code }) => {
  expect(code).toBe(readFileSync(file, "utf8"));
});

test("the README shows the two commands that are enough", () => {
  expect(readme).toMatch(/^npm ci && npm start\b/m);
  expect(readme).toMatch(/^npm ci && npm test\b/m);
});

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./source-files.ts";

const pages = ["README.md", ...readdirSync(path.join(ROOT, "docs")).map((name) => `docs/${name}`)]
  .filter((page) => page.endsWith(".md"))
  .map((page) => ({ page, text: readFileSync(path.join(ROOT, page), "utf8") }));

const snippets = pages.flatMap(({ page, text }) =>
  [...text.matchAll(/<!-- snippet: (\S+) -->\n```ts\n(.*?)```/gs)].map(([, file = "", code]) => ({ page, file, code })),
);

test("pages show code, and every mark of a snippet has its code", () => {
  expect(new Set(snippets.map(({ page }) => page)).size).toBeGreaterThan(1);
  const marks = pages.flatMap(({ text }) => text.match(/<!-- snippet:/g) ?? []);
  expect(snippets).toHaveLength(marks.length);
});

test.each(snippets)("$page shows $file as it compiles", ({ file, code }) => {
  expect(code).toBe(readFileSync(path.join(ROOT, file), "utf8"));
});

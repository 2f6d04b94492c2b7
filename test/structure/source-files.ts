import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** The top of the checkout. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A source file: its path from {@link ROOT}, with `/`, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Every TypeScript and JavaScript file under `folders`. */
export function sourceFiles(...folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ts|js)$/.test(name))
      .map((name) => path.posix.join(folder, ...name.split(path.sep)))
      .sort()
      .map((file) => ({ path: file, text: readFileSync(path.join(ROOT, file), "utf8") })),
  );
}

/** What a file imports, types included: packages by name, files by their path from {@link ROOT}. */
export function importsOf({ path: file, text }: SourceFile): string[] {
  return ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) =>
      fileName.startsWith(".") ? path.posix.join(path.posix.dirname(file), fileName) : packageOf(fileName),
    );
}

/** `aws-cdk-lib` for `aws-cdk-lib/aws-sqs`; Node's own modules and the project's own names (`#jobs`) whole. */
function packageOf(specifier: string): string {
  if (specifier.startsWith("node:") || specifier.startsWith("#")) return specifier;
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

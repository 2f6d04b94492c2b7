import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** AWS's guide, "Deploying DynamoDB locally on your computer": JRE 17 or newer. */
export const JAVA_MAJOR_MIN = 17;

/** What a search for Java found. */
export type JavaFound =
  | { readonly kind: "found"; readonly path: string; readonly major: number }
  | { readonly kind: "too-old"; readonly path: string; readonly major: number }
  | { readonly kind: "missing" };

/** Looks for Java in `JAVA_HOME`, then in `PATH`, and asks it for its version. */
export async function findJava(env: NodeJS.ProcessEnv): Promise<JavaFound> {
  const home = env["JAVA_HOME"];
  const path = home ? join(home, "bin", "java") : "java";
  const major = parseJavaMajor(await versionText(path, env));
  if (major === undefined) return { kind: "missing" };
  return { kind: major >= JAVA_MAJOR_MIN ? "found" : "too-old", path, major };
}

/** The major version in the output of `java -version` (`17.0.15` is 17, `1.8.0_422` is 8); `undefined` when there is none. */
export function parseJavaMajor(versionOutput: string): number | undefined {
  const [, first, second] = /version "(\d+)(?:\.(\d+))?/.exec(versionOutput) ?? [];
  // JEP 223: up to Java 8 the version began with "1.".
  const major = first === "1" ? second : first;
  return major === undefined ? undefined : Number(major);
}

async function versionText(path: string, env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(path, ["-version"], { env, timeout: 10_000 });
    return stderr + stdout;
  } catch {
    // No such program, or macOS's placeholder that fails and asks to install Java: for us both mean "no Java".
    return "";
  }
}

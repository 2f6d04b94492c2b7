import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { parseAllDocuments } from "yaml";
import { errorMessage, PunctualError } from "../core/errors.ts";

/** A file of schedules cannot be read, or is neither JSON nor YAML. */
class ScheduleFileError extends PunctualError {
  constructor(message: string, options?: ErrorOptions) {
    super("ScheduleFile", message, options);
  }
}

/** The largest file that is read: a hundred thousand schedules of ordinary size. */
const FILE_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Reads schedules from a file, or from `stdin` for `-`: JSON where the name ends so, else YAML (of which JSON is a part).
 * One schedule, a list, or several documents. What they say is not judged here. Throws `ScheduleFileError`.
 */
export async function readSchedules(
  path: string,
  stdin: AsyncIterable<string | Uint8Array>,
): Promise<readonly unknown[]> {
  const text = path === "-" ? await readAll(stdin) : await readText(path);
  const values = extname(path) === ".json" ? [fromJson(path, text)] : fromYaml(path, text);
  const schedules = values.flat();
  if (schedules.length === 0)
    throw new ScheduleFileError(`${nameOf(path)} must hold a schedule or a list, got nothing`);
  return schedules;
}

const nameOf = (path: string): string => (path === "-" ? "standard input" : path);

async function readText(path: string): Promise<string> {
  try {
    return checked(path, await readFile(path));
  } catch (thrown) {
    if (thrown instanceof ScheduleFileError) throw thrown;
    throw new ScheduleFileError(`${path} cannot be read: ${errorMessage(thrown)}`, { cause: thrown });
  }
}

async function readAll(stdin: AsyncIterable<string | Uint8Array>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    chunks.push(buffer);
    if (bytes > FILE_MAX_BYTES) break;
  }
  return checked("-", Buffer.concat(chunks));
}

function checked(path: string, content: Buffer): string {
  if (content.length <= FILE_MAX_BYTES) return content.toString("utf8");
  throw new ScheduleFileError(`${nameOf(path)} must be at most ${FILE_MAX_BYTES} bytes, got ${content.length} or more`);
}

function fromJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new ScheduleFileError(`${nameOf(path)} must be JSON: ${errorMessage(thrown)}`, { cause: thrown });
  }
}

function fromYaml(path: string, text: string): unknown[] {
  const documents = [...parseAllDocuments(text)];
  const problems = documents.flatMap(({ errors }) => errors.map((error) => error.message));
  if (problems.length > 0) {
    const hint = /alias/i.test(problems.join(" "))
      ? "\nA cron expression that starts with * must stand in quotes."
      : "";
    throw new ScheduleFileError(`${nameOf(path)} must be YAML or JSON: ${problems.join("\n")}${hint}`);
  }
  try {
    return documents.map((document): unknown => document.toJS()).filter((value) => value !== null);
  } catch (thrown) {
    throw new ScheduleFileError(`${nameOf(path)} must be YAML or JSON: ${errorMessage(thrown)}`, { cause: thrown });
  }
}

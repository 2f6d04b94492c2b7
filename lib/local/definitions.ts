import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import * as z from "zod";
import type { ScheduleItem } from "../app/ports.ts";
import { errorMessage } from "../core/errors.ts";
import { LocalEngineError } from "./errors.ts";

const definition = z.looseObject({ scheduleId: z.string() });

/** One definition, a list of them, or a map with the list under `schedules`. */
const file = z.union([
  z.array(definition),
  z.object({ schedules: z.array(definition) }).transform(({ schedules }) => schedules),
  definition.transform((one) => [one]),
]);

/**
 * The schedule definitions of a JSON or YAML file; what each says is for the scheduler to judge.
 * Throws {@link LocalEngineError} for a file that cannot be read or holds none.
 */
export async function readDefinitions(path: string): Promise<readonly ScheduleItem[]> {
  try {
    return file.parse(parse(await readFile(path, "utf8")));
  } catch (error) {
    const why = error instanceof z.ZodError ? "no list of maps with a scheduleId" : errorMessage(error).split("\n")[0];
    throw new LocalEngineError(`--schedules must be a JSON or YAML file of schedules, got ${path}: ${why}`, {
      cause: error,
    });
  }
}

import * as z from "zod";
import { queueLimits, type Settings } from "./env.ts";

/** What whoever defines schedules must know of a deployment: what they are checked against, and where their runs lie. */
export type ScheduleSettings = Pick<Settings, "shards" | "historySeconds"> & {
  readonly queues: Readonly<
    Record<string, Pick<Settings["queues"][string], "timeoutMaxSeconds" | "retry" | "completion">>
  >;
};

const schema: z.ZodType<ScheduleSettings> = z.object({
  shards: z.int().positive(),
  historySeconds: z.int().positive(),
  queues: z.record(z.string(), queueLimits),
});

/** The settings as the JSON of a stack's output: short, and without anything that is known only once it is deployed. */
export const scheduleSettingsJson = ({ shards, historySeconds, queues }: Settings): string =>
  JSON.stringify({
    shards,
    historySeconds,
    queues: Object.fromEntries(
      Object.entries(queues).map(([name, { timeoutMaxSeconds, retry, completion }]) => [
        name,
        { timeoutMaxSeconds, retry, completion },
      ]),
    ),
  });

/** Reads what {@link scheduleSettingsJson} wrote; `undefined` for a text that is something else. */
export function readScheduleSettings(json: string): ScheduleSettings | undefined {
  try {
    const parsed = schema.safeParse(JSON.parse(json));
    return parsed.success ? parsed.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

import type { ScheduleLimits } from "../../core/schedule.ts";
import { PAYLOAD_MAX_BYTES, TIMEOUT_MAX_SECONDS } from "../../core/schedule-definition.ts";
import type { Engine } from "../engine/engine.ts";

/** What managing schedules and runs needs to know of a deployment. */
export interface ManageSettings {
  /** How long finished rows are kept, in seconds. */
  readonly historySeconds: number;
  /** How many shards new rows are spread over. Absent: the most that were ever in use, as the store tells. */
  readonly shards?: number;
  /** The named queues. Absent where they are not known: then any name passes, and the deployment's own reconciler judges. */
  readonly queues?: ScheduleLimits["queues"];
}

/** Everything the use cases of managing work with: the world behind ports, and the deployment's settings. */
export interface Manager extends Pick<Engine, "occurrences" | "schedules" | "clock" | "logger" | "metrics"> {
  readonly settings: ManageSettings;
}

/** What the definition in `item` is checked against. Without known queues, the one it names is taken to be there. */
export function limitsFor(
  { queues, historySeconds }: Pick<ManageSettings, "queues" | "historySeconds">,
  item: unknown,
): ScheduleLimits {
  if (queues !== undefined) return { queues, historySeconds };
  const named = typeof item === "object" && item !== null ? Reflect.get(item, "queue") : undefined;
  const queue = typeof named === "string" ? named : "default";
  return { queues: { [queue]: { timeoutMaxSeconds: TIMEOUT_MAX_SECONDS } }, historySeconds };
}

/**
 * The number of shards that a new row is spread over, noted as in use before there is one: a dispatcher looks at every shard
 * that ever was.
 */
export const shardsOf = ({ settings, occurrences }: Manager): Promise<number> =>
  occurrences.shardHighWater(settings.shards ?? 1);

/** Whether JSON text is small enough to be a payload. */
export const fitsPayload = (json: string): boolean => Buffer.byteLength(json) <= PAYLOAD_MAX_BYTES;

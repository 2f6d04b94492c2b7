import type { AnnounceOptions } from "../../core/announcement.ts";
import type { TransitionSettings } from "../../core/machine.ts";
import type { ScheduleLimits } from "../../core/schedule.ts";
import type { Clock, Logger, MessageQueue, Metrics, OccurrenceStore, Random, ScheduleStore } from "../ports.ts";

/** What a deployment decides for its engine. */
export interface EngineSettings extends TransitionSettings {
  /** How many shards new rows are spread over. */
  readonly shards: number;
  readonly limits: ScheduleLimits;
  /** Queues whose runs are done once SQS has them. */
  readonly completedWhenEnqueued: ReadonlySet<string>;
  /** The deployment's name in events, and which events beyond failures and ends are worth their cost. */
  readonly announce: AnnounceOptions;
}

/** Everything a use case of the engine works with: the world behind ports, and the deployment's settings. */
export interface Engine {
  readonly occurrences: OccurrenceStore;
  readonly schedules: ScheduleStore;
  readonly queue: MessageQueue;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly settings: EngineSettings;
  /** A name that no other claim or start ever has: tells this visit's write from anybody else's. */
  readonly newNonce: () => string;
}

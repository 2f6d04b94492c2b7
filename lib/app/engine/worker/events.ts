import type { OccurrenceKey } from "../../../core/occurrence.ts";
import type { Logger } from "../../ports.ts";
import type { DeliveryResult } from "../run-delivery.ts";

/** An attempt whose job has begun. */
export interface StartedAttempt extends OccurrenceKey {
  readonly occurrenceId: string;
  readonly job: string;
  readonly attempt: number;
  readonly fencingToken: number;
}

/** How a worker came to its end. */
export interface WorkerReport {
  /** `shutdown`: it was asked to. `stuck`: every place is held by a job that ignores its signal. */
  readonly reason: "shutdown" | "stuck";
  /** `<scheduleId>@<firing>` of jobs that ignored their signal and are still running: only the end of the process ends them. */
  readonly abandoned: readonly string[];
}

/** What happens in a worker, for those who watch it. */
export type WorkerEvent =
  | { readonly kind: "received"; readonly messageId: string; readonly receives: number }
  /** The attempt is taken and its job begins. Messages that meet no waiting attempt end without it. */
  | { readonly kind: "started"; readonly messageId: string; readonly attempt: StartedAttempt }
  | { readonly kind: "ended"; readonly messageId: string; readonly result: DeliveryResult }
  /** The message comes again, to this worker or another: after so many seconds, or sooner where SQS could not be told. */
  | {
      readonly kind: "handed-back";
      readonly messageId: string;
      readonly reason: string;
      readonly visibleInSeconds: number;
    }
  /** A message that waited became visible to others before it was started, and is left to them. */
  | { readonly kind: "lapsed"; readonly messageId: string }
  /** SQS did not do what it was asked. The worker goes on: a receive is tried again, and so, a few times, are the others. */
  | {
      readonly kind: "error";
      readonly doing: "receive" | "acknowledge" | "hide";
      readonly error: Error;
      readonly messageIds: readonly string[];
    }
  | { readonly kind: "stopping"; readonly reason: WorkerReport["reason"] }
  | { readonly kind: "stopped"; readonly report: WorkerReport };

/** Tells whoever watches. */
export type Tell = (event: WorkerEvent) => void;

/** Whoever watches a worker. What it does at length it does on its own: nothing waits for it. */
export type Observer = (event: WorkerEvent) => void | Promise<void>;

/** `observer`, whose own failures, at once or later, are logged and stop nothing. */
export const tellSafely =
  (observer: Observer | undefined, logger: Logger): Tell =>
  (event) => {
    const told = async () => observer?.(event);
    told().catch((error: unknown) =>
      logger.error("an observer of the worker failed", { event: event.kind, error: String(error) }),
    );
  };

import type { Instant } from "../../../lib/core/instant.ts";
import type { Role } from "../world/process.ts";

/** Which service an exchange is with: what a partition cuts off. */
export type Service = "store" | "queue" | "bus";

/** One exchange with a service, at the moment it is about to begin. */
export interface Point {
  /** Counts the exchanges of a world from 0. */
  readonly index: number;
  readonly at: Instant;
  readonly process: string;
  readonly role: Role;
  readonly service: Service;
  readonly name: string;
  readonly items: number;
}

/** What may happen to one exchange. */
export type Fault =
  /** The process dies before the request leaves, or once it has taken effect and before the answer is in. */
  | { readonly kind: "crash-before" }
  | { readonly kind: "crash-after" }
  /** No answer: the request was lost, or took effect and its answer was lost, or takes effect only `ms` after it was sent. */
  | { readonly kind: "request-lost" }
  | { readonly kind: "answer-lost" }
  | { readonly kind: "late-effect"; readonly ms: number }
  /** The service refuses it for now. */
  | { readonly kind: "throttled" }
  /** The SDK sent it twice, since the first answer was lost; the caller gets the second one. */
  | { readonly kind: "sent-twice" }
  /** The answer takes `ms`. */
  | { readonly kind: "slow"; readonly ms: number }
  /** Each item of a batch meets a fate of its own, in any order. */
  | { readonly kind: "partial" }
  /** The process stands still for `ms` with the answer under way, or before the request leaves. */
  | { readonly kind: "paused-before"; readonly ms: number }
  | { readonly kind: "paused-after"; readonly ms: number };

/** What goes wrong in a world, and when. */
export interface FaultPlan {
  /** What happens to an exchange; usually nothing. */
  exchange(point: Point): Fault | undefined;
  /** How late a change of the table shows in its index. */
  indexLagMs(now: Instant): number;
  /** Whether an answer carries a `Date` header, and by how much that is wrong. */
  date(now: Instant): "missing" | { readonly wrongByMs: number };
}

const RIGHT = { wrongByMs: 0 } as const;

/** Nothing goes wrong. */
export const NO_FAULTS: FaultPlan = {
  exchange: () => undefined,
  indexLagMs: () => 0,
  date: () => RIGHT,
};

import type { Problem } from "../errors.ts";
import type { Instant } from "../instant.ts";
import type { Calendar } from "./calendar.ts";

/** What happens to a wall-clock time that a forward change of the clocks leaves out. */
export const GAP_POLICIES = ["shift", "skip"] as const;
/** Which pass of a wall-clock time that occurs twice fires. */
export const REPEATED_POLICIES = ["first", "second", "both"] as const;

/** `shift`: the first instant after the gap; `skip`: none. */
export type GapPolicy = (typeof GAP_POLICIES)[number];
/** `first` or `second` pass of a repeated time, or `both` in instant order. */
export type RepeatedPolicy = (typeof REPEATED_POLICIES)[number];

/** How wall-clock times that do not exist, or exist twice, are turned into instants. */
export interface DstPolicy {
  readonly gap: GapPolicy;
  readonly repeated: RepeatedPolicy;
}

/** The timing part of a schedule, as the user wrote it (attributes of the Schedules table). */
export interface TimingDefinition {
  readonly scheduleId?: string | undefined;
  readonly cron?: string | undefined;
  readonly rate?: string | undefined;
  readonly at?: string | undefined;
  readonly timezone?: string | undefined;
  readonly dst?: { readonly gap?: GapPolicy | undefined; readonly repeated?: RepeatedPolicy | undefined } | undefined;
  readonly startAt?: string | undefined;
  readonly endAt?: string | undefined;
  readonly jitterSeconds?: number | undefined;
}

/** How a daylight-saving change was resolved: moved out of a gap, or one pass of a time that occurs twice. */
export type Resolution = "gap" | "repeated";

/** An instant at which a calendar fires, before windows and jitter. */
export interface NominalFiring {
  readonly at: Instant;
  readonly resolved?: Resolution;
}

interface TimingBase {
  /** Seeds the jitter; empty when the definition has no id. */
  readonly scheduleId: string;
  /** The canonical IANA name. */
  readonly timezone: string;
  /** First instant that may fire. */
  readonly startAt?: Instant;
  /** Last instant that may fire. */
  readonly endAt?: Instant;
  readonly jitterMs: number;
}

/** Fires at the wall-clock times of a cron expression. */
export interface CronTiming extends TimingBase {
  readonly kind: "cron";
  readonly calendar: Calendar;
}

/** Fires every `intervalMs` from `anchor`, calendar-free. */
export interface RateTiming extends TimingBase {
  readonly kind: "rate";
  readonly intervalMs: number;
  readonly anchor: Instant;
}

/** Fires once (twice for a repeated local time under `both`). Never empty, in instant order. */
interface AtTiming extends TimingBase {
  readonly kind: "at";
  readonly firings: readonly NominalFiring[];
}

/** Parsed timing, ready to be asked; immutable. */
export type Timing = CronTiming | RateTiming | AtTiming;

/** What {@link TimingDefinition} parses to: a timing, or everything that is wrong with it. */
export type TimingResult =
  | { readonly kind: "valid"; readonly timing: Timing }
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] };

/** A firing: the nominal instant, when it falls due (nominal plus deterministic jitter), and whether a gap or repeat was resolved. */
export interface Firing {
  readonly scheduledFor: Instant;
  readonly dueAt: Instant;
  readonly resolved?: Resolution;
}

import { errorMessage } from "../../core/errors.ts";
import type { Instant } from "../../core/instant.ts";
import { LEASES } from "../../core/lease.ts";
import { formatKey, type Occurrence } from "../../core/occurrence.ts";
import { transition } from "../../core/transition.ts";
import type { Host } from "../ports.ts";
import type { Engine } from "./engine.ts";
import { elapsedMs, type Moment, momentOf } from "./moment.ts";
import { settleable, timeOrRead, writeSettled } from "./settle.ts";

/** How soon a renewal that got no answer is tried again. */
const RETRY_RENEWAL_MS = 1_000;

/** Why an attempt may no longer act. The job sees it as its signal's reason. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

type Renewal = "renewed" | "lost" | "unknown";

/**
 * Keeps one attempt's lease and judges whether it still holds: by the time since *before* the last renewal was sent (a lease
 * counted from the answer would be too long), less a margin.
 */
export class LeaseKeeper {
  readonly #engine: Engine;
  readonly #host: Host;
  readonly #row: Occurrence;
  readonly #owner: string;
  readonly #lost = new AbortController();
  readonly #stop = new AbortController();
  #reporting = false;
  #renewing: Promise<Renewal> | undefined;
  #renewedAt: Moment;
  #leaseUntil: Instant;

  /** `sentAt`: the moment before the write that gave `row` its lease was first sent. */
  constructor(engine: Engine, host: Host, row: Occurrence, owner: string, sentAt: Moment) {
    this.#engine = engine;
    this.#host = host;
    this.#row = row;
    this.#owner = owner;
    this.#renewedAt = sentAt;
    this.#leaseUntil = row.leaseUntil ?? engine.clock.now();
  }

  /** Aborts, with a {@link LeaseLostError}, once the lease is lost or the run cancelled. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Until when the lease runs, by the store's clock, as the last renewal left it. */
  get leaseUntil(): Instant {
    return this.#leaseUntil;
  }

  /** Whether this runner may still act. */
  holds(): boolean {
    return !this.#lost.signal.aborted && this.runsOn();
  }

  /** Whether the lease that it had last still runs, be it lost to a cancel or another attempt. */
  runsOn(): boolean {
    return this.#remainingMs() > 0;
  }

  /** Renews until {@link stop} is called or the lease is lost, and notices its end also while a renewal is unanswered. */
  async run(): Promise<void> {
    await Promise.all([this.#renewAlways(), this.#watchEnd()]);
  }

  async #watchEnd(): Promise<void> {
    const over = AbortSignal.any([this.#stop.signal, this.#lost.signal]);
    while (!over.aborted) {
      const remainingMs = this.#remainingMs();
      if (remainingMs <= 0) this.#lose("its lease ran out while no renewal was answered");
      else await this.#host.sleep(Math.max(remainingMs, 1), over);
    }
  }

  async #renewAlways(): Promise<void> {
    let waitMs: number = LEASES.renewEveryMs;
    while (!this.#stop.signal.aborted) {
      await this.#host.sleep(Math.min(waitMs, Math.max(this.#remainingMs(), 1)), this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      // One that could not even be tried, as while the store's time is not known, leaves the lease as it was.
      const renewed = await this.renew().catch((error: unknown) => this.#untried(error));
      if (renewed === "lost") return;
      waitMs = renewed === "renewed" ? LEASES.renewEveryMs : RETRY_RENEWAL_MS;
    }
  }

  /** Renews once, now, or joins the renewal that is under way. `unknown`: the store did not answer, or not what time it is, and the lease runs on as it was. */
  renew(): Promise<Renewal> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renew(): Promise<Renewal> {
    const sentAt = momentOf(this.#host);
    if (!this.holds()) return this.#lose("its lease ran out before it could be renewed");
    const now = await timeOrRead(this.#engine, this.#row);
    if (now === undefined) {
      this.#engine.logger.warn("a renewal could not be tried, the store's time is not known; it is repeated");
      return this.holds() ? "unknown" : this.#lose("its lease ran out while the store's time was not known");
    }
    const event = { type: "renew", token: this.#row.fencingToken, owner: this.#owner } as const;
    const next = transition(
      { ...this.#row, status: "RUNNING", leaseUntil: this.#leaseUntil },
      event,
      now,
      this.#engine.settings,
    );
    if (next.kind === "refused") return this.#lose(next.reason);
    const isMine = (row: Occurrence) => row.owner === this.#owner && row.status === "RUNNING";
    const [verdict] = await writeSettled(this.#engine, [settleable(this.#row, next, isMine)]);
    if (verdict?.kind === "applied") {
      // A settled answer may show an older renewal's lease: what the row says counts, not what was asked.
      const renewed = verdict.row.leaseUntil === next.change.set.leaseUntil;
      if (renewed) this.#renewedAt = sentAt;
      this.#leaseUntil = verdict.row.leaseUntil ?? this.#leaseUntil;
      if (!this.holds()) return this.#lose("its renewal came too late");
      return renewed ? "renewed" : "unknown";
    }
    // Mostly a cancel, which is nothing to warn of; where it is not, the report that comes too late is warned of.
    if (verdict?.kind === "refused")
      return this.#lose("the run was cancelled, or another attempt has taken over", "info");
    return this.holds() ? "unknown" : this.#lose("its lease ran out while the store did not answer");
  }

  /** From here on the report says what became of the attempt: a renewal may be refused because the report was taken. */
  reporting(): void {
    this.#reporting = true;
  }

  /** Ends the renewals. The lease itself runs on. */
  stop(): void {
    this.#stop.abort();
  }

  #untried(error: unknown): "unknown" {
    this.#engine.logger.warn("a renewal could not be tried; it is repeated", { error: errorMessage(error) });
    return "unknown";
  }

  #remainingMs(): number {
    return LEASES.runLeaseMs - LEASES.leaseMarginMs - elapsedMs(this.#host, this.#renewedAt);
  }

  #lose(why: string, level: "info" | "warn" = "warn"): "lost" {
    if (!this.#lost.signal.aborted) {
      const error = new LeaseLostError(
        `attempt ${this.#row.fencingToken} of ${formatKey(this.#row)} must stop: ${why}`,
      );
      if (!this.#reporting) this.#engine.logger[level]("an attempt lost its lease", { error: errorMessage(error) });
      this.#lost.abort(error);
    }
    return "lost";
  }
}

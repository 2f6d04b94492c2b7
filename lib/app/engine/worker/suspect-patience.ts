import { type Backoff, retryDelayMs } from "../../../core/retry.ts";
import type { Host } from "../../ports.ts";
import { elapsedMs, type Moment, momentOf } from "../moment.ts";
import type { Held } from "./waiting-line.ts";

/**
 * How long a worker stands still for a suspect, by the suspect's receives: 5, 10, 20, 40, 60 minutes. Most jobs end within the
 * first; it grows so that a suspect also finds its turn where every job takes longer.
 */
const STANDSTILL: Backoff = {
  baseDelaySeconds: 300,
  multiplier: 2,
  maxDelaySeconds: 3_600,
  jitter: false,
};

/** For how long the worker then goes on without suspects: three times the first standstill, so that most of its time is for the rest. */
const AWAY_SECONDS = 900;

/** Ends the wait of suspects for a worker to fall idle, which would else last as long as its longest job. */
export class SuspectPatience {
  readonly #host: Host;
  readonly #sendAway: (seconds: number) => void;
  #awaited: { readonly held: Held; readonly over: AbortController } | undefined;
  #goneOnAt: Moment | undefined;

  /** `sendAway`: takes the suspects out of the line, to come again in so many seconds. */
  constructor(host: Host, sendAway: (seconds: number) => void) {
    this.#host = host;
    this.#sendAway = sendAway;
  }

  /** Told, after every change, of the suspect for which the worker stands still. */
  standsStillFor(held: Held | undefined): void {
    if (held === this.#awaited?.held) return;
    this.#awaited?.over.abort();
    this.#awaited = undefined;
    if (held === undefined) return;
    const over = new AbortController();
    this.#awaited = { held, over };
    void this.#wait(held, over.signal);
  }

  async #wait({ message }: Held, over: AbortSignal): Promise<void> {
    const restSeconds = this.#restSeconds();
    if (restSeconds === 0) await this.#host.sleep(retryDelayMs(STANDSTILL, message.receives, 0), over);
    if (over.aborted) return;
    if (restSeconds === 0) this.#goneOnAt = momentOf(this.#host);
    this.#sendAway(restSeconds || AWAY_SECONDS);
  }

  /** What is left of the time without suspects. */
  #restSeconds(): number {
    if (this.#goneOnAt === undefined) return 0;
    return Math.max(0, Math.ceil(AWAY_SECONDS - elapsedMs(this.#host, this.#goneOnAt) / 1000));
  }
}

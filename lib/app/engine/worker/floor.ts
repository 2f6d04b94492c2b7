import { formatKey } from "../../../core/occurrence.ts";
import { type Backoff, retryDelayMs } from "../../../core/retry.ts";
import type { InboxMessage } from "../../ports.ts";
import { isSuspect, runDelivery } from "../run-delivery.ts";
import type { Execution, Runner } from "../run-occurrence.ts";
import type { Tell, WorkerReport } from "./events.ts";
import type { Receipts } from "./receipts.ts";
import { SuspectPatience } from "./suspect-patience.ts";
import type { Held, WaitingLine } from "./waiting-line.ts";

/** After how many receives a message that could not be dealt with comes again how much later: receives are counted, and past the queue's `maxReceiveCount` SQS takes it away. */
const HAND_BACK: Backoff = {
  baseDelaySeconds: 5,
  multiplier: 2,
  maxDelaySeconds: 900,
  jitter: false,
};

/** What {@link Floor} works with. */
export interface FloorOptions {
  readonly runner: Runner;
  readonly line: WaitingLine;
  readonly receipts: Receipts;
  readonly tell: Tell;
  /** Jobs that run side by side. */
  readonly concurrency: number;
  /** Messages that may wait beside them. */
  readonly prefetch: number;
  /** Called before each delivery is dealt with, as for what a frozen host must find out about the time. Never rejects. */
  readonly freshen: () => Promise<void>;
}

/**
 * Where deliveries are dealt with: so many at a time, and a suspect alone. While one waits nothing is received or started;
 * it runs when those before it have ended, so that a job that kills its process takes no neighbour along. Where they do not
 * end in time it comes again later.
 */
export class Floor {
  readonly #options: FloorOptions;
  readonly #running = new Set<Held>();
  /** Jobs that ignored their signal and are still running, each in the place it had. */
  readonly #leftBehind = new Map<Held, string>();
  readonly #patience: SuspectPatience;
  readonly #ended: Promise<void>;
  #end: () => void = () => undefined;
  #wakeReceiver: () => void = () => undefined;
  #closed: WorkerReport["reason"] | undefined;

  constructor(options: FloorOptions) {
    this.#options = options;
    this.#patience = new SuspectPatience(options.runner.host, (seconds) => this.#sendSuspectsAway(seconds));
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Takes messages on, or back where the floor is closed. */
  take(messages: readonly InboxMessage[]): void {
    const { line, receipts, tell } = this.#options;
    for (const { id, receives } of messages) tell({ kind: "received", messageId: id, receives });
    if (this.#closed !== undefined) receipts.handBack(messages, 0, CLOSED);
    else for (const message of messages) line.add(message);
    this.#moved();
  }

  /** How many more messages there is room for, once there is any; 0 when the floor is closed. */
  async untilRoom(): Promise<number> {
    while (this.#closed === undefined && this.#room <= 0)
      await new Promise<void>((wake) => {
        this.#wakeReceiver = wake;
      });
    return this.#closed === undefined ? this.#room : 0;
  }

  /** Starts nothing any more and hands back what waits. What runs goes on. */
  close(reason: WorkerReport["reason"]): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    const { line, receipts, tell } = this.#options;
    tell({ kind: "stopping", reason });
    receipts.handBack(
      line.takeAll().map(({ message }) => message),
      0,
      CLOSED,
    );
    this.#moved();
  }

  /** Resolves when the floor is closed and all that ran has ended or been left behind. */
  async ended(): Promise<WorkerReport> {
    await this.#ended;
    return { reason: this.#closed ?? "shutdown", abandoned: [...this.#leftBehind.values()] };
  }

  get #room(): number {
    const { line, concurrency, prefetch } = this.#options;
    if (line.firstSuspect !== undefined || this.#runsAlone) return 0;
    return concurrency + prefetch - line.length - this.#atWork;
  }

  /** Jobs in this process, those among them that ignored their signal. */
  get #atWork(): number {
    return this.#running.size + this.#leftBehind.size;
  }

  get #runsAlone(): boolean {
    return [...this.#running].some(({ opened }) => isSuspect(opened));
  }

  #mayStart(): boolean {
    const { line, concurrency } = this.#options;
    if (line.length === 0 || this.#runsAlone || this.#atWork >= concurrency) return false;
    return line.firstSuspect === undefined || this.#atWork === 0;
  }

  /** After every change: starts what may start, and wakes who waits for it. */
  #moved(): void {
    while (this.#mayStart()) {
      const next = this.#options.line.takeNext();
      if (next !== undefined) void this.#run(next);
    }
    // Behind one that runs alone nothing could start anyway.
    this.#patience.standsStillFor(this.#runsAlone ? undefined : this.#options.line.firstSuspect);
    if (this.#closed !== undefined && this.#running.size === 0) this.#end();
    this.#wakeReceiver();
  }

  #sendSuspectsAway(seconds: number): void {
    const { line, receipts } = this.#options;
    const suspects = line.takeSuspects().map(({ message }) => message);
    receipts.handBack(suspects, seconds, "a suspect runs alone, and the runs before it take too long");
    this.#moved();
  }

  async #run(held: Held): Promise<void> {
    const { runner, receipts, tell, freshen } = this.#options;
    const { message, opened } = held;
    const begun: { job?: Promise<Execution> } = {};
    this.#running.add(held);
    try {
      await freshen();
      if (this.#closed !== undefined) return receipts.handBack([message], 0, CLOSED);
      const result = await runDelivery({ ...runner, execute: this.#telling(message, begun) }, opened);
      tell({ kind: "ended", messageId: message.id, result });
      if (result.kind === "hand-back") {
        const seconds = Math.ceil(retryDelayMs(HAND_BACK, message.receives, 0) / 1000);
        receipts.handBack([message], seconds, result.reason);
      } else receipts.acknowledge(message);
      if ("abandoned" in result && result.abandoned) this.#leaveBehind(held, begun.job);
    } finally {
      this.#running.delete(held);
      this.#moved();
    }
  }

  /** The runner's own `execute`, which tells when a job begins and remembers it. */
  #telling({ id }: InboxMessage, begun: { job?: Promise<Execution> }): Runner["execute"] {
    const { runner, tell } = this.#options;
    return (attempt) => {
      const { scheduleId, firing, occurrenceId, job, attempts, fencingToken } = attempt.row;
      const started = { scheduleId, firing, occurrenceId, job, attempt: attempts, fencingToken };
      tell({ kind: "started", messageId: id, attempt: started });
      begun.job = runner.execute(attempt);
      return begun.job;
    };
  }

  /** Its place stays taken until it ends: what really runs in this process is never more than `concurrency`. */
  #leaveBehind(held: Held, job: Promise<Execution> | undefined): void {
    const key = held.opened.kind === "malformed" ? held.message.id : formatKey(held.opened.message);
    this.#leftBehind.set(held, key);
    this.#options.runner.engine.logger.error("a job ignores its signal; it keeps its place until it ends", { key });
    void job?.finally(() => {
      this.#leftBehind.delete(held);
      this.#moved();
    });
    if (this.#leftBehind.size >= this.#options.concurrency) this.close("stuck");
  }
}

const CLOSED = "the worker takes nothing new";

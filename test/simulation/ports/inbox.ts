import { createMemoryInbox } from "../../../lib/adapters/memory/inbox.ts";
import type { Host, Inbox, ReceiptVerdict } from "../../../lib/app/ports.ts";
import type { Environment } from "../world/environment.ts";
import type { Process } from "../world/process.ts";
import type { Arrivals } from "./arrivals.ts";
import { exchange, only } from "./exchange.ts";
import { attemptOf, NO_ANSWER, REFUSED } from "./messaging.ts";

type Received = Awaited<ReturnType<Inbox["receive"]>>;
const NOTHING: Received = { kind: "received", messages: [] };

/** No receive at the queue itself is called off: what it has handed out to one that is gone stays hidden. */
const NEVER = new AbortController().signal;

/** The attempt that a received message carries. */
export interface HeldAttempt {
  readonly key: string;
  readonly token: number;
  readonly messageId: string;
}

/** A queue's receiving side as a worker meets it, and the attempts of the messages that it was given: by message id and by receipt. */
export interface SimulatedInbox {
  readonly inbox: Inbox;
  readonly held: ReadonlyMap<string, HeldAttempt>;
}

/**
 * The receiver's side of `queue` as the worker in `environment` meets it. Long polls that would bring nothing are one long wait, for
 * which no fault is drawn; what is received, acknowledged or hidden is an exchange.
 */
export function inboxFor(environment: Environment, host: Host, arrivals: Arrivals, queue: string): SimulatedInbox {
  const { world, process } = environment;
  const memory = createMemoryInbox({ queues: world.queue, queue, host });
  const held = new Map<string, HeldAttempt>();
  const wait = waiting(process, arrivals);
  const inbox: Inbox = {
    receive: async ({ max, waitSeconds, visibilitySeconds, signal }) => {
      const until = world.kernel.now + waitSeconds * 1000;
      for (;;) {
        while (!signal.aborted && !arrivals.some) await wait(signal);
        const receive = () => memory.receive({ max, waitSeconds: 0, visibilitySeconds, signal: NEVER });
        const [answer = NOTHING] = signal.aborted ? [] : await ask(process, "receive", [undefined], receive);
        if (signal.aborted) return NOTHING;
        if (answer.kind === "failed") return answer;
        for (const { id: messageId, body, receipt, receives: receiveCount } of answer.messages) {
          const attempt = attemptOf(body);
          if (attempt === undefined) continue;
          held.set(messageId, { ...attempt, messageId });
          held.set(receipt, { ...attempt, messageId });
          world.tell({ type: "delivered", ...attempt, messageId, receiveCount }, process);
        }
        if (answer.messages.length > 0 || world.kernel.now >= until) return answer;
        // Others were faster, or the queue has as many in flight as it can.
        await wait(signal, until);
      }
    },
    acknowledge: (receipts) =>
      ask(process, "acknowledge", receipts, async (receipt): Promise<ReceiptVerdict> => {
        const verdict = only(await memory.acknowledge([receipt]));
        // One less is in flight.
        arrivals.changed();
        const attempt = held.get(receipt);
        if (attempt && verdict.kind === "done") world.tell({ type: "acknowledged", ...attempt }, process);
        return verdict;
      }),
    hide: (receipts, seconds) =>
      ask(process, "hide", receipts, async (receipt): Promise<ReceiptVerdict> => {
        const verdict = only(await memory.hide([receipt], seconds));
        arrivals.changed();
        return verdict;
      }),
  };
  return { inbox, held };
}

type Failed = { readonly kind: "failed"; readonly error: Error };

/** A request to the queue: what it refused, or did not answer, has failed. Sent twice, it answers the second; what the first was handed is hidden for nobody. */
const ask = <Item, Answer>(
  process: Process,
  name: string,
  items: readonly Item[],
  effect: (item: Item) => Promise<Answer>,
): Promise<(Answer | Failed)[]> =>
  exchange<Item, Answer | Failed>(process, {
    service: "queue",
    name,
    items,
    effect,
    failed: () => ({ kind: "failed", error: REFUSED }),
    unknown: () => ({ kind: "failed", error: NO_ANSWER }),
    twice: (_, second) => second,
  });

/** Waits for the queue's next change, until `untilMs` or an abort; a process that stands still notices when it thaws. */
function waiting(process: Process, arrivals: Arrivals): (signal: AbortSignal, untilMs?: number) => Promise<void> {
  let leave: () => void = () => undefined;
  process.onEnd(() => leave());
  return (signal, untilMs) =>
    new Promise((resolve) => {
      const done = () => {
        leave();
        resolve();
      };
      const stopWaiting = arrivals.next(() => process.deliver(done));
      const callOff = untilMs === undefined ? undefined : process.world.kernel.at(untilMs, () => process.deliver(done));
      leave = () => {
        stopWaiting();
        callOff?.();
        signal.removeEventListener("abort", done);
      };
      signal.addEventListener("abort", done, { once: true });
    });
}

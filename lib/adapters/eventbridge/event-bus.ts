import { type EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from "@aws-sdk/client-eventbridge";
import { mapBounded } from "../../app/bounded.ts";
import type { Announcement, EventBus } from "../../app/ports.ts";
import { PunctualError } from "../../core/errors.ts";
import { recordedError } from "../../core/recorded-error.ts";
import { batched, type Sized } from "../batched.ts";

/** The most entries of one PutEvents request (Amazon EventBridge User Guide, "Amazon EventBridge quotas"). */
const EVENTS_BATCH_MAX = 10;

/**
 * The largest request, in bytes: source, detail type and detail of its entries, as UTF-8 (Amazon EventBridge User Guide, "Calculating
 * PutEvents event entry size"). EventBridge takes 1 MB since January 2026; 256 KB is what every bus, stand-in and target takes.
 */
const EVENTS_SIZE_MAX_BYTES = 262_144;

/** How many requests are under way at once. */
const LANES = 4;

/** An event that did not get to the bus, or of which that is not known. */
class PublishError extends PunctualError {
  constructor(busName: string, happened: string, cause?: unknown) {
    super("Publish", `event bus ${busName} ${happened}`, { cause });
  }
}

/** What {@link createEventBus} needs. */
export interface EventBusOptions {
  readonly client: EventBridgeClient;
  readonly busName: string;
  /** The `source` of every event, by which rules pick them. */
  readonly source: string;
}

type Answer = Awaited<ReturnType<EventBus["publish"]>>[number];

interface Entry extends Sized {
  readonly index: number;
  readonly entry: PutEventsRequestEntry;
}

/** An EventBridge bus. Every announcement gets an answer of its own; publishing never throws. What failed may have been taken all the same. */
export function createEventBus({ client, busName, source }: EventBusOptions): EventBus {
  return {
    publish: async (announcements) => {
      const answers: Answer[] = new Array(announcements.length);
      const fitting: Entry[] = [];
      for (const [index, announcement] of announcements.entries()) {
        const entry = entryOf(announcement, index, busName, source);
        if (entry.bytes <= EVENTS_SIZE_MAX_BYTES) fitting.push(entry);
        else
          answers[index] = failed(
            new PublishError(busName, `takes at most ${EVENTS_SIZE_MAX_BYTES} bytes, got ${entry.bytes}`),
          );
      }
      await mapBounded(batched(fitting, EVENTS_BATCH_MAX, EVENTS_SIZE_MAX_BYTES), LANES, async (request) => {
        for (const [index, answer] of await put(client, busName, request)) answers[index] = answer;
      });
      return answers;
    },
  };
}

function entryOf({ detailType, detail }: Announcement, index: number, busName: string, source: string): Entry {
  const text = JSON.stringify(detail);
  return {
    index,
    bytes: Buffer.byteLength(source) + Buffer.byteLength(detailType) + Buffer.byteLength(text),
    entry: { EventBusName: busName, Source: source, DetailType: detailType, Detail: text },
  };
}

async function put(client: EventBridgeClient, busName: string, request: readonly Entry[]): Promise<[number, Answer][]> {
  try {
    const { Entries = [] } = await client.send(new PutEventsCommand({ Entries: request.map(({ entry }) => entry) }));
    return request.map(({ index }, position) => {
      const result = Entries[position];
      if (result?.EventId) return [index, { kind: "accepted" }];
      const { ErrorCode = "Unknown", ErrorMessage = "no word about the event" } = result ?? {};
      return [index, failed(new PublishError(busName, `refused the event: ${ErrorCode}: ${ErrorMessage}`))];
    });
  } catch (thrown) {
    const { name, message } = recordedError(thrown);
    const error = new PublishError(busName, `did not take the request: ${name}: ${message}`, thrown);
    return request.map(({ index }) => [index, failed(error)]);
  }
}

const failed = (error: Error): Answer => ({ kind: "failed", error });

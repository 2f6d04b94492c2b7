import * as z from "zod";
import type { Problem } from "./errors.ts";
import { toIso } from "./instant.ts";
import { OCCURRENCE_KINDS, type Occurrence } from "./occurrence.ts";
import { jsonValue, problemsOf } from "./validation.ts";

/** The version of the message contract: readers refuse what they do not know. */
export const MESSAGE_VERSION = 1;

/** What a message's body holds. Members that it does not name are let pass. */
export const messageSchema = z.object({
  version: z.literal(MESSAGE_VERSION, `must be ${MESSAGE_VERSION}`),
  occurrenceId: z.guid("must be a UUID").describe("the run's identity: the same on every attempt and redelivery"),
  scheduleId: z.string("must be text").min(1, "must not be empty"),
  firing: z.string("must be text").min(1, "must not be empty").describe("the nominal instant, or manual#<key>"),
  kind: z.enum(OCCURRENCE_KINDS, `must be one of ${OCCURRENCE_KINDS.join(", ")}`),
  scheduledFor: z.string("must be an ISO instant").describe("the nominal instant, in UTC"),
  job: z.string("must be text"),
  payload: jsonValue("must be a JSON value").describe("what the schedule carries: any JSON value"),
  attempt: z
    .int("must be a whole number")
    .nonnegative("must not be negative")
    .describe("which attempt this is, from 1"),
  maxAttempts: z.int("must be a whole number").positive("must be positive"),
  fencingToken: z
    .int("must be a whole number")
    .nonnegative("must not be negative")
    .describe("grows with every attempt: a store can refuse an older one"),
  timeoutSeconds: z.number("must be a number of seconds").positive("must be positive"),
  scheduleVersion: z.string("must be text").describe("the hash of the definition"),
  suspect: z
    .optional(z.boolean("must be true or false"))
    .describe("an earlier attempt took its process with it: run this one alone"),
  deadLetter: z
    .optional(z.boolean("must be true or false"))
    .describe("a dead letter's message: redriven into the main queue it is that dead letter's replay, once"),
});

/** The body of a message: enough to act on alone. */
export type OccurrenceMessage = z.infer<typeof messageSchema>;

/** The message that carries the attempt which `row` (as the claim left it) stands for. */
export function messageOf(row: Occurrence): OccurrenceMessage {
  return {
    version: MESSAGE_VERSION,
    occurrenceId: row.occurrenceId,
    scheduleId: row.scheduleId,
    firing: row.firing,
    kind: row.kind,
    scheduledFor: toIso(row.scheduledFor),
    job: row.job,
    payload: payloadOf(row),
    attempt: row.attempts,
    maxAttempts: row.maxAttempts,
    fencingToken: row.fencingToken,
    timeoutSeconds: row.timeoutSeconds,
    scheduleVersion: row.scheduleVersion,
    ...(row.suspect && { suspect: true }),
  };
}

/** A payload that somebody else made unreadable goes as the text it is: the job's attempt fails by it, and nobody else's. */
function payloadOf({ payload }: Pick<Occurrence, "payload">): OccurrenceMessage["payload"] {
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
}

/**
 * SQS refuses U+FFFE and U+FFFF (Amazon SQS API Reference, "SendMessage": #x9, #xA, #xD, #x20 to #xD7FF, #xE000 to #xFFFD,
 * #x10000 to #x10FFFF), which `JSON.stringify` writes raw; the local stand-in refuses everything above them too, as
 * surrogates. As escapes they mean the same.
 */
const REFUSED_BY_SQS = /[\uD800-\uDFFF\uFFFE\uFFFF]/g;

/** The body as text that SQS accepts. */
export const encodeMessage = (message: OccurrenceMessage): string =>
  JSON.stringify(message).replace(REFUSED_BY_SQS, (character) => `\\u${character.charCodeAt(0).toString(16)}`);

export type DecodedMessage =
  | { readonly kind: "message"; readonly message: OccurrenceMessage }
  | { readonly kind: "malformed"; readonly problems: readonly Problem[] };

/**
 * How deep a body may nest: a payload comes out of an attribute, which nests at most 32 levels (Amazon DynamoDB Developer
 * Guide, "Quotas: Nested attribute depth"), or from a caller. Checked before anything recurses into it.
 */
const NESTING_MAX_LEVELS = 100;

/** Reads a message's body, or says what is wrong with it. Members it does not know are ignored. */
export function decodeMessage(body: string): DecodedMessage {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    return { kind: "malformed", problems: [{ path: "", message: `must be JSON: ${String(error)}` }] };
  }
  if (nestsDeeperThan(value, NESTING_MAX_LEVELS))
    return { kind: "malformed", problems: [{ path: "", message: `must nest at most ${NESTING_MAX_LEVELS} levels` }] };
  const parsed = messageSchema.safeParse(value);
  return parsed.success
    ? { kind: "message", message: parsed.data }
    : { kind: "malformed", problems: problemsOf(parsed.error, value) };
}

/** Level by level, since a stranger's body may nest deeper than any stack. */
function nestsDeeperThan(value: unknown, levels: number): boolean {
  let level = [value];
  for (let depth = 0; depth <= levels && level.length > 0; depth += 1)
    level = level.flatMap((member) => (typeof member === "object" && member !== null ? Object.values(member) : []));
  return level.length > 0;
}

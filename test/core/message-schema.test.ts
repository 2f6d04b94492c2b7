import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { deadLetterMessage } from "../../lib/app/engine/announce.ts";
import { toIso } from "../../lib/core/instant.ts";
import { decodeMessage, encodeMessage, messageOf, messageSchema } from "../../lib/core/message.ts";
import { ROOT } from "../structure/source-files.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import { claimedRow, failureOf, LATER, runningRow, step } from "../support/transitions.ts";

const FILE = path.join(ROOT, "docs/message.schema.json");

/** The schema as readers get it. The payload is anything at all, which JSON Schema says by saying nothing. */
const published = () => ({
  title: "A message of Punctual",
  description: "The body of an SQS message that carries one attempt",
  ...z.toJSONSchema(messageSchema, { io: "input", unrepresentable: "any" }),
});

const validate = new Ajv2020({ formats: { uuid: true } }).compile(JSON.parse(readFileSync(FILE, "utf8")));
const agree = (body: string): boolean => {
  const [ours, theirs] = [decodeMessage(body).kind === "message", validate(JSON.parse(body))];
  expect(theirs, `${body}: ${JSON.stringify(validate.errors)}`).toBe(ours);
  return ours;
};

const message = messageOf(claimedRow());
const dead = step(runningRow(), failureOf(runningRow(), true), LATER);
const variants = {
  "a first attempt": encodeMessage(message),
  "a suspect": encodeMessage(messageOf(claimedRow({ suspect: true }))),
  "a manual run": encodeMessage(messageOf(claimedRow({ kind: "manual", firing: "manual#a" }))),
  "a dead letter": deadLetterMessage(dead).body,
  "one with a member of a later version": JSON.stringify({ ...message, later: true }),
  ...Object.fromEntries(
    [null, 0, "", false, [], { deep: [{ er: "\uFFFF" }] }].map((payload) => [
      `a payload ${JSON.stringify(payload)}`,
      encodeMessage(messageOf(claimedRow({ payload: JSON.stringify(payload) }))),
    ]),
  ),
};

describe("the published schema of messages", () => {
  // `npx vitest run --project unit test/core/message-schema.test.ts -u` writes it anew.
  it("is the one that the code reads by", async () => {
    await expect(`${JSON.stringify(published(), undefined, 2)}\n`).toMatchFileSnapshot(FILE);
  });

  it.each(Object.entries(variants))("takes what the code sends: %s", (_, body) => {
    expect(agree(body)).toBe(true);
  });

  it("refuses what the code refuses", () => {
    const wrong: Readonly<Record<string, unknown>>[] = [
      ...Object.keys(message).map((name) => ({ ...message, [name]: undefined })),
      ...Object.keys(message)
        .filter((name) => name !== "payload")
        .map((name) => ({ ...message, [name]: null })),
      { ...message, version: 2 },
      { ...message, occurrenceId: "no uuid" },
      { ...message, kind: "other" },
      { ...message, attempt: 1.5 },
      { ...message, fencingToken: -1 },
      { ...message, timeoutSeconds: 0 },
      { ...message, suspect: "yes" },
    ];
    expect(wrong.map((value) => agree(JSON.stringify(value)))).toEqual(wrong.map(() => false));
    expect(agree('"no object"')).toBe(false);
  });
});

describe("the page on messages", () => {
  const page = readFileSync(path.join(ROOT, "docs/messages.md"), "utf8");

  it("names every member of a body, and no other", () => {
    const [, table = ""] = /\| member \|.*?\n\n/s.exec(page)?.[0].split("|---|---|") ?? [];
    const named = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    expect(named).toEqual(Object.keys(messageSchema.shape));
  });

  it("shows a body that is one", () => {
    const [, body = ""] = /```json\n(.*?)```/s.exec(page) ?? [];
    expect(agree(body)).toBe(true);
    expect(Object.keys(JSON.parse(body))).toEqual(Object.keys(message));
    expect(JSON.parse(body)).toMatchObject({ occurrenceId: anOccurrence().occurrenceId, scheduledFor: toIso(NOON) });
  });

  it("names the attributes of a dead letter's message", () => {
    const named = [...page.matchAll(/^\| `(\w+)` \| attribute/gm)].map(([, name]) => name);
    expect(named).toEqual(Object.keys(deadLetterMessage(dead).attributes ?? {}));
  });
});

import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ScheduleItem } from "../../lib/app/ports.ts";
import { instant } from "../../lib/core/instant.ts";
import { PermanentError, RetryableError } from "../../lib/jobs/outcomes.ts";
import type { JobMap } from "../../lib/jobs/types.ts";
import { ENVIRONMENT_NAMES } from "../../lib/runtime/env.ts";
import { FUNCTION_NAMES } from "../../lib/runtime/names.ts";
import { templateOf } from "../construct/world.ts";
import { streamRecord } from "../functions/deployed-world.ts";
import { permissionsOf } from "../support/permissions/policies.ts";
import { newPermissionsWorld, type PermissionsWorld } from "../support/permissions/world.ts";

const SHARDS = 2;
const template = templateOf({ shards: SHARDS });

/** On a very busy machine: a server in Java, and then a scenario of some twenty waits. */
const SCENARIO_TIMEOUT_MS = 300_000;

/** Ends every run of the job `held`. */
const released = new AbortController();
const jobs: JobMap = {
  default: () => undefined,
  "fails-once": (_, { attempt }) => {
    if (attempt === 1) throw new RetryableError("not yet");
  },
  fails: () => {
    throw new Error("never");
  },
  refuses: () => {
    throw new PermanentError("not at all");
  },
  held: async (_, { signal }) => {
    const end = AbortSignal.any([signal, released.signal]);
    if (!end.aborted) await once(end, "abort");
  },
};

let world: PermissionsWorld;
beforeAll(async () => {
  // A deployment that grew: its dispatcher is the first to know of one shard more.
  const grown = { [ENVIRONMENT_NAMES.shards]: String(SHARDS + 1) };
  world = await newPermissionsWorld(template, jobs, { dispatcher: grown });
  await world.invoke("reconciler", { sweep: true });
  world.start();
  for (const part of [fire, edit, stopUnderway, overlap, complete, misfire, fail, notify, sweepAndRedrive, malformed])
    await part();
  await world.stop();
  await world.invoke("reconciler", { sweep: true });
}, SCENARIO_TIMEOUT_MS);
afterAll(() => world.close());

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** Has the reconciler see a schedule's item as it stands now, as its stream does. */
async function reconcile(scheduleId: string, writtenMs = Date.now()): Promise<void> {
  const [reading] = await world.schedules.read([scheduleId]);
  const item = reading?.kind === "found" ? reading.row : undefined;
  const record = streamRecord("1", { scheduleId }, item, instant(writtenMs));
  expect(await world.invoke("reconciler", { Records: [record] })).toEqual({ batchItemFailures: [] });
}

/** Has the reconciler hear of a schedule's run, as its other stream tells. */
async function settle(scheduleId: string): Promise<void> {
  const { rows } = await world.occurrences.history({ scheduleId, newestFirst: true, limit: 1 });
  const [row] = rows;
  const record = streamRecord("1", { scheduleId, firing: row?.firing }, row, instant(Date.now()));
  expect(await world.invoke("reconciler", { Records: [record] })).toEqual({ batchItemFailures: [] });
}

async function put(item: ScheduleItem, writtenMs?: number): Promise<void> {
  await world.schedules.put(item, "any");
  await reconcile(item.scheduleId, writtenMs);
}

const reports = async (scheduleId: string, status: string): Promise<void> =>
  world.calls.made("consumer", "dynamodb:PartiQLUpdate Occurrences", `"${scheduleId}"`, `"${status}"`);
const moves = async (scheduleId: string, ...how: string[]): Promise<void> =>
  world.calls.made("dispatcher", "dynamodb:PartiQLUpdate Occurrences", `"${scheduleId}"`, ...how);

async function fire(): Promise<void> {
  await put({ scheduleId: "once", at: inMs(0) });
  await put({ scheduleId: "ending", rate: "1 second", endAt: inMs(3_000) });
  await put({ scheduleId: "flaky", at: inMs(0), job: "fails-once", retry: { baseDelaySeconds: 0 } });
  await reports("once", "SUCCEEDED");
  await reports("flaky", "RETRYING");
  await reports("flaky", "SUCCEEDED");
  await reports("ending", "SUCCEEDED");
  await moves("ending", '"settles"');
  await settle("ending");
  await world.calls.made("reconciler", "dynamodb:UpdateItem Schedules", '"ending"', "ENDED");
}

async function edit(): Promise<void> {
  await put({ scheduleId: "yearly", cron: "0 0 1 1 *" });
  await put({ scheduleId: "yearly", cron: "0 0 2 1 *" });
  await world.schedules.pause("yearly", { at: instant(Date.now()) });
  await reconcile("yearly");
  await world.schedules.resume("yearly", instant(Date.now()));
  await reconcile("yearly");
  await world.schedules.remove("yearly");
  await reconcile("yearly");
  await world.calls.made("reconciler", "dynamodb:DeleteItem Occurrences", '"yearly"');
}

/** The dispatcher meets a pause and a reconciler a deletion while runs are under way. */
async function stopUnderway(): Promise<void> {
  await put({ scheduleId: "halted", rate: "3 seconds" });
  await reports("halted", "SUCCEEDED");
  await world.schedules.pause("halted", { at: instant(Date.now()) });
  await moves("halted", '"SKIPPED"', '"paused"');
  await settle("halted");
  await world.calls.made("reconciler", "dynamodb:DeleteItem Occurrences", '"halted"');

  const retry = { baseDelaySeconds: 300, jitter: false };
  await put({ scheduleId: "patient", at: inMs(0), job: "fails", retry });
  await reports("patient", "RETRYING");
  await world.schedules.remove("patient");
  await reconcile("patient");
  await world.calls.made("reconciler", "dynamodb:PartiQLUpdate Occurrences", '"patient"', '"CANCELLED"');
}

async function overlap(): Promise<void> {
  for (const policy of ["skip", "wait", "replace"])
    await put({ scheduleId: policy, rate: "1 second", overlap: policy, job: "held", misfire: { policy: "all" } });
  // Where the order is kept, it sees first that no missed firing stands before.
  await world.calls.made("dispatcher", "dynamodb:Query Occurrences", '"wait"');
  await moves("skip", '"SKIPPED"', '"overlap"');
  await moves("wait", 'SET "dueAt" = ? WHERE');
  await moves("replace", '"CANCELLED"');
}

/** One schedule is over when its last firing is passed over, another when its last run has ended. */
async function complete(): Promise<void> {
  const over = { endAt: inMs(-300_000), misfire: { policy: "skip" }, deleteAfterCompletion: true };
  await put({ scheduleId: "missed-its-end", rate: "1 minute", ...over }, Date.now() - 600_000);
  await moves("missed-its-end", '"SKIPPED"', '"misfire"');
  await settle("missed-its-end");
  await world.calls.made("reconciler", "dynamodb:DeleteItem Schedules", '"missed-its-end"');

  await put({ scheduleId: "last", at: inMs(0), job: "held", deleteAfterCompletion: true });
  await moves("last", '"DISPATCHED"');
  await settle("last");
  await endHeldRuns();
  await reports("last", "SUCCEEDED");
  await settle("last");
  await world.calls.made("reconciler", "dynamodb:DeleteItem Schedules", '"last"');
}

/** Whoever waits for the end of one is brought forward. */
async function endHeldRuns(): Promise<void> {
  released.abort();
  await world.calls.made("consumer", "dynamodb:Query Occurrences", '"wait"');
  for (const policy of ["skip", "wait", "replace"]) {
    await world.schedules.remove(policy);
    await reconcile(policy);
  }
}

async function misfire(): Promise<void> {
  await put({ scheduleId: "missed", rate: "1 minute", misfire: { policy: "all" } }, Date.now() - 600_000);
  await world.calls.made("dispatcher", "dynamodb:PartiQLInsert Occurrences", '"missed"', '"backfill"');
  await reports("missed", "SUCCEEDED");
}

async function fail(): Promise<void> {
  await put({ scheduleId: "doomed", at: inMs(0), job: "fails", retry: { maxAttempts: 1 }, pauseAfterDeadLetters: 1 });
  await put({ scheduleId: "wrong", at: inMs(0), job: "refuses", pauseAfterDeadLetters: 1 });
  await reports("doomed", "DEAD_LETTERED");
  await reports("wrong", "FAILED");
}

/** The notifier hears of a dead letter, which is one too many, and not what became of the receipt it writes. */
async function notify(): Promise<void> {
  const { rows } = await world.occurrences.history({ scheduleId: "wrong", newestFirst: true, limit: 1 });
  const [row] = rows;
  const key = { scheduleId: row?.scheduleId, firing: row?.firing };
  // Both tries of the SDK.
  world.calls.loseAnswers("notifier", "dynamodb", "BatchExecuteStatement", 2);
  const answer = await world.invoke("notifier", { Records: [streamRecord("1", key, row, instant(Date.now()))] });
  expect(answer).toEqual({ batchItemFailures: [] });
  await world.calls.made("notifier", "dynamodb:UpdateItem Schedules", '"wrong"');
}

/** An operator moves a dead letter's message back to the queue of runs. */
async function sweepAndRedrive(): Promise<void> {
  await world.invoke("reconciler", { sweep: true });
  await world.calls.made("reconciler", "sqs:SendMessage DeadLetterQueue", "doomed");
  await world.send(await world.deadLetter("doomed"));
  await reports("doomed", "PENDING");
}

async function malformed(): Promise<void> {
  await world.send("no message of ours");
  await world.calls.made("consumer", "sqs:SendMessage DeadLetterQueue", "no message of ours");
}

/**
 * What Lambda itself does with a function's role: it reads streams and queues, and puts the metadata of records that the
 * function could not take into a queue (AWS Lambda Developer Guide, "Using Lambda with Amazon SQS", "... with DynamoDB",
 * execution role permissions). Logs are written by the runtime.
 */
const LAMBDAS_OWN = [
  /^logs:/,
  /^dynamodb:(DescribeStream|GetRecords|GetShardIterator|ListStreams) \w+\.StreamArn$/,
  /^sqs:(ChangeMessageVisibility|DeleteMessage|GetQueueAttributes|GetQueueUrl|ReceiveMessage) Queue$/,
  /^sqs:(GetQueueAttributes|GetQueueUrl|SendMessage) StreamFailures$/,
];

describe.each(FUNCTION_NAMES)("the %s's role", (name) => {
  const allowed = permissionsOf(template, `${name.charAt(0).toUpperCase()}${name.slice(1)}`);

  it("allows every call that the function makes", () => {
    expect(world.calls.needed(name).filter((permission) => !allowed.includes(permission))).toEqual([]);
  });

  it("allows nothing that neither the function nor Lambda needs", () => {
    const own = allowed.filter((permission) => !LAMBDAS_OWN.some((pattern) => pattern.test(permission)));
    expect(own.filter((permission) => !world.calls.needed(name).includes(permission))).toEqual([]);
  });
});

it("plays its scenario without a function that fails", () => {
  expect(world.problems).toEqual([]);
});

import { ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import type { Template } from "aws-cdk-lib/assertions";
import { createOccurrenceStore } from "../../../lib/adapters/dynamodb/occurrences.ts";
import { createScheduleStore } from "../../../lib/adapters/dynamodb/schedules.ts";
import type { OccurrenceStore, ScheduleStore } from "../../../lib/app/ports.ts";
import { createConsumer } from "../../../lib/jobs/create-consumer.ts";
import type { JobMap } from "../../../lib/jobs/types.ts";
import { createClosing } from "../../../lib/local/closing.ts";
import { createLocalClients, LOCAL_REGION } from "../../../lib/local/engines/clients.ts";
import { startEngines } from "../../../lib/local/engines/start.ts";
import { memoryCheckpoints } from "../../../lib/local/event-sources/checkpoints.ts";
import { createInvocable, type Handler } from "../../../lib/local/event-sources/lambda.ts";
import { describeProblem } from "../../../lib/local/event-sources/report.ts";
import { startEventSources } from "../../../lib/local/event-sources/start.ts";
import { functionNameOf, handlerOf } from "../../../lib/local/functions.ts";
import type { Running } from "../../../lib/local/running.ts";
import { parseTemplate } from "../../../lib/local/template/document.ts";
import type { LocalFunction } from "../../../lib/local/template/functions.ts";
import { type LocalStack, provision } from "../../../lib/local/template/stack.ts";
import { readEnvironment, type Settings } from "../../../lib/runtime/env.ts";
import { FUNCTION_NAMES, type FunctionName } from "../../../lib/runtime/names.ts";
import { type CallRecord, createCallRecord } from "./record.ts";

/** The four functions of a synthesized template on stand-ins, and every call that each of them makes. */
export interface PermissionsWorld {
  readonly settings: Settings;
  readonly calls: CallRecord;
  /** The tables past all records. */
  readonly schedules: ScheduleStore;
  readonly occurrences: OccurrenceStore;
  /** Runs one invocation. */
  invoke(name: FunctionName, event: unknown): Promise<unknown>;
  /** Ticks the dispatcher and feeds the consumer from its queue, until {@link stop}; streams and the sweep are the test's. */
  start(): void;
  /** Ends what runs; resolves once it is done with what it had in hand. */
  stop(): Promise<void>;
  /** Sends a message to the queue of runs, as an operator does in the console. */
  send(body: string): Promise<void>;
  /** The next message of the dead-letter queue that holds `text`. */
  deadLetter(text: string): Promise<string>;
  /** What went wrong around the functions. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

/** A receive of the dead-letter queue waits this long at a time. */
const RECEIVE_WAIT_SECONDS = 5;

/** Brings `template` to life with `jobs`; a function's environment is the template's but for what `environments` say. */
export async function newPermissionsWorld(
  template: Template,
  jobs: JobMap,
  environments: Partial<Record<FunctionName, Readonly<Record<string, string>>>> = {},
): Promise<PermissionsWorld> {
  const closing = createClosing();
  const engines = await startEngines({ dynamodbPort: 0, sqsPort: 0, onBusEvent: () => {} }, closing);
  const clients = createLocalClients({ dynamodb: engines.dynamodb.endpoint, sqs: engines.sqs.endpoint });
  closing.add(() => clients.destroy());
  const stack = await provision(parseTemplate(template.toJSON()), clients);
  const settings = readEnvironment({ ...functionIn(stack, "dispatcher").environment });
  const calls = await createCallRecord(engines, stack, closing);

  const makeHandler = (definition: LocalFunction): Handler => {
    const name = functionNameOf(definition);
    const env = { ...definition.environment, ...environments[name] };
    const overrides = {
      logger: calls.loggerOf(name),
      metrics: { count: () => {}, record: () => {}, gauge: () => {}, flush: () => {} },
      clients: {
        region: LOCAL_REGION,
        credentials: { accessKeyId: name, secretAccessKey: "local" },
        ...calls.endpointsOf(name),
      },
    };
    return handlerOf(name, env, overrides, () => ({ invoke: createConsumer(jobs, { ...overrides, env }) }));
  };
  const { signal } = new AbortController();
  const invocables = new Map(
    FUNCTION_NAMES.map((name) => {
      const definition = functionIn(stack, name);
      return [name, createInvocable(definition, () => makeHandler(definition), signal)];
    }),
  );
  const problems: string[] = [];
  let running: Running | undefined;
  const stop = async () => {
    await running?.stop();
  };
  closing.add(stop);
  const store = { client: clients.dynamodb, logger: calls.loggerOf("reconciler"), ...settings };
  return {
    settings,
    calls,
    schedules: createScheduleStore(store),
    occurrences: createOccurrenceStore(store),
    invoke: async (name, event) => invocables.get(name)?.invoke(event),
    start: () => {
      running = startEventSources(pushed(stack), {
        clients,
        checkpoints: memoryCheckpoints(),
        resolveFunction: makeHandler,
        report: (problem) => problems.push(describeProblem(problem)),
        signal,
      });
    },
    stop,
    send: async (MessageBody) => {
      const id = `operator-${performance.now()}`;
      const to = { QueueUrl: settings.queues["default"]?.url, MessageGroupId: id, MessageDeduplicationId: id };
      await clients.sqs.send(new SendMessageCommand({ ...to, MessageBody }));
    },
    deadLetter: async (text) => {
      const from = { QueueUrl: settings.deadLetterQueueUrl, WaitTimeSeconds: RECEIVE_WAIT_SECONDS };
      for (;;) {
        const { Messages = [] } = await clients.sqs.send(new ReceiveMessageCommand(from));
        for (const { Body = "" } of Messages) if (Body.includes(text)) return Body;
      }
    },
    problems,
    close: closing.close,
  };
}

function functionIn({ functions }: LocalStack, name: FunctionName): LocalFunction {
  const found = functions.find((each) => functionNameOf(each) === name);
  if (found === undefined) throw new Error(`the template must hold a ${name}, got none`);
  return found;
}

/** The stack with what feeds dispatcher and consumer alone. */
function pushed(stack: LocalStack): LocalStack {
  const { logicalId } = functionIn(stack, "dispatcher");
  return {
    ...stack,
    eventSources: stack.eventSources.filter(({ kind }) => kind === "queue"),
    rules: stack.rules.filter(({ targets }) => targets.some(({ functionId }) => functionId === logicalId)),
  };
}

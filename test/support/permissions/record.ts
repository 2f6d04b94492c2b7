import { setTimeout as after } from "node:timers/promises";
import type { Logger } from "../../../lib/app/ports.ts";
import type { Closing } from "../../../lib/local/closing.ts";
import type { Engines } from "../../../lib/local/engines/start.ts";
import type { LocalStack } from "../../../lib/local/template/stack.ts";
import type { Overrides } from "../../../lib/runtime/create-engine.ts";
import { FUNCTION_NAMES, type FunctionName } from "../../../lib/runtime/names.ts";
import { Journal } from "../faults/journal.ts";
import { type Exchange, type FaultProxy, startFaultProxy } from "../faults/proxy.ts";
import { callsOf, type Service } from "./calls.ts";
import { busResource, withoutHash } from "./policies.ts";

/** Every call that functions make: each has proxies of its own before the services, so that it is known whose a call is. */
export interface CallRecord {
  /** Where a function finds the services. */
  endpointsOf(name: FunctionName): NonNullable<Overrides["clients"]>;
  /** A logger whose warnings and errors are told where a wait fails. */
  loggerOf(name: FunctionName): Logger;
  /** Resolves once the function has made the call, `sqs:SendMessage Queue`, with all of `mentions`; past calls count. */
  made(name: FunctionName, permission: string, ...mentions: string[]): Promise<void>;
  /** What a function needed to be allowed so far, each once, sorted. */
  needed(name: FunctionName): readonly string[];
  /** The next `times` answers to an operation of a function are lost on their way back. */
  loseAnswers(name: FunctionName, service: Service, operation: string, times: number): void;
}

/** The longest that anything awaited here takes on a very busy machine. */
const WAIT_MAX_MS = 90_000;
/** The newest lines of the log that a failed wait tells. */
const LINES_TOLD = 12;

/** A call as policies allow it. */
interface MadeCall {
  readonly permission: string;
  readonly text: string;
}

const SERVICES = ["dynamodb", "sqs", "events"] as const satisfies readonly Service[];

/** Puts a proxy between each function and each of `engines`; `closing` ends them. */
export async function createCallRecord(engines: Engines, stack: LocalStack, closing: Closing): Promise<CallRecord> {
  const targets = { dynamodb: engines.dynamodb, sqs: engines.sqs, events: engines.eventbridge };
  const proxies = new Map<string, FaultProxy>();
  for (const name of FUNCTION_NAMES)
    for (const service of SERVICES) {
      const proxy = await startFaultProxy(targets[service].endpoint);
      closing.add(() => proxy.close());
      proxies.set(`${name} ${service}`, proxy);
    }
  const proxyOf = (name: FunctionName, service: Service): FaultProxy => {
    const proxy = proxies.get(`${name} ${service}`);
    if (proxy === undefined) throw new Error(`no proxy between ${name} and ${service}`);
    return proxy;
  };
  const short = shortNames(stack);
  // Each request is read once: a wait looks through all of them after every new one.
  const read = new WeakMap<Exchange, readonly MadeCall[]>();
  const callsIn = (service: Service, exchange: Exchange): readonly MadeCall[] => {
    const known = read.get(exchange);
    if (known) return known;
    const calls = callsOf(service, exchange).map(({ action, resource, text }) => ({
      permission: `${action} ${short(resource, service)}`,
      text,
    }));
    read.set(exchange, calls);
    return calls;
  };
  const madeBy = (name: FunctionName, service: Service): readonly MadeCall[] =>
    proxyOf(name, service).exchanges.entries.flatMap((exchange) => callsIn(service, exchange));
  const log = new Journal<string>();
  return {
    endpointsOf: (name) => ({
      dynamodbEndpoint: proxyOf(name, "dynamodb").endpoint,
      sqsEndpoint: proxyOf(name, "sqs").endpoint,
      eventbridgeEndpoint: proxyOf(name, "events").endpoint,
    }),
    loggerOf: (name) => {
      const tell = (message: string, fields = {}) => log.add(`${name}: ${message} ${JSON.stringify(fields)}`);
      return { debug: () => {}, info: () => {}, warn: tell, error: tell };
    },
    made: async (name, permission, ...mentions) => {
      const service = SERVICES.find((each) => permission.startsWith(`${each}:`));
      if (service === undefined) throw new Error(`permission must begin with a service, got ${permission}`);
      const isThere = () =>
        madeBy(name, service).some(
          (call) => call.permission === permission && mentions.every((word) => call.text.includes(word)),
        ) || undefined;
      const waiting = new AbortController();
      const inTime = await Promise.race([
        proxyOf(name, service).exchanges.until(isThere),
        after(WAIT_MAX_MS, false, { signal: waiting.signal }),
      ]);
      waiting.abort();
      if (inTime) return;
      const what = [name, permission, ...mentions].join(" ");
      throw new Error(`waited ${WAIT_MAX_MS} ms for ${what}; ${log.entries.slice(-LINES_TOLD).join("\n")}`);
    },
    needed: (name) =>
      [...new Set(SERVICES.flatMap((service) => madeBy(name, service).map(({ permission }) => permission)))].toSorted(),
    loseAnswers: (name, service, operation, times) =>
      proxyOf(name, service).intercept(
        { operation },
        async (_, forward) => {
          await forward();
          return "lost";
        },
        times,
      ),
  };
}

/** Says of the resource of a call what the template calls it, as its policies do. */
function shortNames({ tables, queues }: LocalStack): (resource: string, service: Service) => string {
  const names = new Map([
    ...tables.map(({ name, logicalId }) => [name, withoutHash(logicalId)] as const),
    ...queues.map(({ url, logicalId }) => [url, withoutHash(logicalId)] as const),
  ]);
  return (resource, service) => {
    if (service === "events") return busResource(resource);
    const [table = "", ...index] = service === "dynamodb" ? resource.split("/") : [resource];
    return [names.get(table) ?? table, ...index].join("/");
  };
}

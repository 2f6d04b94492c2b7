import type { LocalClients } from "../engines/clients.ts";
import type { Running } from "../running.ts";
import type { LocalFunction } from "../template/functions.ts";
import type { LocalStack } from "../template/stack.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { createInvocable, type Handler, type Invocable } from "./lambda.ts";
import { pollQueue } from "./queue-poller.ts";
import type { Report } from "./report.ts";
import { tickRule } from "./rule-ticker.ts";
import { pollStream } from "./stream-poller.ts";

/** Makes a handler of one of the template's functions: what Lambda does at a cold start. `stopping` aborts when no time is left. */
export type ResolveFunction = (definition: LocalFunction, stopping: AbortSignal) => Handler | Promise<Handler>;

/** What the event sources of a stack work with. */
export interface EventSourceOptions {
  readonly clients: LocalClients;
  readonly checkpoints: Checkpoints;
  readonly resolveFunction: ResolveFunction;
  readonly report: Report;
  readonly signal: AbortSignal;
}

/** The event sources of a stack. */
export interface EventSourcesRunning extends Running {
  /** Resolves once every stream has been read for the first time. */
  readonly ready: Promise<void>;
}

/** Sets every event source and rule of `stack` going; rules last, so that whatever they cause finds its readers. */
export function startEventSources(stack: LocalStack, options: EventSourceOptions): EventSourcesRunning {
  const { clients, checkpoints, report } = options;
  const stopping = new AbortController();
  const signal = AbortSignal.any([options.signal, stopping.signal]);
  const invocables = new Map(
    stack.functions.map((each) => [
      each.logicalId,
      createInvocable(each, () => options.resolveFunction(each, signal), signal),
    ]),
  );
  const targetOf = (functionId: string): Invocable => {
    const target = invocables.get(functionId);
    if (!target) throw new TypeError(`no function ${functionId} in this template`);
    return target;
  };
  const running = [
    ...stack.eventSources.map((source) => {
      const target = targetOf(source.functionId);
      switch (source.kind) {
        case "queue":
          return pollQueue(source, target, clients.sqs, report, signal);
        case "stream":
          return pollStream(source, target, clients, checkpoints, report, signal);
        default:
          return source satisfies never;
      }
    }),
    ...stack.rules.map((rule) => tickRule(rule, targetOf, report, signal)),
  ];
  return {
    ready: Promise.all(running.map((each) => ("ready" in each ? each.ready : undefined))).then(() => {}),
    stop: async () => {
      stopping.abort();
      await Promise.all(running.map((each) => each.stop()));
      await checkpoints.flush();
    },
  };
}

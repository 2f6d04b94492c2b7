import { LOCAL_ENGINE } from "../../core/local-engine.ts";

/** A service that stands in for AWS on this machine. */
export interface Engine {
  /** `http://127.0.0.1:8000`: what SDK clients and the AWS CLI take as endpoint. */
  readonly endpoint: string;
  /** What it is, for people: `DynamoDB Local 1.25 (Java 17)`. */
  readonly description: string;
  /** Resolves when it has ended, whether it was closed or fell over, with what happened; absent where it lives in this process or elsewhere. */
  readonly ended?: Promise<string>;
  /** Ends it and frees its port. May be called more than once. */
  close(): Promise<void>;
}

/** The host everything local listens on and connects to. */
export const LOOPBACK = LOCAL_ENGINE.host;

/** An engine that somebody else runs at `endpoint`: used, never stopped. */
export const runningEngine = (endpoint: string, description: string): Engine => ({
  endpoint,
  description: `${description}, already running`,
  close: async () => {},
});

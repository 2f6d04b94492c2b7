import type { RecordedError } from "../core/occurrence.ts";

/** A call of a function that is waited for. */
export interface FunctionCall {
  readonly functionArn: string;
  /** JSON text. */
  readonly payload: string;
  /** What the function is told beside its payload. */
  readonly custom: Readonly<Record<string, string>>;
  /** Ends the wait; the function goes on. */
  readonly signal: AbortSignal;
}

/** What became of a call. */
export type InvokeVerdict =
  | { readonly kind: "returned"; readonly value: unknown }
  /** The function ran and failed. */
  | { readonly kind: "failed"; readonly error: RecordedError }
  /** Nobody knows whether it ran: no answer came, or one that does not tell. */
  | { readonly kind: "unanswered"; readonly error: Error }
  /** It was not run; `permanent`: the same call can never be taken. */
  | {
      readonly kind: "refused";
      readonly permanent: boolean;
      readonly error: Error;
      readonly retryAfterSeconds?: number;
    };

/** Functions that jobs call. */
export interface FunctionInvoker {
  invoke(call: FunctionCall): Promise<InvokeVerdict>;
}

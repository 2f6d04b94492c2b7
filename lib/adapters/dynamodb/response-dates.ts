import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import type { Host } from "../../app/ports.ts";
import type { ClockSample } from "./store-clock.ts";

const dated = z.object({ headers: z.object({ date: z.string() }) });

/**
 * Calls `listener` with the `Date` header (RFC 9110, section 6.6.1) of every HTTP response that `client` gets, of errors and
 * of retried tries too. The step `deserialize` at low priority is the innermost place: between sending and receiving there
 * lies nothing but the exchange itself. Must be called before the client's first request.
 */
export function observeDates(
  client: DynamoDBClient,
  host: Pick<Host, "monotonicMs" | "wallMs">,
  listener: (sample: ClockSample) => void,
): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const sentMs = host.monotonicMs();
      const sentWallMs = host.wallMs();
      const result = await next(args);
      const receivedMs = host.monotonicMs();
      const wallElapsedMs = host.wallMs() - sentWallMs;
      const response = dated.safeParse(result.response);
      const dateMs = response.success ? Date.parse(response.data.headers.date) : Number.NaN;
      if (!Number.isNaN(dateMs)) listener({ sentMs, receivedMs, wallElapsedMs, dateMs });
      return result;
    },
    { step: "deserialize", priority: "low", name: "punctualResponseDates" },
  );
}

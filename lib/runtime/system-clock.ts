import type { Clock } from "../app/ports.ts";
import { instant } from "../core/instant.ts";
import { pause } from "./pause.ts";

/** This host's own clock, for tools that only display: what is due, and whose lease runs, is the store's clock to say. */
export function systemClock(): Clock {
  const now = () => instant(Date.now());
  return {
    now,
    async sleepUntil(at, signal) {
      while (!signal?.aborted && now() < at) await pause(at - now(), signal);
    },
  };
}

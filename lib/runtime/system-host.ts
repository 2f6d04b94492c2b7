import type { Host } from "../app/ports.ts";
import { pause } from "./pause.ts";

/** This process's own clocks and timers. */
export const systemHost: Host = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => pause(ms, signal),
};

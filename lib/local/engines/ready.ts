import { get } from "node:http";
import { pause } from "../../runtime/pause.ts";

const PROBE_PAUSE_MS = 25;

/** Resolves to true once `endpoint` answers HTTP with whatever status, to false when `signal` aborts first. */
export async function answersHttp(endpoint: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    if (await probe(endpoint)) return true;
    await pause(PROBE_PAUSE_MS, signal);
  }
  return false;
}

function probe(endpoint: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(endpoint, { timeout: 1_000, agent: false }, (response) => {
      response.resume();
      resolve(true);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
  });
}

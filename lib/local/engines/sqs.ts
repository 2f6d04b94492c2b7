import { buildApp } from "fauxqs";
import { type Engine, LOOPBACK } from "./engine.ts";
import { portError } from "./ports.ts";

/**
 * Starts the SQS stand-in in this process, on `port` or a free one, on loopback; its messages live in memory.
 * Throws a `LocalEngineError` when the port is taken.
 */
export async function startSqs(options: { port?: number | undefined } = {}): Promise<Engine> {
  // Its own `startFauxqs` listens on every interface.
  const app = buildApp({ logger: false });
  try {
    const endpoint = await app.listen({ port: options.port ?? 0, host: LOOPBACK });
    return { endpoint, description: "fauxqs (SQS, in this process)", close: () => app.close() };
  } catch (error) {
    await app.close();
    throw portError(error, options.port, "--sqs-port");
  }
}

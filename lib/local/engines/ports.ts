import { once } from "node:events";
import { createServer } from "node:net";
import { isNamed, LocalEngineError } from "../errors.ts";
import { LOOPBACK } from "./engine.ts";

/**
 * The port to listen on: `port` if it is free, or a free one of the system's choice for `undefined`.
 * Throws {@link LocalEngineError} when the port is taken or may not be used; `option` is the flag that sets it.
 */
export async function claimPort(port: number | undefined, option: string): Promise<number> {
  const server = createServer();
  server.listen(port ?? 0, LOOPBACK);
  try {
    await once(server, "listening");
  } catch (error) {
    throw portError(error, port, option);
  }
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new TypeError(`a TCP server has no port: ${address}`);
  return address.port;
}

/** Turns a failure to listen on `port` into one line; anything else comes back as it is. */
export function portError(error: unknown, port: number | undefined, option: string): unknown {
  if (isNamed(error, "EADDRINUSE"))
    return new LocalEngineError(`port ${port} is in use: end what listens there, or choose another with ${option}`, {
      cause: error,
    });
  if (isNamed(error, "EACCES"))
    return new LocalEngineError(`port ${port} needs more rights than this user has: choose another with ${option}`, {
      cause: error,
    });
  return error;
}

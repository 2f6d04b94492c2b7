import type { Engine } from "../../../lib/app/engine/engine.ts";

/** A process that stops for good. */
export class Crash extends Error {
  override readonly name = "Crash";
}

/** The calls by which a dispatcher or reconciler changes the world. */
const WRITES = ["insert", "write", "passGates", "removeHead", "send", "setStatus"] as const;
type Write = (typeof WRITES)[number];

const isWrite = (name: PropertyKey): name is Write => WRITES.some((write) => write === name);

/** `engine` with every call that changes something going through `around`, in the order of the calls. */
export function withWrites(
  engine: Engine,
  around: <Result>(write: Write, call: () => Promise<Result>) => Promise<Result>,
): Engine {
  const wrapped = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function" || !isWrite(name)) return member;
        return (...parameters: unknown[]) => around(name, async () => Reflect.apply(member, target, parameters));
      },
    });
  return {
    ...engine,
    occurrences: wrapped(engine.occurrences),
    schedules: wrapped(engine.schedules),
    queue: wrapped(engine.queue),
  };
}

/** An engine whose process stops at its `n`th write (from 1), just before it or just after. `writes` counts them. */
export function stoppingAt(
  engine: Engine,
  n: number,
  when: "before" | "after",
): { engine: Engine; writes: () => number } {
  let writes = 0;
  const stopping = withWrites(engine, async (_, call) => {
    writes += 1;
    if (writes > n) throw new Crash();
    if (writes === n && when === "before") throw new Crash();
    const result = await call();
    if (writes === n) throw new Crash();
    return result;
  });
  return { engine: stopping, writes: () => writes };
}

/** An engine that is held up just before its `n`th write until `go` is called, as a process that was frozen there. */
export function frozenAt(engine: Engine, n: number): { engine: Engine; frozen: () => boolean; go: () => void } {
  let writes = 0;
  let frozen = false;
  let go: () => void = () => undefined;
  const thawed = new Promise<void>((resolve) => {
    go = resolve;
  });
  const freezing = withWrites(engine, async (_, call) => {
    writes += 1;
    if (writes === n) {
      frozen = true;
      await thawed;
      frozen = false;
    }
    return call();
  });
  return { engine: freezing, frozen: () => frozen, go };
}

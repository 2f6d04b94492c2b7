import { setImmediate as turn } from "node:timers/promises";
import type { Engine } from "../../../lib/app/engine/engine.ts";
import { Crash, frozenAt, stoppingAt } from "./faults.ts";
import type { Stage } from "./stage.ts";

/** Turns of the event loop after which a look that has not come to its `n`th write has none. */
const TURNS_MAX = 50;

/** Looks with an engine of the test's own until it finds nothing, or stops. */
async function lookUntilStopped(stage: Stage, engine: Engine): Promise<"stopped" | "done"> {
  try {
    while ((await stage.look(engine)) > 0) await turn();
    return "done";
  } catch (error) {
    if (error instanceof Crash) return "stopped";
    throw error;
  }
}

/** Plays a stage of `setUp` on by `goOn` after a look that stopped at a write: once for each write. Answers how many there were. */
export async function stoppedAtEachWrite(
  when: "before" | "after",
  setUp: () => Promise<Stage>,
  goOn: (stage: Stage) => Promise<void>,
): Promise<number> {
  for (let n = 1; ; n += 1) {
    const stage = await setUp();
    if ((await lookUntilStopped(stage, stoppingAt(stage.world.engine, n, when).engine)) === "done") return n - 1;
    await goOn(stage);
  }
}

/** A dispatcher that is held up just before a write. `thaw`: has it carry on, to the end of its look. */
export interface FrozenLook {
  readonly stage: Stage;
  readonly thaw: () => Promise<void>;
}

/** Has a dispatcher look at `stage` until just before its `n`th write; nothing where it has none, and the look is over. */
export async function lookFrozenAt(stage: Stage, n: number): Promise<FrozenLook | undefined> {
  const slow = frozenAt(stage.world.engine, n);
  const look = lookUntilStopped(stage, slow.engine);
  for (let turns = 0; turns < TURNS_MAX && !slow.frozen(); turns += 1) await turn();
  if (!slow.frozen()) {
    await look;
    return undefined;
  }
  const thaw = async () => {
    slow.go();
    await look;
  };
  return { stage, thaw };
}

/** Plays a stage of `setUp` on by `goOn` beside a look that is held up before a write: once for each write. Answers how many there were. */
export async function frozenAtEachWrite(
  setUp: () => Promise<Stage>,
  goOn: (look: FrozenLook) => Promise<void>,
): Promise<number> {
  for (let n = 1; ; n += 1) {
    const look = await lookFrozenAt(await setUp(), n);
    if (look === undefined) return n - 1;
    await goOn(look);
  }
}

import { parseArgs } from "node:util";
import { errorMessage } from "../../lib/core/errors.ts";
import type { Simulation } from "./simulation.ts";

const DEFAULT_SEEDS = 100;
const DEFAULT_MINUTES = 45;
const PROGRESS_EVERY_MS = 5_000;

/** Where it writes, and the simulation that it runs. */
export interface SimulateWorld {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly load: () => Promise<Simulation>;
}

/**
 * `--seeds N [--seed S] [--minutes M]`: runs worlds until one breaks an invariant, which it tells with the timeline (exit code 1), or
 * all held (0). Throws `RangeError` where a number is none.
 */
export async function simulate(argv: readonly string[], { stdout, stderr, load }: SimulateWorld): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: { seeds: { type: "string" }, seed: { type: "string" }, minutes: { type: "string" } },
  });
  const first = whole("seed", values.seed, 1);
  const count = whole("seeds", values.seeds, values.seed === undefined ? DEFAULT_SEEDS : 1);
  const minutes = whole("minutes", values.minutes, DEFAULT_MINUTES);
  const { runSeed } = await load();
  const before = process.cpuUsage();
  const total = { hours: 0, io: 0, faults: new Map<string, number>() };
  let shownAt = performance.now();
  for (let seed = first; seed < first + count; seed += 1) {
    const outcome = await runSeed(seed, minutes).catch((cause: unknown) => {
      throw new Error(`the world of seed ${seed} could not be played to its end: ${errorMessage(cause)}`, { cause });
    });
    total.hours += outcome.simulatedMs / 3_600_000;
    total.io += outcome.io;
    for (const [kind, times] of outcome.faults) total.faults.set(kind, (total.faults.get(kind) ?? 0) + times);
    if (outcome.report !== undefined) {
      stdout(`${outcome.report}\nagain: npm run simulate -- --seed ${seed} --minutes ${minutes}\n`);
      return 1;
    }
    if (performance.now() - shownAt < PROGRESS_EVERY_MS) continue;
    shownAt = performance.now();
    stderr(`${seed - first + 1} of ${count} seeds, ${Math.round(total.hours)} simulated hours\n`);
  }
  const { user, system } = process.cpuUsage(before);
  const cpuMinutes = (user + system) / 60e6;
  const faults = [...total.faults.values()].reduce((sum, times) => sum + times, 0);
  const kinds = [...total.faults].map(([kind, times]) => `${kind} ${times}`).join(", ");
  stdout(
    `${count} seeds, ${Math.round(total.hours)} simulated hours, ${total.io} exchanges, ${faults} faults (${kinds}); ` +
      `per CPU-minute ${Math.round(total.hours / cpuMinutes)} hours and ${Math.round(faults / cpuMinutes)} faults\n`,
  );
  return 0;
}

function whole(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new RangeError(`--${name} must be a whole number, got ${text}`);
}

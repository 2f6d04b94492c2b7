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

const USAGE = `npm run simulate -- [--seeds N] [--seed S] [--minutes M]
  --seeds    how many worlds: ${DEFAULT_SEEDS} by default, one where --seed is given
  --seed     the first seed: 1 by default
  --minutes  how long each world's troubles last: ${DEFAULT_MINUTES} by default
`;

/**
 * `--seeds N [--seed S] [--minutes M]`: runs worlds until one breaks an invariant, which it tells with the timeline (exit code 1), or
 * all held (0). Of options that it does not understand it says what is right (2).
 */
export async function simulate(argv: readonly string[], { stdout, stderr, load }: SimulateWorld): Promise<number> {
  const wanted = wantedBy(argv);
  if (typeof wanted === "string") {
    stderr(wanted);
    return 2;
  }
  if (wanted.help) {
    stdout(USAGE);
    return 0;
  }
  const { first, count, minutes } = wanted;
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

function wantedBy(argv: readonly string[]) {
  const number = { type: "string" } as const;
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: { seeds: number, seed: number, minutes: number, help: { type: "boolean", short: "h" } },
    });
    return {
      help: values.help ?? false,
      first: whole("seed", values.seed, 1),
      count: whole("seeds", values.seeds, values.seed === undefined ? DEFAULT_SEEDS : 1),
      minutes: whole("minutes", values.minutes, DEFAULT_MINUTES),
    };
  } catch (error) {
    return `${errorMessage(error)}\n${USAGE}`;
  }
}

function whole(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new RangeError(`--${name} must be a whole number, got ${text}`);
}

import { errorMessage } from "../core/errors.ts";
import { type Cli, ReportedError } from "./cli.ts";

/**
 * Does `one` for each item in turn, and prints what it answers. An item that fails is reported and leaves the others alone;
 * `ReportedError` at the end tells that there was one.
 */
export async function forEach<Item>(
  cli: Cli,
  items: readonly Item[],
  one: (item: Item, index: number) => Promise<string>,
): Promise<void> {
  let failed = 0;
  for (const [index, item] of items.entries())
    try {
      cli.print(await one(item, index));
    } catch (thrown) {
      failed += 1;
      cli.note(errorMessage(thrown));
    }
  if (failed > 0) throw new ReportedError();
}

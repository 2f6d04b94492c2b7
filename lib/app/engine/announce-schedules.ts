import { scheduleNews } from "../../core/announcement.ts";
import { errorMessage } from "../../core/errors.ts";
import type { EventBus } from "../ports.ts";
import type { Engine } from "./engine.ts";

/** A change of a schedule's item, as its stream told it. `after`: absent where the item was removed. */
export interface ItemChange {
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
}

/**
 * Makes known what happened to schedules by themselves: one was found invalid, one paused itself. At least once, each with an
 * identity of its own. Answers per change whether all of it is out; what is not is to be brought again.
 */
export async function announceSchedules(
  { logger, settings }: Pick<Engine, "logger" | "settings">,
  bus: EventBus,
  changes: readonly ItemChange[],
): Promise<readonly boolean[]> {
  const out = changes.map(() => true);
  const news = changes.flatMap(({ before, after }, index) =>
    after === undefined
      ? []
      : scheduleNews(before, after, settings.announce).map((announcement) => ({ announcement, index })),
  );
  const published = await bus.publish(news.map(({ announcement }) => announcement));
  for (const [position, { announcement, index }] of news.entries()) {
    const verdict = published[position];
    if (verdict?.kind === "accepted") continue;
    out[index] = false;
    logger.warn("news of a schedule did not reach the event bus", {
      scheduleId: announcement.detail["scheduleId"],
      error: verdict === undefined ? "no answer" : errorMessage(verdict.error),
    });
  }
  return out;
}

import { PAUSED_BY_ITSELF } from "../../../lib/core/announcement.ts";
import { pauseNote, statusNote } from "../../../lib/core/schedule.ts";
import { finding, type InvariantOf } from "./invariant.ts";

/**
 * That a definition was found invalid, and that a schedule paused itself, is told at least once, unless the record of it was lost; and
 * nothing of the kind is told that did not happen.
 */
export const scheduleNewsIsTold: InvariantOf = () => {
  const happened = new Map<string, string>();
  const told = new Set<string>();
  const lost = new Set<string>();
  return {
    name: "schedule news is told",
    on: (fact) => {
      if (fact.type === "record-lost" && fact.scheduleId !== undefined) lost.add(fact.scheduleId);
      if (fact.type === "schedule" && fact.new !== undefined) {
        const status = statusNote(fact.new);
        const pause = pauseNote(fact.new);
        const { scheduleId } = fact;
        if (status?.state === "INVALID") happened.set(`Schedule Invalid ${scheduleId} ${status.version}`, scheduleId);
        if (pause?.by === PAUSED_BY_ITSELF)
          happened.set(`Schedule Paused Itself ${scheduleId} ${pause.at}`, scheduleId);
      }
      if (fact.type !== "published" || fact.scheduleNews === undefined) return undefined;
      told.add(fact.scheduleNews);
      return happened.has(fact.scheduleNews)
        ? undefined
        : finding(undefined, `"${fact.scheduleNews}" was told, and did not happen`);
    },
    atEnd: () =>
      [...happened].flatMap(([news, scheduleId]) =>
        told.has(news) || lost.has(scheduleId) ? [] : [finding(scheduleId, `"${news}" was told to nobody`)],
      ),
  };
};

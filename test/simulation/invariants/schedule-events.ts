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
    on: {
      "record-lost": ({ scheduleId }) => {
        if (scheduleId !== undefined) lost.add(scheduleId);
      },
      schedule: ({ scheduleId, new: item }) => {
        const status = item && statusNote(item);
        const pause = item && pauseNote(item);
        if (status?.state === "INVALID") happened.set(`Schedule Invalid ${scheduleId} ${status.version}`, scheduleId);
        if (pause?.by === PAUSED_BY_ITSELF)
          happened.set(`Schedule Paused Itself ${scheduleId} ${pause.at}`, scheduleId);
      },
      published: ({ scheduleNews: news }) => {
        if (news === undefined) return undefined;
        told.add(news);
        return happened.has(news) ? undefined : finding(undefined, `"${news}" was told, and did not happen`);
      },
    },
    atEnd: () =>
      [...happened].flatMap(([news, scheduleId]) =>
        told.has(news) || lost.has(scheduleId) ? [] : [finding(scheduleId, `"${news}" was told to nobody`)],
      ),
  };
};

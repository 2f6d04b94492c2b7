import { describe, expect, it } from "vitest";
import type { ScheduleStore } from "../../lib/app/ports.ts";
import { plusMs, toIso } from "../../lib/core/instant.ts";
import { NOON } from "../support/occurrences.ts";
import type { Stores } from "./stores.ts";

const HOURLY = { scheduleId: "hourly", cron: "0 * * * *" };
const PAUSE = { at: NOON, by: "ops", note: "maintenance" };
const PAUSED = { at: toIso(NOON), by: "ops", note: "maintenance" };
const LATER = plusMs(NOON, 60_000);

const read = async (store: ScheduleStore) => {
  const [verdict] = await store.read(["hourly"]);
  return verdict?.kind === "found" ? verdict.row : verdict?.kind;
};

/** What pausing and resuming must do: declared once, run on each adapter in worlds of each test's own. */
export function schedulePauseContract(name: string, newStores: () => Promise<Stores>): void {
  describe(`pausing a schedule: ${name}`, () => {
    const open = async (extra?: object): Promise<Stores> => {
      const stores = await newStores();
      if (extra) await stores.putItem({ ...HOURLY, ...extra });
      return stores;
    };

    it("leaves who paused it, when and why", async () => {
      const { schedules } = await open({});
      expect(await schedules.pause("hourly", PAUSE)).toBe("written");
      expect(await read(schedules)).toEqual({ ...HOURLY, paused: PAUSED });
    });

    it("pauses without a name or a note", async () => {
      const { schedules } = await open({});
      expect(await schedules.pause("hourly", { at: NOON })).toBe("written");
      expect(await read(schedules)).toEqual({ ...HOURLY, paused: { at: toIso(NOON) } });
    });

    it("keeps the first pause", async () => {
      const { schedules } = await open({ paused: PAUSED });
      expect(await schedules.pause("hourly", { at: LATER, by: "other" })).toBe("unchanged");
      expect(await read(schedules)).toEqual({ ...HOURLY, paused: PAUSED });
    });

    it("resumes from an instant on", async () => {
      const { schedules } = await open({ paused: PAUSED, resumedAt: toIso(NOON) });
      expect(await schedules.resume("hourly", LATER)).toBe("written");
      expect(await read(schedules)).toEqual({ ...HOURLY, resumedAt: toIso(LATER) });
    });

    it("does not resume what is not paused: its due heads would be passed over", async () => {
      const { schedules } = await open({});
      expect(await schedules.resume("hourly", LATER)).toBe("unchanged");
      expect(await read(schedules)).toEqual(HOURLY);
    });

    it.each([[false], [null]])("takes paused = %s, as somebody typed it, for not paused", async (paused) => {
      const { schedules } = await open({ paused });
      expect(await schedules.resume("hourly", LATER)).toBe("unchanged");
      expect(await schedules.pause("hourly", PAUSE)).toBe("written");
      expect(await read(schedules)).toEqual({ ...HOURLY, paused: PAUSED });
    });

    it.each([[true], ["yes"], [0], [{}]])("takes paused = %j, as somebody typed it, for paused", async (paused) => {
      const { schedules } = await open({ paused });
      expect(await schedules.pause("hourly", PAUSE)).toBe("unchanged");
      expect(await schedules.resume("hourly", LATER)).toBe("written");
      expect(await read(schedules)).toEqual({ ...HOURLY, resumedAt: toIso(LATER) });
    });

    it("never brings a deleted schedule back", async () => {
      const { schedules } = await open();
      expect(await schedules.pause("hourly", PAUSE)).toBe("missing");
      expect(await schedules.resume("hourly", LATER)).toBe("missing");
      expect(await read(schedules)).toBe("missing");
    });
  });
}

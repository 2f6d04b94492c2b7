import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { OCCURRENCE_STATUSES } from "../../lib/core/occurrence.ts";
import { matches, parsePattern } from "../../lib/local/event-sources/filter.ts";
import { EVENT_SOURCE } from "../../lib/runtime/names.ts";
import { NEWS } from "../support/events.ts";
import { ROOT } from "./source-files.ts";

const page = readFileSync(path.join(ROOT, "docs/events.md"), "utf8");
const [common = "", ...sections] = page.split(/^## /m);
const json = (text: string): unknown[] =>
  [...text.matchAll(/^```json\n(.*?)^```/gms)].map(([, code = ""]): unknown => JSON.parse(code));
/** The members that the tables of a text name. */
const members = (text: string): string[] => [...text.matchAll(/^\| `([\w.]+)` \|/gm)].map(([, name = ""]) => name);
const sectionOf = (detailType: string): string => sections.find((text) => text.startsWith(`${detailType}\n`)) ?? "";
const ofOccurrences = NEWS.filter(({ detailType }) => detailType.startsWith("Occurrence"));

describe("the page on events", () => {
  it("tells of every event there is, and of no other", () => {
    const told = sections
      .map((text) => text.split("\n")[0] ?? "")
      .filter((title) => /^(Occurrence|Schedule) /.test(title));
    expect(told).toEqual(NEWS.map(({ detailType }) => detailType));
    const worthTelling = OCCURRENCE_STATUSES.filter((status) => !["PENDING", "DISPATCHED"].includes(status));
    expect(ofOccurrences).toHaveLength(worthTelling.length);
  });

  it.each(NEWS)("shows $detailType as it is told", ({ detailType, detail }) => {
    expect(json(sectionOf(detailType))).toEqual([{ source: EVENT_SOURCE, "detail-type": detailType, detail }]);
  });

  it("names every member of the events of occurrences, and none that no event has", () => {
    const told = new Set(ofOccurrences.flatMap(({ detail }) => Object.keys(detail)));
    expect([...told].filter((name) => !members(common).includes(name))).toEqual([]);
    expect(members(common).filter((name) => !told.has(name))).toEqual([]);
  });

  it.each(NEWS.filter((news) => !ofOccurrences.includes(news)))("names the members of $detailType", (news) => {
    expect(members(sectionOf(news.detailType))).toEqual(Object.keys(news.detail));
  });

  it("shows rule patterns that pick what they say", () => {
    const [attention, ofOne] = json(sectionOf("Rules")).map((pattern) => parsePattern(JSON.stringify(pattern)));
    if (attention === undefined || ofOne === undefined) throw new Error("the page must show two rule patterns");
    const events = NEWS.map(({ detailType, detail }) => ({ source: EVENT_SOURCE, "detail-type": detailType, detail }));
    expect(events.filter((event) => matches(attention, event)).map((event) => event["detail-type"])).toEqual([
      "Occurrence Dead-Lettered",
      "Occurrence Failed",
      "Schedule Invalid",
      "Schedule Paused Itself",
    ]);
    expect(events.filter((event) => matches(ofOne, event)).map((event) => event["detail-type"])).toEqual([
      "Occurrence Dead-Lettered",
    ]);
  });
});

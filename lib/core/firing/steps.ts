import { type Instant, instant } from "../instant.ts";
import { type Calendar, nextMatch } from "./calendar.ts";
import { FIRST_INSTANT, HORIZON } from "./horizon.ts";
import type { NominalFiring } from "./timing.ts";
import { CORRECTION_MS, localEnd, localStart, OFFSET_RANGE_MS, type Span, shows, spanAt } from "./zone.ts";

/**
 * How many spans one question may look at. A search jumps over what cannot match, so a firing is found within a handful; only a
 * calendar whose every match is swallowed by a gap, about twenty years in a row, comes this far, and is taken to fire no more.
 */
const MAX_SPANS = 64;

/** Finds the span of a zone that holds an instant: {@link spanAt}, or one that counts, in tests. */
export type SpanLookup = (zone: string, at: number) => Span;

/** A calendar and the lookup its question is answered with. */
interface Search {
  readonly calendar: Calendar;
  readonly lookup: SpanLookup;
}

/** An earlier span whose clocks showed `local` too, if there is one. */
function earlierPass({ calendar, lookup }: Search, span: Span, local: number): Span | undefined {
  const limit = local - span.offsetMs - OFFSET_RANGE_MS;
  for (let start = span.start; start > limit; ) {
    const earlier = lookup(calendar.zone, start - 1);
    if (shows(earlier, local)) return earlier;
    start = earlier.start;
  }
  return undefined;
}

/** A later span whose clocks will show `local` too, if there is one. */
function laterPass({ calendar, lookup }: Search, span: Span, local: number): Span | undefined {
  const limit = local - span.offsetMs + OFFSET_RANGE_MS;
  for (let end = span.end; end < limit; ) {
    const later = lookup(calendar.zone, end);
    if (shows(later, local)) return later;
    end = later.end;
  }
  return undefined;
}

/** Whether a match falls into the gap that opens where `span` begins, and the policy moves it there. */
function shiftsOntoStart({ calendar, lookup }: Search, span: Span): boolean {
  const { expression, zone, dst } = calendar;
  if (dst.gap === "skip") return false;
  const gapStart = span.start + lookup(zone, span.start - 1).offsetMs;
  const gapEnd = localStart(span);
  return gapEnd - gapStart < CORRECTION_MS && nextMatch(expression, gapStart, gapEnd) !== undefined;
}

/** The first firing in the span at or after `from`, passes of repeated times chosen by the policy. */
function firstInSpan(search: Search, span: Span, from: number): NominalFiring | undefined {
  const { expression, dst } = search.calendar;
  let local = from + span.offsetMs;
  const end = localEnd(span);
  for (;;) {
    const match = nextMatch(expression, local, end);
    if (match === undefined) return undefined;
    const at = instant(match - span.offsetMs);
    const earlier = earlierPass(search, span, match);
    const later = laterPass(search, span, match);
    if (earlier === undefined && later === undefined) return { at };
    // The whole stretch that the other span shows too is passed over at once, so the loop ends after as many turns as there are overlaps.
    if (earlier !== undefined && dst.repeated === "first") local = localEnd(earlier);
    else if (later !== undefined && dst.repeated === "second") local = localEnd(later);
    else return { at, resolved: "repeated" };
  }
}

/** Where to go on after a span without firings: the next one, or past all spans in which nothing can match. */
function nextCursor({ expression }: Calendar, span: Span): number | undefined {
  // Every later span shows only times after this one, so what does not match from here on never will.
  const match = nextMatch(expression, localEnd(span) - OFFSET_RANGE_MS, HORIZON + OFFSET_RANGE_MS);
  if (match === undefined) return undefined;
  return Math.max(span.end, match - OFFSET_RANGE_MS);
}

/**
 * The first nominal firing of a calendar strictly after `after`, or `undefined` when there is none before {@link HORIZON}. Wall-clock
 * time decides what matches; each match is then resolved to instants: a time in a gap and a repeated time follow the calendar's policy.
 */
export function nextOfCalendar(
  calendar: Calendar,
  after: Instant,
  lookup: SpanLookup = spanAt,
): NominalFiring | undefined {
  const search = { calendar, lookup };
  let cursor = Math.max(FIRST_INSTANT, Math.floor(after / 1000) * 1000 + 1000);
  for (let visited = 0; visited < MAX_SPANS && cursor < HORIZON; visited += 1) {
    const span = lookup(calendar.zone, cursor);
    if (cursor === span.start && shiftsOntoStart(search, span)) return { at: instant(cursor), resolved: "gap" };
    const found = firstInSpan(search, span, cursor);
    if (found !== undefined) return found.at < HORIZON ? found : undefined;
    const next = nextCursor(calendar, span);
    if (next === undefined) return undefined;
    cursor = next;
  }
  return undefined;
}

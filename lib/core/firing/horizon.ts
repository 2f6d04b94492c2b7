import { instant } from "../instant.ts";

/** The last year in which firings are looked for: the last one AWS's own year field can name. */
export const HORIZON_YEAR = 2199;

/** Nothing at or after this instant is computed, so that every search ends: 2200-01-01T00:00:00Z. */
export const HORIZON = instant(Date.UTC(HORIZON_YEAR + 1, 0, 1));

/** Where a search begins at the earliest, whatever it is asked: 0001-01-01T00:00:00Z. */
export const FIRST_INSTANT = instant(Date.parse("0001-01-01T00:00:00Z"));

import { contentHash } from "./ids.ts";
import { DEFINITION_ATTRIBUTES } from "./schedule-definition.ts";

/** The attributes that decide when a schedule fires. */
const TIMING_ATTRIBUTES = ["cron", "rate", "at", "timezone", "dst", "startAt", "endAt", "jitterSeconds"] as const;

/**
 * The version of an item's definition, valid or not: the hash of what decides when it fires, a hyphen, and the hash of all
 * the author's attributes, whatever order they came in. It stands on rows for as long as these are kept: a release that
 * hashes otherwise puts a mark and a colon before it.
 */
export const definitionVersion = (item: Readonly<Record<string, unknown>>): string =>
  `${hashOf(item, TIMING_ATTRIBUTES)}-${hashOf(item, DEFINITION_ATTRIBUTES)}`;

const hashOf = (item: Readonly<Record<string, unknown>>, attributes: readonly string[]): string =>
  contentHash(Object.fromEntries(attributes.map((key) => [key, item[key]])));

/** Whether two versions were hashed alike: those of releases that hash otherwise tell nothing of each other. */
export const areHashedAlike = (left: string, right: string): boolean => markOf(left) === markOf(right);

/**
 * Whether two versions of one schedule fire at the same instants. Those that were not hashed alike are taken for the same: no
 * firing is lost because a release was deployed or rolled back.
 */
export const isSameTiming = (left: string, right: string): boolean =>
  !areHashedAlike(left, right) || timingOf(left) === timingOf(right);

const markOf = (version: string): string => version.slice(0, version.indexOf(":") + 1);
const timingOf = (version: string): string => version.slice(0, version.indexOf("-"));

import { editDistance } from "../edit-distance.ts";
import { shown } from "../validation.ts";

/** A zone name understood, or a sentence about what it must be. */
export type TimezoneResult =
  | { readonly kind: "valid"; readonly name: string }
  | { readonly kind: "invalid"; readonly message: string };

/** Names that CLDR, and so `Intl`, keeps for good where the IANA database has renamed the zone (tzdata `backward`). */
const RENAMED: Readonly<Record<string, string>> = {
  "Africa/Asmera": "Africa/Asmara",
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Catamarca": "America/Argentina/Catamarca",
  "America/Coral_Harbour": "America/Atikokan",
  "America/Cordoba": "America/Argentina/Cordoba",
  "America/Godthab": "America/Nuuk",
  "America/Indianapolis": "America/Indiana/Indianapolis",
  "America/Jujuy": "America/Argentina/Jujuy",
  "America/Louisville": "America/Kentucky/Louisville",
  "America/Mendoza": "America/Argentina/Mendoza",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Europe/Kiev": "Europe/Kyiv",
  "Pacific/Enderbury": "Pacific/Kanton",
  "Pacific/Ponape": "Pacific/Pohnpei",
  "Pacific/Truk": "Pacific/Chuuk",
};

/**
 * The IANA names without an area (tzdata `backward`, `etcetera` and `northamerica`). `Intl` also takes ICU's own abbreviations, `IST` or
 * `PST` for two, which are not IANA names and mean different zones to different people.
 */
const WITHOUT_AREA = new Set(
  (
    "CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran " +
    "Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK " +
    "Singapore Turkey UCT UTC Universal W-SU WET Zulu"
  )
    .toUpperCase()
    .split(" "),
);

const SUGGESTIONS = 3;
/** No IANA name is half as long; longer input is not worth comparing. */
const MAX_NAME_LENGTH = 64;

const knownNames = (): readonly string[] => [
  "UTC",
  ...Intl.supportedValuesOf("timeZone").map((name) => RENAMED[name] ?? name),
];

/** The city counts too, so that `Berlin` finds `Europe/Berlin`. */
function nearestNames(name: string): readonly string[] {
  const wanted = name.toLowerCase().slice(0, MAX_NAME_LENGTH);
  const distance = (known: string): number => {
    const lower = known.toLowerCase();
    return Math.min(editDistance(wanted, lower), editDistance(wanted, lower.slice(lower.lastIndexOf("/") + 1)));
  };
  return knownNames()
    .map((known) => ({ known, distance: distance(known) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, SUGGESTIONS)
    .map(({ known }) => known);
}

/** `Intl`'s canonical form of a name, or `undefined` when it knows no such zone. */
function canonicalOf(name: string): string | undefined {
  const isIana = name.includes("/") ? !/^systemv\//i.test(name) : WITHOUT_AREA.has(name.toUpperCase());
  if (!isIana || name.length > MAX_NAME_LENGTH) return undefined;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Reads a time zone: an IANA name in any case, old names included; the answer is the canonical one. */
export function parseTimezone(name: string): TimezoneResult {
  const canonical = canonicalOf(name);
  if (canonical !== undefined) return { kind: "valid", name: RENAMED[canonical] ?? canonical };
  const rule = "must be an IANA time zone name such as Europe/Berlin, UTC or Etc/GMT-5";
  const got = shown(name);
  const isName = /^[a-z_]+(\/[a-z_+\-0-9]+)*$/i.test(name) && !/^(local|system)$/i.test(name);
  if (!isName) return { kind: "invalid", message: `${rule}, got ${got}` };
  return { kind: "invalid", message: `${rule}, got ${got}; the nearest names are ${nearestNames(name).join(", ")}` };
}

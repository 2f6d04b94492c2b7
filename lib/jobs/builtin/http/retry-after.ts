/**
 * The seconds that a `Retry-After` header (RFC 9110, section 10.2.3: a number of seconds, or an HTTP date) asks to wait from
 * `nowMs`; `undefined` where there is none or it is neither.
 */
export function retryAfterSeconds(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const untilMs = Date.parse(header);
  return Number.isNaN(untilMs) ? undefined : Math.max(0, Math.ceil((untilMs - nowMs) / 1_000));
}

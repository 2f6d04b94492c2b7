import type { Host } from "../ports.ts";

/** A moment on both of a host's clocks. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Now, on both. */
export const momentOf = (host: Host): Moment => ({ wallMs: host.wallMs(), monotonicMs: host.monotonicMs() });

/**
 * How long ago `moment` is, by whichever of the host's clocks went further: the monotonic one may have stood still while the
 * host was frozen, the wall clock may have been set back.
 */
export const elapsedMs = (host: Host, moment: Moment): number =>
  Math.max(host.wallMs() - moment.wallMs, host.monotonicMs() - moment.monotonicMs);

import { ClockUnavailableError } from "../../lib/app/errors.ts";
import type { Clock } from "../../lib/app/ports.ts";

/** A clock that can be made not to know the store's time, and to know it again. */
export function forgetfulClock<Known extends Clock>(clock: Known) {
  let isKnown = true;
  return {
    clock: {
      ...clock,
      now: () => {
        if (!isKnown) throw new ClockUnavailableError("no response has told the store's time yet");
        return clock.now();
      },
    },
    forget: () => {
      isKnown = false;
    },
    learn: () => {
      isKnown = true;
    },
  };
}

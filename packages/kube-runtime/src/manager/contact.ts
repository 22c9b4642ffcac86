import type { ScheduledTimer, Timers } from "@talos-operator/ports";

/** Whether something was heard lately. */
export interface Contact {
  /** It was heard just now. */
  made(): void;
  isLost(): boolean;
  /** Nothing is waited for any more. */
  end(): void;
}

/** Lost when nothing is heard for `silenceMs`, by a timer: a clock that is set forward or back says nothing about it. */
export function createContact(timers: Timers, silenceMs: number): Contact {
  let isLost = false;
  let timer: ScheduledTimer | undefined;
  return {
    made() {
      isLost = false;
      timer?.cancel();
      timer = timers.schedule(silenceMs, () => {
        isLost = true;
      });
    },
    isLost: () => isLost,
    end() {
      timer?.cancel();
    },
  };
}

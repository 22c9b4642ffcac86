import { Cron } from "croner";
import { WORDS, wrongSchedule } from "./cron-words.ts";

/** Times at which a schedule fires. Milliseconds since the epoch. */
export interface FiringTimes {
  /** The first one after `at`; `undefined` where there is none within {@link HORIZON_MS}. */
  after(at: number): number | undefined;
}

export type ReadSchedule = { readonly kind: "times"; readonly times: FiringTimes } | { readonly kind: "invalid"; readonly message: string };

/** A schedule that does not fire for so long never does, for whoever waits for a backup: eight years hold every 29th of February. */
const HORIZON_MS = 9 * 366 * 86_400_000;

/**
 * Reads a cron expression of five fields. Where day of month and day of week are both given, either is enough, as in cron.
 *
 * When clocks are set forward, what would fire at an hour that is left out fires right after it, where its time of day is fixed; when they are set back, it
 * fires once.
 *
 * @param timeZone IANA name; default: that of the process
 */
export function readSchedule(schedule: string, timeZone?: string): ReadSchedule {
  const asked = schedule.trim();
  const expression = WORDS[asked.toLowerCase()] ?? asked;
  const wrong = wrongSchedule(expression, (proposed) => readSchedule(proposed).kind === "times");
  if (wrong !== undefined) return { kind: "invalid", message: wrong };
  if (timeZone !== undefined && !isTimeZone(timeZone))
    return { kind: "invalid", message: "spec.timeZone is none that is known. Write a name such as Europe/Berlin." };
  try {
    const cron = new Cron(expression.split(/\s+/).join(" "), { mode: "5-part", ...(timeZone === undefined ? {} : { timezone: timeZone }) });
    return {
      kind: "times",
      times: {
        after(at) {
          const next = cron.nextRun(new Date(at))?.getTime();
          return next === undefined || next - at > HORIZON_MS ? undefined : next;
        },
      },
    };
  } catch {
    return { kind: "invalid", message: "spec.schedule is no cron expression. Write five fields, for example 0 2 * * *." };
  }
}

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

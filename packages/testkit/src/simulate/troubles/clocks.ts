import { pick } from "../fault.ts";
import type { TroubleInput } from "./input.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Everybody slept, as in a suspended rack: hours or months later certificates have ended, and nobody was there to renew them. */
export async function passTime({ kind, random, timers, trace, setWorldClock, latestMs }: TroubleInput, lastsMs: number): Promise<void> {
  await timers.sleep(2_000 + Math.floor(random.fraction() * latestMs));
  const ms = pick([7 * HOUR, 13 * HOUR, 200 * DAY, 340 * DAY, 400 * DAY], random);
  trace(`trouble ${kind}: ${ms} ms`);
  setWorldClock(ms);
  await timers.sleep(lastsMs);
}

import type { Cell } from "./cell.ts";
import type { World } from "./world.ts";

/** Pauses after which the first packet of a connection is sent again, as Linux does it. */
const RESENT_AFTER_MS = [1_000, 2_000, 4_000, 8_000, 16_000];

/** The machine that takes or refuses a connection; `undefined` when no packet reaches one within `timeoutMs`. */
export async function connect(world: World, address: string, timeoutMs: number, signal?: AbortSignal): Promise<Cell | undefined> {
  let leftMs = timeoutMs;
  for (const pauseMs of [...RESENT_AFTER_MS, Number.POSITIVE_INFINITY]) {
    const cell = world.cell(address);
    if (cell?.state.power === "on" && cell.state.isConnected) return cell;
    await world.timers.sleep(Math.min(pauseMs, leftMs), signal);
    leftMs -= pauseMs;
    if (leftMs <= 0) return undefined;
  }
  return undefined;
}

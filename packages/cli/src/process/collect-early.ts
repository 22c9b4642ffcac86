import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { systemTimers } from "@talos-operator/adapters";

/** Often enough that little comes in between two looks, however fast the network is. */
const LOOK_EVERY_MS = 10;
/** Beside the heap: two parts of an upload, what a compressor has, and the chunks that are on their way. */
const MOST_BUFFERS = 22 * 2 ** 20;
/** With the heap, which is old in most of it. */
const MOST_ALL = 48 * 2 ** 20;

/**
 * Looks for garbage as soon as buffers have piled up. The engine counts what lies beside its heap for little, and lets tens of MiB of chunks that were read lie about
 * when little else is made, or when its own threads get no processor: for a process that streams gigabytes within a small limit.
 *
 * @returns ends it
 */
export function collectEarly(): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as NodeJS.GCFunction;
  let ended = false;
  const look = (): void => {
    if (ended) return;
    if (getHeapStatistics().external_memory > MOST_BUFFERS) collect({ type: "minor" });
    const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
    if (heap + external > MOST_ALL) collect();
    timer = systemTimers.schedule(LOOK_EVERY_MS, look);
  };
  let timer = systemTimers.schedule(LOOK_EVERY_MS, look);
  return () => {
    ended = true;
    timer.cancel();
  };
}

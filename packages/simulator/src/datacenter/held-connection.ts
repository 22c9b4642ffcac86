import type { HeldUntil, ScheduledTimer, TalosTarget } from "@talos-operator/ports";
import { connect } from "./connect.ts";
import type { World } from "./world.ts";

/** apid waits so long for the first word of a handshake, as gRPC's servers do. Milliseconds. */
const HANDSHAKE_MS = 120_000;

/** A system asks after one second of silence, and ten times more, before it gives a connection up. Milliseconds. */
const SILENCE_MS = 11_000;

/** A connection without TLS on which nothing is sent. A host that is off or cut off says nothing; one that booted does not know the connection any more. */
export async function hold(
  world: World,
  { address, port = 50_000 }: TalosTarget,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<HeldUntil> {
  const { callMs } = world.timings;
  const cell = await (callMs > 0 ? world.timers.sleep(Math.min(callMs / 2, timeoutMs), signal) : Promise.resolve())
    .then(() => connect(world, address, timeoutMs, signal))
    .catch(() => undefined);
  if (signal.aborted) return "released";
  if (cell === undefined || cell.state.api.kind === "down" || port !== 50_000) return "unreached";
  const { epoch } = cell.state.api;
  return new Promise((resolve) => {
    let silence: ScheduledTimer | undefined;
    const end = (how: HeldUntil): void => {
      silence?.cancel();
      handshake.cancel();
      endListening();
      signal.removeEventListener("abort", release);
      resolve(how);
    };
    const release = (): void => end("released");
    const look = (): void => {
      const { power, isConnected, api } = cell.state;
      if (power !== "on" || !isConnected) {
        silence ??= world.timers.schedule(SILENCE_MS, () => end("silent"));
        return;
      }
      silence?.cancel();
      silence = undefined;
      if (api.epoch !== epoch) end("closed");
    };
    const handshake = world.timers.schedule(HANDSHAKE_MS, () => {
      if (silence === undefined) end("closed");
    });
    const endListening = cell.onChange(look);
    signal.addEventListener("abort", release);
  });
}

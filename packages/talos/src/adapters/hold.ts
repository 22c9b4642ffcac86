import { connect } from "node:net";

import type { HeldUntil, TalosTarget } from "@talos-operator/ports";
import { DEFAULT_PORT } from "./grpc-channel.ts";

/**
 * After so long without a packet the system asks whether the other side is there. Ten questions in a row, a second apart, that nobody answers end the connection;
 * libuv chooses these two. Milliseconds.
 */
const ASKED_AFTER_MS = 1_000;

/**
 * Opens a TCP connection and leaves it alone until it ends.
 *
 * A connection that is opened anew each time wakes two processes and costs 0.7 ms of processor time where one of them sleeps; this one costs nothing.
 */
export function hold(
  { address, port = DEFAULT_PORT }: TalosTarget,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<HeldUntil> {
  if (signal.aborted) return Promise.resolve("released");
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, keepAlive: true, keepAliveInitialDelay: ASKED_AFTER_MS });
    let isTaken = false;
    const end = (how: HeldUntil): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", release);
      // Nothing is left to be said: a reset spares both sides a socket that lingers.
      socket.resetAndDestroy();
      resolve(how);
    };
    const release = (): void => end("released");
    const timer = setTimeout(() => end("unreached"), timeoutMs);
    signal.addEventListener("abort", release);
    socket.once("connect", () => {
      isTaken = true;
      clearTimeout(timer);
    });
    socket.on("error", (error: NodeJS.ErrnoException) => end(isTaken ? (isSilence(error) ? "silent" : "closed") : "unreached"));
    // Who speaks first here is nobody that we know: what it says is read and dropped, so that its end is noticed.
    socket.resume();
    socket.once("end", () => end("closed"));
    socket.once("close", () => end(isTaken ? "closed" : "unreached"));
  });
}

/** No packet came back: from the machine, or from a router on the way to it. */
function isSilence({ code }: NodeJS.ErrnoException): boolean {
  return code === "ETIMEDOUT" || code === "EHOSTUNREACH" || code === "ENETUNREACH";
}

import { createTalosClient, isTalosError } from "@talos-operator/talos/client";
import type { CallOptions, TalosClient } from "@talos-operator/talos/client";
import { mintCredentials } from "../secrets/credentials.ts";
import type { MachineName } from "../model/machine.ts";
import type { KnownAtSend, SentEffect } from "../model/observation.ts";
import type { Effects } from "./ports.ts";

/** Of what a machine said as a stream ended, so much is kept of its beginning, and of its end, where the reason stands. */
const BEGINNING = 100;
const END = 200;

function shortened(text: string): string {
  const words = text.replaceAll(/\s+/g, " ");
  return words.length <= BEGINNING + END ? words : `${words.slice(0, BEGINNING)} … ${words.slice(-END)}`;
}

interface Asked {
  readonly action: { readonly machine: MachineName; readonly address: string };
  readonly effects: Effects;
}

/**
 * Dials for a call whose answer is a stream that goes on beside the passes: the connection of the checks is the one of the stream, and is closed when that ends.
 *
 * @param word under `<word>/<machine>` the stream runs
 */
export function dialForStream(word: string) {
  return async ({ action, effects }: Asked, use: (client: TalosClient) => Promise<void>): Promise<void> => {
    const credentials = await mintCredentials(await effects.bundle(), "os:admin", effects.keys, effects.clock);
    const client = createTalosClient(effects.dialer.dial({ address: action.address }, credentials));
    try {
      await use(client);
    } finally {
      if (!effects.session.streams.isOpen(`${word}/${action.machine}`)) client.close();
    }
  };
}

/** What is remembered of a stream that ended well. */
type Ended = Pick<SentEffect, "detail"> & KnownAtSend;

/**
 * Begins the stream, and returns with its first message. How it ended is remembered under `<word>Ended/<machine>`, and wakes the cluster.
 *
 * @param ends milliseconds that it may take as a whole
 * @param stream gives what is remembered of a good end
 * @param known is remembered of every end
 */
export function beginStream(
  word: string,
  { action: { machine }, effects, client }: Asked & { readonly client: TalosClient },
  { timeoutMs = 0 }: CallOptions,
  ends: number,
  stream: (options: CallOptions, began: () => void) => Promise<Ended>,
  known: KnownAtSend = {},
): Promise<void> {
  const { session, log } = effects;
  let last: Ended = { detail: "", ...known };
  const run = async (signal: AbortSignal, began: () => void): Promise<void> => {
    last = await stream({ timeoutMs: ends, signal }, began);
  };
  const ended = (failure: unknown): void => {
    client.close();
    const isRefusal = isTalosError(failure, "INSTALL_FAILED", "NOT_FOUND", "NODE_FAILED", "INVALID_ARGUMENT");
    const { detail, ...knownAtEnd } = last;
    const why = isTalosError(failure) ? shortened(failure.nodeText) : "the stream broke off";
    const key = `${word}Ended/${machine}`;
    if (failure === undefined) session.noteSent(key, "answered", detail, knownAtEnd);
    else session.noteSent(key, isRefusal ? "refused" : "unknown", why, known);
    log.info({ action: word, machine, reason: failure === undefined ? "done" : why }, "The stream ended");
    // What is pulled changes nothing that is read.
    if (word !== "PullInstaller") session.configs.forget(machine);
    effects.wake();
  };
  return session.streams.begin(`${word}/${machine}`, run, timeoutMs, ended);
}

import { CliError } from "../cli-error.ts";

/** npm passes on what the terminal sent to all of us already: two of a kind that close together are one. */
const SAME_SIGNAL_MS = 1000;

/** What of a process this needs. */
export interface Signalled {
  on(name: "SIGINT" | "SIGTERM", heard: () => void): unknown;
  exit(code: number): void;
}

/** Aborts on the first signal, so that everything stops in order. A second one ends the process at once. */
export function stopBySignal(signalled: Signalled, nowMs: () => number): AbortSignal {
  const stop = new AbortController();
  let first: { readonly name: string; readonly atMs: number } | undefined;
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    signalled.on(name, () => {
      const atMs = nowMs();
      if (first === undefined) {
        first = { name, atMs };
        stop.abort(new CliError("stopped by a signal", "Run the command again to go on."));
      } else if (first.name !== name || atMs - first.atMs >= SAME_SIGNAL_MS) signalled.exit(130);
    });
  }
  return stop.signal;
}

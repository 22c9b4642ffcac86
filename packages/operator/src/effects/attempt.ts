import { isConfigError } from "@talos-operator/talos";
import type { ConfigError } from "@talos-operator/talos";
import { isTalosError, TalosError } from "@talos-operator/talos/client";
import type { TalosErrorCode } from "@talos-operator/talos/client";
import { isEffectError } from "../errors.ts";
import type { EffectError } from "../errors.ts";
import type { KnownAtSend, SentEffect } from "../model/observation.ts";
import type { Effects } from "./ports.ts";

/** Makes the one call of an effect that changes something, and notes that. `known` is remembered with it. */
export type Send = (call: () => Promise<unknown>, known?: KnownAtSend) => Promise<void>;

/** How an attempt at an effect on a machine ended. What is not known to have arrived is found out by the next look. */
export type Ending =
  /** Nothing failed. */
  | { readonly kind: "over" }
  /** The machine turned the call itself down, in its own words without anything that it may have quoted from a config; at most 300 characters. */
  | { readonly kind: "refused"; readonly code: TalosErrorCode; readonly words: string }
  /** It was sent, and no answer came. */
  | { readonly kind: "lost"; readonly error: TalosError }
  /** A demand did not hold, or a question before the call failed. `before` is what is known of an earlier attempt. */
  | { readonly kind: "not-sent"; readonly error: TalosError | EffectError | ConfigError; readonly before: SentEffect | undefined };

const WORDS_AT_MOST = 300;

/**
 * Runs `use`, which asks and demands first and then sends, and sorts what it failed with.
 *
 * ```
 * questions, demands ─── fail ──► not sent, whatever the machine said: that was no answer to the call
 *        │
 *       send ─── the code is one of `refusals` ──► refused
 *        │  └─── any other failure of the call ──► lost
 *        └─────► over
 * ```
 * @param key under which the session remembers it
 * @throws whatever is neither the machine's nor a demand's: the pass fails
 */
export async function attempt(
  key: string,
  refusals: readonly TalosErrorCode[],
  { session, log, letEnd }: Pick<Effects, "session" | "log" | "letEnd">,
  use: (send: Send) => Promise<void>,
): Promise<Ending> {
  const before = session.sent().get(key);
  let isSent = false;
  let knownAtSend: KnownAtSend | undefined;
  try {
    await use(async (call, known) => {
      knownAtSend = known;
      session.noteSent(key, "unknown", "no answer", known);
      isSent = true;
      await letEnd(call);
      session.noteSent(key, "answered", "", known);
    });
    return { kind: "over" };
  } catch (thrown) {
    if (isSent && isTalosError(thrown, ...refusals)) {
      const words = thrown.nodeText.slice(0, WORDS_AT_MOST);
      session.noteSent(key, "refused", words, knownAtSend);
      return { kind: "refused", code: thrown.code, words };
    }
    if (!(thrown instanceof TalosError) && !isConfigError(thrown) && !isEffectError(thrown, "PRECONDITION_GONE")) throw thrown;
    log.debug({ effect: key, isSent, err: thrown.message }, "Not known to have arrived; looking again");
    return isSent && thrown instanceof TalosError ? { kind: "lost", error: thrown } : { kind: "not-sent", error: thrown, before };
  }
}

/** It was not asked under an intent that lets it be asked once: it may be, after the pause of a refusal. */
export function noteNotAsked(key: string, { session }: Effects): void {
  session.noteSent(key, "refused", "it could not be asked");
}

/** Without a pause the next pass would try at once again: what is known of an earlier attempt counts as of now. */
export function noteNotSent(key: string, { before }: Extract<Ending, { readonly kind: "not-sent" }>, { session }: Effects): void {
  session.noteSent(key, before?.outcome ?? "unknown", before?.detail ?? "it could not be asked", before);
}

import type { TalosErrorCode } from "@talos-operator/talos/client";
import { elapsedMs } from "../elapsed.ts";
import type { ActionOf, Disruption, EffectKind } from "../model/effect.ts";
import type { ClusterFacts, IntentKind } from "../model/record.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import type { StepWords } from "../planning/step-of.ts";
import type { Effects } from "./ports.ts";

/** An effect on its way, as its checks are asked about it. */
export interface Sending<A = unknown> {
  readonly action: A;
  readonly effects: Effects;
  /** Asks once: checks that judge the same answer share it. */
  ask<T>(question: (sending: Sending<A>) => T): T;
  /** What was answered, by question. */
  readonly answers: Map<unknown, unknown>;
}

/**
 * One named reason that holds an effect back. It throws an EffectError when it does not hold; `not-now` leaves the effect for a later pass, and nothing was
 * amiss.
 */
export type Check<S = Sending> = (sending: S) => Answer | Promise<Answer>;

// oxlint-disable-next-line typescript/no-invalid-void-type
type Answer = void | "not-now";

/** Checks by name, in the order in which they are asked. */
export type Checks<S = Sending> = Readonly<Record<string, Check<S>>>;

/** What the record has to say at the last moment, by name. */
export type Written<A = unknown> = Readonly<Record<string, (facts: ClusterFacts, action: A) => boolean>>;

/** When an effect may be asked for again. Haste, not safety: what was just sent gets a while to show what it did. */
export interface Retry {
  /** Under `<word>/<whom>` a process remembers what came of it; under the word alone where it concerns the whole cluster. */
  readonly word: string;
  /** Answers with which a machine turns the call itself down. Whatever else fails leaves open whether it took effect. */
  readonly refusals: readonly TalosErrorCode[];
  /** Milliseconds, by what came of it last. */
  readonly pauseMs: Readonly<Record<"answered" | "refused" | "unknown", number>>;
}

/**
 * Everything that is known of one effect. Dispatch, concurrency, pauses, plans, the model explorer and the tests that take one check out are loops over these.
 */
export interface EffectDefinition<K extends EffectKind = EffectKind> {
  /** Row of the effect inventory that it is. */
  readonly inventory: `${"K" | "T"}${number}` | "WL1";
  /**
   * Where it acts. What only writes `objects` of the management cluster is asked beforehand whether the cluster is still to be reconciled; the others ask the
   * guard themselves, right before they send.
   */
  readonly at: "machine" | "workload" | "objects";
  /** The machine that something is done to; absent = none. Nothing is done to one that is paused. */
  readonly machine?: (action: ActionOf<K>) => MachineName;
  /** The same where it is several: on which it begins something, which it writes down, or whose Nodes it writes. */
  readonly begins?: (action: ActionOf<K>, seen: Observed) => readonly MachineName[];
  /** True where it only tells the record what was seen: people's word is no matter of that, and the version that was read keeps it from undoing anything. */
  readonly remembers?: (action: ActionOf<K>, seen: Observed) => boolean;
  /** What it acts on, as one word; only where it passes over what it finds done already, or changed since it was seen. */
  readonly object?: (action: ActionOf<K>) => string;
  readonly disrupts: Disruption;
  /** It runs together with its neighbours of a pass that concern other machines. */
  readonly goesTogether?: true;
  /** What has to stand in the record before it is sent. */
  readonly intent?: IntentKind | "Bootstrap" | "Configure";
  readonly retry?: Retry;
  /** Asked first, before anything is dialled. */
  readonly before?: Checks<Sending<ActionOf<K>>>;
  /** Asked with lease and record. */
  readonly record?: Written<ActionOf<K>>;
  carryOut(sending: Sending<ActionOf<K>>, definition: EffectDefinition<K>): Promise<void> | void;
  /** What it would do, in words; `undefined` = looking is no step of a plan. */
  step(action: ActionOf<K>, seen: Observed): StepWords | undefined;
  /** What would be seen after it, when it goes as it should; `undefined` where nobody can say without looking. Pure. */
  afterwards(seen: Observed, action: ActionOf<K>): Observed | undefined;
}

/** Defines an effect: everything that is known of it, in one place. */
export function defineEffect<K extends EffectKind, const D extends EffectDefinition<K>>(kind: K, definition: D): D & { readonly kind: K } {
  return { ...definition, kind };
}

/**
 * An effect about which its checks can be asked.
 *
 * @param more what else they are told
 * @param answers to what was asked before
 */
export function sendingOf<S extends Sending>(
  action: S["action"],
  effects: Effects,
  more: Omit<S, keyof Sending>,
  answers = new Map<unknown, unknown>(),
): S {
  const ask = (question: (sending: unknown) => unknown): unknown => {
    if (!answers.has(question)) answers.set(question, question(sending));
    return answers.get(question);
  };
  const sending = { ...more, action, effects, answers, ask };
  return sending as unknown as S;
}

/** Asks all in their order. @returns name of the check that leaves the effect for a later pass; `undefined` = none. @throws EffectError of the first that does not hold */
export async function askAll<S>(checks: Checks<S> | undefined, sending: S): Promise<string | undefined> {
  for (const [name, check] of Object.entries(checks ?? {})) if ((await check(sending)) === "not-now") return name;
  return undefined;
}

/** The same checks, where `applies`. */
export function where<S, C extends string>(
  applies: (sending: S) => boolean,
  checks: Readonly<Record<C, Check<S>>>,
): Readonly<Record<C, Check<S>>> {
  const entries = Object.entries<Check<S>>(checks);
  return Object.fromEntries(
    entries.map(([name, check]) => [name, (sending: S) => (applies(sending) ? check(sending) : undefined)]),
  ) as unknown as Readonly<Record<C, Check<S>>>;
}

/** True when the record says at the last moment what the effect was decided on. */
export function recordHolds<A>(written: Written<A> | undefined, facts: ClusterFacts, action: A): boolean {
  return Object.values(written ?? {}).every((holds) => holds(facts, action));
}

/** Key in `Observed.sent` of what came of an effect. @param whom machine or member; absent where it concerns the whole cluster */
export function rememberedAs({ retry: { word } }: { readonly retry: Retry }, whom?: string): string {
  return whom === undefined ? word : `${word}/${whom}`;
}

/** Milliseconds until the effect may be asked for again; 0 = now. @param pauseMs default: those of the effect */
export function pauseLeftMs(
  { sent, now }: Pick<Observed, "sent" | "now">,
  effect: { readonly retry: Retry },
  whom?: string,
  pauseMs: Retry["pauseMs"] = effect.retry.pauseMs,
): number {
  const last = sent.get(rememberedAs(effect, whom));
  return last === undefined ? 0 : Math.max(0, pauseMs[last.outcome] - elapsedMs(last.at, now));
}

/** The one answer to "may this be asked for again?", by what came of it last. */
export function mayAskAgain(...args: Parameters<typeof pauseLeftMs>): boolean {
  return pauseLeftMs(...args) === 0;
}

/** The same pause, whatever came of it. */
export function always(ms: number): Retry["pauseMs"] {
  return { answered: ms, refused: ms, unknown: ms };
}

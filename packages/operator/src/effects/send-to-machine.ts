import type { CallOptions, TalosClient } from "@talos-operator/talos/client";
import type { ActionOf, EffectKind } from "../model/effect.ts";
import type { MachineName } from "../model/machine.ts";
import type { KnownAtSend } from "../model/observation.ts";
import { asAdmin } from "./admin.ts";
import { attempt } from "./attempt.ts";
import type { Ending } from "./attempt.ts";
import { askAll, defineEffect, recordHolds, rememberedAs, sendingOf } from "./define.ts";
import type { Check, Checks, EffectDefinition, Retry, Sending } from "./define.ts";
import { unpaused } from "./demand-unpaused.ts";

/** An effect on its way, on the connection of its send. */
export interface Connected<A = unknown> extends Sending<A> {
  readonly client: TalosClient;
  ask<T>(question: (connected: Connected<A>) => T): T;
}

/** Asked with the time until the call has arrived, or never does. */
type Late<A> = (connected: Connected<A>, timeoutMs: number) => void;

/**
 * An effect that is one call to a machine.
 *
 * ```
 * before ── dial the machine itself ── checks, on that connection ── lease ∧ record ∧ beside ── late ── send, with a deadline below what is left of the lease
 * ```
 */
export interface SendDefinition<K extends EffectKind = EffectKind> extends Omit<EffectDefinition<K>, "at" | "carryOut" | "retry"> {
  readonly retry: Retry;
  /** Machine or member under which it is remembered; absent = the whole cluster. */
  readonly whom?: (action: ActionOf<K>) => string;
  /** The machine that is dialled. */
  readonly address: (action: ActionOf<K>) => string;
  /** Default: with an `os:admin` certificate, which proves whom it reaches. */
  readonly dial?: (sending: Sending<ActionOf<K>>, use: (client: TalosClient) => Promise<void>) => Promise<void>;
  readonly checks: Checks<Connected<ActionOf<K>>>;
  /** Asked at the same time as lease and record. */
  readonly beside?: Readonly<Record<string, Check<Connected<ActionOf<K>>>>>;
  readonly late?: Readonly<Record<string, Late<ActionOf<K>>>>;
  /** A call that goes first, after a last look of its own. */
  readonly first?: (connected: Connected<ActionOf<K>>) => ((options: CallOptions) => Promise<unknown>) | undefined;
  /** In the log, before: `Resetting machine`. */
  readonly doing: string;
  send(connected: Connected<ActionOf<K>>, options: CallOptions): Promise<unknown>;
  /** What is remembered with the send. */
  readonly known?: (connected: Connected<ActionOf<K>>) => KnownAtSend | Promise<KnownAtSend>;
  /** When the machine took it. */
  readonly taken?: (connected: Connected<ActionOf<K>>) => void;
  /** However the attempt ended. */
  readonly ended?: (ending: Ending, sending: Sending<ActionOf<K>>) => void;
  /** Whatever happened. @param notNow the check that left it for later */
  readonly lastly?: (sending: Sending<ActionOf<K>>, notNow: string | undefined) => void;
}

/** What most of them share: asked of the machine that they are about, unless that is paused, and remembered under its name. */
export const toMachine = {
  machine: ({ machine }: AtMachine) => machine,
  whom: ({ machine }: AtMachine) => machine,
  address: ({ address }: AtMachine) => address,
  before: { unpaused },
} as const;

interface AtMachine {
  readonly machine: MachineName;
  readonly address: string;
}

/** Defines an effect that is one call to a machine. */
export function defineSend<K extends EffectKind, const D extends SendDefinition<K>>(kind: K, definition: D) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const carryOut: EffectDefinition<K>["carryOut"] = (sending, own) =>
    sendToMachine(sending, own as unknown as SendDefinition<K> & { kind: K });
  return defineEffect<K, D & Pick<EffectDefinition<K>, "carryOut"> & { readonly at: "machine" }>(kind, {
    ...definition,
    at: "machine",
    carryOut,
  });
}

/** The order of every effect on a machine; see {@link SendDefinition}. */
async function sendToMachine<K extends EffectKind>(
  sending: Sending<ActionOf<K>>,
  definition: SendDefinition<K> & { readonly kind: K },
): Promise<void> {
  const { action, effects } = sending;
  const { kind, retry, whom, address, dial, checks } = definition;
  const { log } = effects;
  const about = { action: kind, machine: definition.machine?.(action), endpoint: address(action) };
  const dialled = dial ?? ((_sending, use) => asAdmin(address(action), effects, use));
  let notNow: string | undefined;
  try {
    const ending = await attempt(rememberedAs({ retry }, whom?.(action)), retry.refusals, effects, (send) =>
      dialled(sending, async (client) => {
        const connected = sendingOf<Connected<ActionOf<K>>>(action, effects, { client }, sending.answers);
        notNow = await askAll(checks, connected);
        if (notNow !== undefined) return;
        const first = definition.first?.(connected);
        if (first !== undefined) {
          const options = await lastLook(connected, definition);
          await effects.letEnd(() => first(options));
        }
        const known = await definition.known?.(connected);
        const options = await lastLook(connected, definition);
        log.info(about, definition.doing);
        await send(() => definition.send(connected, options), known);
        log.info(about, "The machine took it");
        definition.taken?.(connected);
      }),
    );
    definition.ended?.(ending, sending);
  } finally {
    definition.lastly?.(sending, notNow);
  }
}

/** Lease and record, what is asked beside them, and whether there is time left. @returns how the call is to be made */
async function lastLook<K extends EffectKind>(
  connected: Connected<ActionOf<K>>,
  { record, beside, late }: SendDefinition<K>,
): Promise<CallOptions> {
  const { action, effects } = connected;
  const [timeoutMs] = await Promise.all([effects.guard.check((facts) => recordHolds(record, facts, action)), askAll(beside, connected)]);
  for (const check of Object.values(late ?? {})) check(connected, timeoutMs);
  return { timeoutMs, signal: effects.signal };
}

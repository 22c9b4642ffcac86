import { isConfigError } from "@talos-operator/talos";
import { isTalosError, TalosError } from "@talos-operator/talos/client";
import type { TalosClient } from "@talos-operator/talos/client";
import { routeOf } from "../../../config/compare.ts";
import { EffectError, isEffectError } from "../../../errors.ts";
import { LOOK_TIMEOUT_MS } from "../../../looking/look-at.ts";
import { configQuestion } from "../config-questions.ts";
import { TRY_MS } from "../config-intents.ts";
import { howBefore } from "../config-probe.ts";
import type { Effects } from "../execute.ts";
import { intentOn } from "../facts.ts";
import type { Action } from "../model.ts";
import { readConfig } from "../read-config.ts";
import type { ConfigQuestion, ConfigReading } from "../read-config.ts";
import { asAdmin } from "./admin.ts";
import { demandMachine } from "./demand-machine.ts";
import { demandQuorum } from "./demand-quorum.ts";

type Apply = Extract<Action, { readonly kind: "ApplyConfig" }>;
type Keep = Extract<Action, { readonly kind: "KeepConfig" }>;

/**
 * Sends a running machine the configuration that its settings ask for, in the mode of the intent that stands in the record.
 *
 * On the connection of the send: the machine is the one that was written down, its configuration is the one that the decision was made on, and the change is
 * still of the kind that the mode is for. A trial is sent once; if its reply is lost, what the machine runs when the trial is over tells.
 */
export async function applyConfig(action: Apply, effects: Effects): Promise<void> {
  await sending("ApplyConfig", action, effects, async (client) => {
    const { wanted, seen, question } = await readNow(client, action, effects);
    if (seen.activeHash !== action.ifActiveHash) throw new EffectError("PRECONDITION_GONE", "its configuration changed meanwhile");
    const route = routeOf(seen.changes);
    const fits = { try: route === "guarded", staged: route === "reboot", "no-reboot": route === "none" }[action.mode];
    if (!fits) throw new EffectError("PRECONDITION_GONE", "another kind of change is needed by now");
    // What is tried may stop its etcd for a while; what only the disk takes disturbs nobody.
    if (action.mode === "try" && question.input.role === "controlplane")
      await demandQuorum({ machine: action.machine, how: "is-down" }, effects);
    const timeoutMs = await effects.guard.check((facts) => {
      const intent = intentOn(facts, action.machine, "ApplyConfig");
      return intent?.configHash === action.settings && intent.applyMode === action.mode && intent.uuid === action.ifUuid;
    });
    note(effects, "ApplyConfig", action.machine, "unknown");
    await client.applyConfiguration(
      { config: wanted, mode: action.mode, ...(action.mode === "try" ? { tryTimeoutMs: TRY_MS } : {}) },
      { timeoutMs, signal: effects.signal },
    );
    note(effects, "ApplyConfig", action.machine, "answered");
  });
}

/** Tells a machine to keep the configuration that it tries: the same text, without a time. May be repeated. */
export async function keepConfig(action: Keep, effects: Effects): Promise<void> {
  await sending("KeepConfig", action, effects, async (client) => {
    const { wanted, seen } = await readNow(client, action, effects);
    if (seen.activeHash !== action.ifActiveHash || seen.changes.length > 0)
      throw new EffectError("PRECONDITION_GONE", "it does not run the tried configuration any more");
    const timeoutMs = await effects.guard.check((facts) => {
      const intent = intentOn(facts, action.machine, "ApplyConfig");
      return intent?.configHash === action.settings && intent.applyMode === "try" && intent.uuid === action.ifUuid;
    });
    note(effects, "KeepConfig", action.machine, "unknown");
    await client.applyConfiguration({ config: wanted, mode: "no-reboot" }, { timeoutMs, signal: effects.signal });
    note(effects, "KeepConfig", action.machine, "answered");
  });
}

/** Keeps what is known about how the machine was before with what is sent to it. */
export function note(effects: Effects, effect: string, machine: string, outcome: "unknown" | "answered"): void {
  const before = effects.seen.machines.find((one) => one.declared.name === machine);
  effects.session.noteSent(`${effect}/${machine}`, outcome, howBefore(before));
}

async function readNow(
  client: TalosClient,
  action: Apply | Keep,
  effects: Effects,
): Promise<ConfigReading & { readonly question: ConfigQuestion }> {
  const { seen, clock, signal } = effects;
  const machine = seen.machines.find((one) => one.declared.name === action.machine);
  const question = machine === undefined ? undefined : configQuestion(machine, seen.machines, seen.controlPlane, effects.facts());
  if (question === undefined || question.settings !== action.settings)
    throw new EffectError("PRECONDITION_GONE", "it is not declared with these settings any more");
  const options = { timeoutMs: LOOK_TIMEOUT_MS, signal };
  await demandMachine(client, action.machine, question.uuid, signal, effects.facts());
  return { ...(await readConfig(client, question, await effects.bundle(), () => clock.now(), options)), question };
}

/** The part that all effects on a running machine's configuration share: connection, words, and what is remembered of a failure. */
export async function sending(
  effect: "ApplyConfig" | "KeepConfig" | "Reboot" | "WriteMeta",
  action: { readonly machine: string; readonly address: string },
  effects: Effects,
  use: (client: TalosClient) => Promise<void>,
): Promise<void> {
  const { session, log } = effects;
  const key = `${effect}/${action.machine}`;
  const before = session.sent().get(key);
  try {
    log.info({ action: effect, machine: action.machine, endpoint: action.address }, "Sending to a running machine");
    await asAdmin(action.address, effects, use);
    log.info({ action: effect, machine: action.machine }, "Sent to a running machine");
  } catch (thrown) {
    // What a machine says to a question before it is no answer to what was never sent.
    const wasSent = session.sent().get(key) !== before;
    if (wasSent && isTalosError(thrown, "INVALID_ARGUMENT", "NODE_FAILED", "UNIMPLEMENTED", "PERMISSION_DENIED")) {
      // The machine's own words, without anything it may have quoted from the config.
      const words = thrown.nodeText.slice(0, 300);
      session.noteSent(key, "refused", words);
      effects.event(effects.seen.controlPlane, "Warning", "ConfigApplyFailed", effect, `${action.machine} refused: ${words}`);
      return;
    }
    if (!(thrown instanceof TalosError) && !isConfigError(thrown) && !isEffectError(thrown, "PRECONDITION_GONE")) throw thrown;
    const isTurnedAway = wasSent && isTalosError(thrown, "FAILED_PRECONDITION");
    if (isTurnedAway) session.forgetSent(key);
    // Not even asked, or turned away: the intent may be closed without waiting for an end that never comes.
    if (isTurnedAway || !wasSent)
      session.noteSent(`HeldBack/${action.machine}`, "unknown", isEffectError(thrown) ? thrown.detail : "it does not answer");
    log.debug({ action: effect, machine: action.machine, err: thrown.message }, "Not known to have arrived; looking again");
  } finally {
    session.configs.forget(action.machine);
    session.nudge(action.machine);
  }
}

import type { TalosClient, TalosErrorCode } from "@talos-operator/talos/client";
import { routeOf } from "../../../config/compare.ts";
import { EffectError, isEffectError } from "../../../errors.ts";
import { LOOK_TIMEOUT_MS } from "../../../looking/look-at.ts";
import { configQuestion } from "../config-changes/config-questions.ts";
import { TRY_MS } from "../config-changes/config-intents.ts";
import { howBefore } from "../config-changes/config-probe.ts";
import { intentOn } from "../record/facts.ts";
import { readConfig } from "../config-changes/read-config.ts";
import type { ConfigQuestion, ConfigReading } from "../config-changes/read-config.ts";
import { asAdmin } from "./admin.ts";
import { attempt } from "./attempt.ts";
import type { Send } from "./attempt.ts";
import { demandInTime } from "./demand-in-time.ts";
import { demandMachine } from "./demand-machine.ts";
import { demandQuorum } from "./demand-quorum.ts";
import type { Action } from "../../../model/effect.ts";
import type { KnownAtSend } from "../../../model/observation.ts";
import type { Effects } from "./ports.ts";

type Apply = Extract<Action, { readonly kind: "ApplyConfig" }>;
type Keep = Extract<Action, { readonly kind: "KeepConfig" }>;

/** `FAILED_PRECONDITION`: it is not in a state to take anything now, and is asked again. */
const REFUSALS: readonly TalosErrorCode[] = [
  "INVALID_ARGUMENT",
  "NODE_FAILED",
  "UNIMPLEMENTED",
  "PERMISSION_DENIED",
  "FAILED_PRECONDITION",
];

/**
 * Sends a running machine the configuration that its settings ask for, in the mode of the intent that stands in the record.
 *
 * On the connection of the send: the machine is the one that was written down, its configuration is the one that the decision was made on, and the change is
 * still of the kind that the mode is for. A trial is sent once; if its reply is lost, what the machine runs when the trial is over tells.
 */
export async function applyConfig(action: Apply, effects: Effects): Promise<void> {
  await sending("ApplyConfig", action, effects, async (client, send) => {
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
    demandInTime(action.machine, "ApplyConfig", timeoutMs, effects);
    const request = { config: wanted, mode: action.mode, ...(action.mode === "try" ? { tryTimeoutMs: TRY_MS } : {}) };
    const known = { ...howNow(action, effects), ranBefore: seen.activeHash };
    await send(() => client.applyConfiguration(request, { timeoutMs, signal: effects.signal }), known);
  });
}

/** Tells a machine to keep the configuration that it tries: the same text, without a time. May be repeated. */
export async function keepConfig(action: Keep, effects: Effects): Promise<void> {
  await sending("KeepConfig", action, effects, async (client, send) => {
    const { wanted, seen } = await readNow(client, action, effects);
    if (seen.activeHash !== action.ifActiveHash || seen.changes.length > 0)
      throw new EffectError("PRECONDITION_GONE", "it does not run the tried configuration any more");
    const timeoutMs = await effects.guard.check((facts) => {
      const intent = intentOn(facts, action.machine, "ApplyConfig");
      return intent?.configHash === action.settings && intent.applyMode === "try" && intent.uuid === action.ifUuid;
    });
    const request = { config: wanted, mode: "no-reboot" } as const;
    await send(() => client.applyConfiguration(request, { timeoutMs, signal: effects.signal }), howNow(action, effects));
  });
}

/** How the machine is before something is sent to it: kept with the note of that. */
export function howNow(action: { readonly machine: string }, { seen }: Effects): KnownAtSend {
  return { before: howBefore(seen.machines.find((one) => one.declared.name === action.machine)) };
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
  use: (client: TalosClient, send: Send) => Promise<void>,
): Promise<void> {
  const { session, seen, log } = effects;
  const { machine } = action;
  const key = `${effect}/${machine}`;
  // The intent may be closed without waiting for an end that never comes.
  const holdBack = (why: string): void => session.noteHeldBack(machine, why);
  try {
    log.info({ action: effect, machine, endpoint: action.address }, "Sending to a running machine");
    const ending = await attempt(key, REFUSALS, effects, (send) => asAdmin(action.address, effects, (client) => use(client, send)));
    switch (ending.kind) {
      case "over":
        log.info({ action: effect, machine }, "Sent to a running machine");
        return;
      case "not-sent":
        holdBack(isEffectError(ending.error) ? ending.error.detail : "it does not answer");
        return;
      case "refused":
        if (ending.code === "FAILED_PRECONDITION") {
          session.forgetSent(key);
          holdBack(`it takes nothing now (${ending.words})`);
        } else effects.event(seen.controlPlane, "ConfigApplyFailed", effect, `${machine} refused: ${ending.words}`);
        return;
      case "lost":
        return;
    }
  } finally {
    session.configs.forget(machine);
    if (effect !== "KeepConfig") session.soaks.begin(machine);
    session.nudge(machine);
  }
}

import { annotations } from "@talos-operator/api";
import { forSpace } from "./larger-quota.ts";
import { routeOfState } from "./plan.ts";
import { ARRIVES_MS, META_MS, REBOOT_MS, TRY_MS } from "./config-intents.ts";
import { pathsOf } from "./config-words.ts";
import { FactsDraft } from "../../record/facts-draft.ts";
import { machineFact, withDecisions, withMachine } from "../../record/facts.ts";
import { intentsThatFit } from "../../record/room.ts";
import { withMembers } from "../remove/rule.ts";
import type { ClusterFacts, IntentFact } from "../../model/record.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed } from "../../model/observation.ts";
import type { Rule } from "../../model/decision.ts";
import type { ConfigPlan } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/**
 * Rolls out changed settings: what is in force at once is tried, looked at from outside and then kept; what needs a boot is staged, and the machine booted.
 *
 * Each effect is written down before it is sent. What was read and needs no effect is written down here too.
 */
export const changeConfig: Rule = {
  name: "changeConfig",
  decide(assessed) {
    const { seen } = assessed;
    if (seen.record.kind !== "present") return undefined;
    const { facts, resourceVersion } = seen.record.value;
    const plans = assessed.configs;
    const write = (next: ClusterFacts, why: string): Action => ({
      kind: "WriteRecord",
      ifResourceVersion: resourceVersion,
      facts: next,
      why,
    });
    const retry = retried(seen, facts, plans);
    if (retry !== undefined) return { actions: [write(retry.facts, "ConfigRetry"), retry.answer] };
    const learned = learn(seen, facts, plans);
    // Machines are read together, and what was read is written down together, before anything is sent because of it.
    if (learned !== facts)
      return seen.isReadingConfigs === true ? undefined : { actions: [write(withMembers(learned, assessed), "ConfigLearned")] };
    const { rollout } = assessed;
    if (rollout === undefined) return undefined;
    if (rollout.next.length === 0 && rollout.actions.length === 0) return undefined;
    const begun = thoseThatFit(
      facts,
      rollout.next.flatMap((plan) => begin(assessed, plan) ?? []),
    );
    const draft = new FactsDraft(facts);
    for (const { intent, reason } of begun) {
      draft.open(intent);
      draft.decide({ at: seen.now, action: intent.what, reason, machine: intent.machine, message: intent.why });
    }
    const next = draft.facts();
    return {
      actions: [...(begun.length === 0 ? [] : [write(next, "ConfigIntent")]), ...rollout.actions, ...begun.map(({ action }) => action)],
    };
  },
};

/** No settings have this hash: whatever is wanted is sent. */
const NOT_APPLIED = "none";

/** A person's word that settings are sent once more: those that failed on a machine, or those that count as applied and that it runs otherwise. */
function retried(
  seen: Observed,
  facts: ClusterFacts,
  plans: readonly ConfigPlan[],
): { readonly facts: ClusterFacts; readonly answer: Action } | undefined {
  const value = seen.controlPlane.metadata.annotations?.[annotations.retryConfig];
  const fact = value === undefined ? undefined : machineFact(facts, value);
  if (value === undefined || fact === undefined) return undefined;
  const state = plans.find(({ machine }) => machine.declared.name === value)?.state;
  const isOtherwise = state?.kind === "settled" && state.otherwise.length > 0;
  if (fact.failed === undefined && !isOtherwise) return undefined;
  const { failed: _failed, staged: _staged, ...rest } = fact;
  const what = isOtherwise ? `The settings that ${value} runs otherwise` : `The settings that failed on ${value}`;
  const answer = `${what} are sent${isOtherwise ? "" : " once more"}, as ${annotations.retryConfig} asked; the annotation acts once and is removed.`;
  return {
    facts: withDecisions(withMachine(facts, isOtherwise ? { ...rest, configHash: NOT_APPLIED } : rest), {
      at: seen.now,
      action: "Retry",
      reason: "AskedByPerson",
      machine: value,
      message: answer,
    }),
    answer: { kind: "AnswerAnnotation", annotation: annotations.retryConfig, value, answer },
  };
}

function learn(seen: Observed, facts: ClusterFacts, plans: readonly ConfigPlan[]): ClusterFacts {
  const draft = new FactsDraft(facts);
  for (const { state, machine } of plans) {
    if (state.kind !== "learn") continue;
    draft.put(state.next);
    // The first reading of a configuration that the operator sent is no news.
    if (state.next.configHash !== undefined && state.next.failed !== undefined)
      draft.decide({ at: seen.now, action: "Learn", reason: "ConfigRead", machine: machine.declared.name, message: state.why });
  }
  return draft.facts();
}

/** As many as can be written down; the others follow. */
function thoseThatFit(facts: ClusterFacts, begun: readonly Begun[]): readonly Begun[] {
  const [first] = begun;
  return first === undefined || begun.length === 1 ? begun : begun.slice(0, Math.max(1, intentsThatFit(facts, first.intent)));
}

interface Begun {
  readonly intent: IntentFact;
  readonly reason: string;
  readonly action: Action;
}

function begin(assessed: Assessment, { machine, fact, settings, state }: ConfigPlan): Begun | undefined {
  const { seen } = assessed;
  const { name, role, address } = machine.declared;
  const common = { machine: name, address, uuid: fact.uuid, role, at: seen.now, configHash: settings };
  const target = { machine: name, address, ifUuid: fact.uuid };
  if (state.kind === "staged")
    return {
      intent: {
        ...common,
        what: "Reboot",
        deadline: seen.now + REBOOT_MS,
        bootIdBefore: state.config.bootId,
        why: "The staged configuration needs a boot.",
      },
      reason: "StagedConfig",
      action: { kind: "RebootMachine", ...target, role, ifBootId: state.config.bootId, ...forSpace(assessed, state.config) },
    };
  const route = routeOfState(state);
  if (route === undefined || (state.kind !== "change" && state.kind !== "drifted")) return undefined;
  const { config } = state;
  if (route === "meta") {
    const wanted = config.meta?.wanted ?? "";
    return {
      intent: {
        ...common,
        what: "WriteMeta",
        configHash: wanted,
        deadline: seen.now + ARRIVES_MS + META_MS,
        bootIdBefore: config.bootId,
        why: `${state.kind === "drifted" ? "Somebody else changed" : "The spec changed"} the static network settings in META.`,
      },
      reason: state.kind === "drifted" ? "Drift" : "SettingsChanged",
      action: { kind: "WriteMeta", ...target, role, settings: wanted, ifLive: config.meta?.live ?? "" },
    };
  }
  const space = config.firstPart === undefined ? {} : forSpace(assessed, config);
  const mode = route === "reboot" || space.isForSpace === true ? "staged" : route === "guarded" ? "try" : "no-reboot";
  return {
    intent: {
      ...common,
      what: "ApplyConfig",
      deadline: seen.now + ARRIVES_MS + (mode === "try" ? TRY_MS : 0),
      bootIdBefore: config.bootId,
      applyMode: mode,
      why: `${state.kind === "drifted" ? "Somebody else changed it" : "The settings changed"}: ${pathsOf(mode === "try" ? (config.firstPart ?? config.changes) : config.changes)}.`,
    },
    reason: state.kind === "drifted" ? "Drift" : "SettingsChanged",
    action: { kind: "ApplyConfig", ...target, mode, settings, ifActiveHash: config.activeHash, ...space },
  };
}

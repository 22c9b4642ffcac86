import type { Action } from "@talos-operator/operator/testing";
import { addressOf, hasQuorum, indexOf, nameOf, type State } from "./state.ts";

/**
 * What must never be in any state that can be reached: S1 founded once; S10 a cluster that nobody but the operator touched keeps its quorum; S11 one
 * control plane at a time.
 *
 * @param before the state before, when the step between was nobody's death
 */
export function brokenIn(state: State, before: State): string | undefined {
  if (state.foundings > 1) return `S1: etcd was bootstrapped ${state.foundings} times`;
  const isDeath = state.mayDie < before.mayDie;
  if (!isDeath && before.etcd !== undefined && hasQuorum(before) && !hasQuorum(state)) return "S10: etcd lost its quorum and nobody died";
  const wiping = state.machines.filter(({ stage }) => stage === "wiping").length;
  if (wiping > 1) return `S11: ${wiping} control planes are being wiped at once`;
  if (state.facts.intents.length > 1) return "S11: the record holds two open intents on control planes";
  return undefined;
}

/** What must never be sent: S2, S3, S12, S19, S20. */
export function brokenBy(action: Action, state: State): string | undefined {
  switch (action.kind) {
    case "BootstrapEtcd": {
      const holder = state.machines.findIndex(({ member }, index) => member !== undefined && addressOf(index) !== action.address);
      if (holder >= 0) return `S2: Bootstrap goes to ${action.address} while ${addressOf(holder)} holds etcd data`;
      const hidden = state.machines.findIndex(({ stage, isConfigured }) => isConfigured && stage !== "up" && stage !== "waiting");
      if (hidden >= 0) return `S2: Bootstrap goes to ${action.address} while ${addressOf(hidden)} is out of sight`;
      return state.facts.bootstrapIntent?.address === action.address ? undefined : "S3: Bootstrap goes to another than the recorded";
    }
    case "ResetMachine":
      return state.listed.some((index) => nameOf(index) === action.machine) ? `S19: ${action.machine} is wiped and is listed` : undefined;
    case "RemoveMember": {
      const owner = state.machines.findIndex(({ member, stage }) => member === action.memberId && stage !== "dead");
      return owner >= 0 && state.listed.includes(owner) ? `S12: the member of ${nameOf(owner)} is removed, which is listed` : undefined;
    }
    case "ConfigureMachine": {
      const index = indexOf(action.machine.address);
      const fact = state.facts.machines.find(({ name }) => name === action.machine.name);
      if (fact?.spki !== action.ifSpki) return `S20: a configuration goes to ${addressOf(index)} before its key was written down`;
      return undefined;
    }
    default:
      return undefined;
  }
}

import { silentForMs } from "../looking/look.ts";
import { isComingUp, stageWords } from "../looking/stage-words.ts";
import { listed } from "../report/listed.ts";
import { COMES_BACK_MS } from "../observe/reported-machines.ts";
import { intentOn, machineFact, mayHoldConfig } from "../record/facts.ts";
import type { Look, Running, UnmetCondition } from "../model/look.ts";
import type { SeenMachine } from "../model/observation.ts";
import type { ClusterFacts, MachineFact } from "../model/record.ts";

/** True when the machine says that it runs and that nothing is unmet, and no other one reports the same Node. */
export function isReadyNode({ look }: SeenMachine): boolean {
  return look.kind === "running" && isReady(look) && look.sharesNode === undefined;
}

/** It says so of itself. */
export function isReady({ stage, ready, unmet }: Running): boolean {
  return stage === "running" && ready && unmet.length === 0;
}

/** That other machines report the same Node; `undefined` = none does. */
export function sharedNodeWords({ nodeName = "", sharesNode }: Running): string | undefined {
  if (sharesNode === undefined) return undefined;
  return `Node ${nodeName} is also reported by ${listed(sharesNode, ", ", 3)}`;
}

/** A short word for where a machine is, stable while nothing changes. */
export function stateOf({ look }: SeenMachine): string {
  switch (look.kind) {
    case "not-asked":
      return "not checked yet";
    case "silent":
      return look.detail;
    case "not-talos":
      return "not Talos";
    case "foreign":
      return look.isByTime === true ? "certificates refused for their dates" : "another identity";
    case "maintenance":
      return "in maintenance mode";
    case "running":
      return look.stage === undefined || look.stage === "running"
        ? look.etcd?.service === undefined
          ? "running"
          : `etcd ${look.etcd.service}`
        : look.stage;
  }
}

/** Who was sent a configuration installs and reboots with it: that it is silent meanwhile is no news. */
export function isInstalling(look: Look, fact: MachineFact | undefined): boolean {
  return installsForMs(look, fact) !== undefined;
}

/** How much longer the silence of a machine counts as its installation; `undefined` = it does not. No look tells that this is over. */
export function installsForMs(look: Look, fact: MachineFact | undefined): number | undefined {
  if (look.kind !== "silent" || look.stopped !== undefined || !mayHoldConfig(fact) || fact.appliedHash !== undefined) return undefined;
  const leftMs = COMES_BACK_MS - silentForMs(look);
  return leftMs > 0 ? leftMs : undefined;
}

/** Why a machine that comes up is not ready: with its first configuration, or for another boot. */
export function comingUpReason(fact: MachineFact | undefined): "Configuring" | "Booting" {
  return fact?.appliedHash === undefined ? "Configuring" : "Booting";
}

/** Which part of coming up a machine is in; `undefined` = it does not come up by itself. */
export function comingUpOf({ declared, look }: SeenMachine, facts: ClusterFacts): "Configuring" | "Booting" | undefined {
  const fact = machineFact(facts, declared.name);
  if (look.kind === "running") return isComingUp(look) ? comingUpReason(fact) : undefined;
  const open = intentOn(facts, declared.name);
  if (open === undefined) return isInstalling(look, fact) ? "Configuring" : undefined;
  return look.kind === "silent" && open.what === "Reboot" ? "Booting" : undefined;
}

/** What keeps a machine from being a ready node. */
export function unmetOf(machine: SeenMachine, fact: MachineFact | undefined): string {
  const { look } = machine;
  if (isInstalling(look, fact)) return "rebooting after install";
  if (look.kind !== "running") return stateOf(machine);
  const shared = sharedNodeWords(look);
  if (shared !== undefined) return shared;
  if (look.unmet.length > 0) return unmetWords(look.unmet);
  return look.stage === "running" ? "not ready" : stageWords(look.stage);
}

/** Conditions that keep a machine from being ready, each with its own reason. */
export function unmetWords(unmet: readonly UnmetCondition[]): string {
  return unmet.map(({ name, reason }) => (reason === "" ? name : `${name} (${reason})`)).join(", ");
}

/** Machines by name, for sentences. */
export function names(machines: readonly SeenMachine[]): string {
  return listed(machines.map((machine) => machine.declared.name));
}

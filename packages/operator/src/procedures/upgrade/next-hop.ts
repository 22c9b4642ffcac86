import type { TalosHop } from "@talos-operator/talos";
import { onceFor } from "../../assess/once.ts";
import { upgradePlanOf } from "../../planning/upgrade-plan.ts";
import { quarantineOf } from "../../record/upgrades.ts";
import { awaitedNetwork } from "../../report/awaited-network.ts";
import { mayHoldConfig } from "../../record/facts.ts";
import { classWords, failedHere, failedWords, quarantineRelease } from "./quarantine.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { ClusterFacts, QuarantineFact } from "../../model/record.ts";

/** What is to be done next about another Talos. */
export type NextHop =
  | { readonly kind: "none" }
  | { readonly kind: "hop"; readonly hop: TalosHop }
  /** A person is needed; a sentence. */
  | { readonly kind: "stopped"; readonly why: string; readonly isQuarantined: boolean }
  /** Something is waited for; without a full stop. */
  | { readonly kind: "held"; readonly why: string };

/** The first hop of the plan, and what stands in its way as a whole. */
export function nextHop(assessed: Assessment, facts: ClusterFacts): NextHop {
  return hopOf(assessed)(facts);
}

/** Nothing is left to do, unless the last machine failed and stays as it is. */
function stuckOn({ machines }: Assessment, facts: ClusterFacts): NextHop {
  const [row] = machines.flatMap((machine) => failedHere(facts, machine) ?? []);
  if (row === undefined) return { kind: "none" };
  const what = row.schematic === undefined ? "version" : "image";
  return {
    kind: "stopped",
    why: `${failedWords(row)} failed on ${row.machine}${classWords(row)}, which runs it: ${row.why} Repair or replace ${row.machine}, or ask for another ${what}.`,
    isQuarantined: true,
  };
}

/** What became of the machine that a Talos failed on, where it was rolled back. */
function backWords({ byName }: Assessment, { decisions }: ClusterFacts, { machine, at }: QuarantineFact): string {
  const look = byName.get(machine)?.look;
  const isBack = decisions.some((one) => one.reason === "RolledBack" && one.machine === machine && one.at >= at);
  return isBack && look?.kind === "running" && look.version !== undefined ? `, which was rolled back to ${look.version}` : "";
}

/** Asked several times in a pass. */
const hopOf = onceFor((assessed: Assessment) => onceFor((facts: ClusterFacts) => findHop(assessed, facts)));

function findHop(assessed: Assessment, facts: ClusterFacts): NextHop {
  const { seen } = assessed;
  if (facts.bootstrapDone === undefined || seen.controlPlane.metadata.deletionTimestamp !== undefined) return { kind: "none" };
  const plan = upgradePlanOf(seen);
  if (plan.kind === "settled") return stuckOn(assessed, facts);
  // The condition tells the refusals beside the versions.
  if (plan.kind === "none") return { kind: "stopped", why: "", isQuarantined: false };
  const [hop] = plan.hops;
  // What brings Kubernetes alone is no matter of machines.
  if (!plan.hops.some(({ kind }) => kind === "talos")) return { kind: "none" };
  if (plan.heldBy !== undefined || hop?.kind !== "talos")
    return {
      kind: "stopped",
      why: `The way there needs Kubernetes ${plan.heldBy?.version ?? ""} on it, and upgrades of Kubernetes are not carried out yet: nothing begins.`,
      isQuarantined: false,
    };
  const failed = hop.machines.flatMap(({ to }) => quarantineOf(facts, to)).at(-1);
  if (failed !== undefined)
    return {
      kind: "stopped",
      why: `Upgrade stopped: ${failedWords(failed)} failed on ${failed.machine}${classWords(failed)}${backWords(assessed, facts, failed)}. No other machine gets it. Cause: ${failed.why} ${quarantineRelease(failed)}`,
      isQuarantined: true,
    };
  // What shows that a machine is well with another Talos is not there, and the word that it may still go back stays for ever.
  const [awaited] = awaitedNetwork(seen, facts);
  if (awaited !== undefined)
    return {
      kind: "held",
      why: `Nothing begins while no Node can be Ready: which Talos works could not be determined. ${awaited.replace(/\.$/, "")}`,
    };
  const unheard = assessed.machines.find(
    ({ declared: { role }, look, isMember, fact }) =>
      role === "controlplane" && (isMember || mayHoldConfig(fact)) && !(look.kind === "running" && look.version !== undefined),
  );
  if (unheard !== undefined) return { kind: "held", why: `${unheard.declared.name} does not report which Talos it runs` };
  return { kind: "hop", hop };
}

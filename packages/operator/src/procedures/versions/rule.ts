import { supportsKubernetes } from "@talos-operator/talos";
import { isSupportedTalos } from "../../config/supported-versions.ts";
import { mayHoldConfig, machineFact } from "../../record/facts.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { Rule } from "../../model/decision.ts";

/**
 * Writes down the versions that run, once all control planes agree on others than were written down: somebody upgraded them by other means, and a control
 * plane that joins gets what runs.
 */
export const rememberVersions: Rule = {
  name: "rememberVersions",
  decide(assessed) {
    const { seen } = assessed;
    if (seen.record.kind !== "present") return undefined;
    const { facts, resourceVersion } = seen.record.value;
    const next = withVersions(facts, seen);
    if (next === facts) return undefined;
    return { actions: [{ kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: next, why: "VersionsKnown" }] };
  },
};

function withVersions(facts: ClusterFacts, seen: Observed): ClusterFacts {
  if (facts.bootstrapDone === undefined || facts.intents.length > 0) return facts;
  const controlPlanes = seen.machines.filter(
    ({ declared }) => declared.role === "controlplane" && mayHoldConfig(machineFact(facts, declared.name)),
  );
  const talos = agreed(controlPlanes, ({ look }) => (look.kind === "running" && look.stage === "running" ? look.version : undefined));
  const talosVersion = talos !== undefined && facts.talosVersion !== "" && isSupportedTalos(talos) ? talos : facts.talosVersion;
  const kubernetes = agreed(controlPlanes, ({ declared }) => {
    const config = seen.configs?.get(declared.name);
    return config?.kind === "known" ? config.kubernetes : undefined;
  });
  const isUsable = kubernetes !== undefined && facts.kubernetesVersion !== "" && supportsKubernetes(talosVersion, kubernetes).ok;
  const kubernetesVersion = isUsable ? kubernetes : facts.kubernetesVersion;
  return talosVersion === facts.talosVersion && kubernetesVersion === facts.kubernetesVersion
    ? facts
    : { ...facts, talosVersion, kubernetesVersion };
}

/** What every one of them tells alike; `undefined` where one tells nothing or something else. */
function agreed(machines: readonly SeenMachine[], told: (machine: SeenMachine) => string | undefined): string | undefined {
  const [first, ...others] = machines.map(told);
  return others.every((one) => one === first) ? first : undefined;
}

import { annotations } from "@talos-operator/api";
import { planUpgrade } from "@talos-operator/talos";
import type { UpgradeMachine, UpgradePlan } from "@talos-operator/talos";
import { factsOf } from "../record/facts.ts";
import type { Observed } from "../model/observation.ts";

/** Pools are told of one after the other, and one plan serves them all. */
const plans = new WeakMap<Observed, UpgradePlan>();

/** The hops from what the machines of a cluster run to what its pools ask for. Machines that nobody hears, and containers, are no part of it. */
export function upgradePlanOf(seen: Observed): UpgradePlan {
  const made = plans.get(seen) ?? planOf(seen);
  plans.set(seen, made);
  return made;
}

function planOf(seen: Observed): UpgradePlan {
  const { spec, metadata } = seen.controlPlane;
  const runs = factsOf(seen)?.kubernetesVersion ?? "";
  const allowDowngrade = metadata.annotations?.[annotations.allowDowngrade];
  return planUpgrade({
    machines: seen.machines.flatMap(({ declared: { name, role, version: asked }, look }): readonly UpgradeMachine[] =>
      look.kind === "running" && look.platform !== "container" && look.version !== undefined
        ? [{ name, role, runs: { version: look.version }, asked: { version: asked } }]
        : [],
    ),
    kubernetes: runs === "" ? undefined : { runs, asked: spec?.kubeVersion ?? runs },
    ...(allowDowngrade === undefined ? {} : { allowDowngrade }),
  });
}

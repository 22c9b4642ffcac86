import type { TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import type { MachinePlace } from "../../controllers/shared/machine-labels.ts";
import type { Look } from "../../model/look.ts";

/** What a machine shows besides its version. */
export function shownBy(
  machine: TalosMachine,
  look: Look,
): SeenBuild & { readonly nodeName: string | undefined; readonly stage: string | undefined } {
  return { nodeName: nodeNameOf(machine, look), stage: stageOf(look), ...buildOf(machine, look) };
}

/** Where a machine is in its boot, as it says; `undefined` = it does not say. */
function stageOf(look: Look): string | undefined {
  return look.kind === "running" ? look.stage : look.kind === "maintenance" ? "maintenance" : undefined;
}

/** Name of a machine's Kubernetes Node. That of a machine that does not answer now is the one that it had. */
function nodeNameOf({ status }: TalosMachine, look: Look): string | undefined {
  if (look.kind === "running") return look.nodeName ?? status?.nodeName;
  return look.kind === "silent" || look.kind === "not-asked" ? status?.nodeName : undefined;
}

interface SeenBuild {
  readonly observedSchematic: string | undefined;
  readonly observedExtensions: readonly string[] | undefined;
}

/** Schematic and extensions of the Talos that a machine runs. Those of a machine that does not answer now are the ones that it had. */
function buildOf({ status }: TalosMachine, look: Look): SeenBuild {
  if (look.kind === "running") return { observedSchematic: look.schematic, observedExtensions: look.extensions };
  if (look.kind !== "silent" && look.kind !== "not-asked") return { observedSchematic: undefined, observedExtensions: undefined };
  return { observedSchematic: status?.observedSchematic, observedExtensions: status?.observedExtensions };
}

/** To whom a machine belongs. @param pool the object that it refers to; `undefined` = it does not exist */
export function placeOf({ spec }: TalosMachine, pool: TalosControlPlane | TalosWorker | undefined): MachinePlace {
  const { controlPlaneRef, workerRef } = spec ?? {};
  if (controlPlaneRef?.name !== undefined) return { role: "controlplane", cluster: controlPlaneRef.name, pool: undefined };
  const cluster = pool?.kind === "TalosWorker" ? pool.spec?.controlPlaneRef?.name : undefined;
  return { role: workerRef?.name === undefined ? spec?.type : "worker", cluster, pool: workerRef?.name };
}

import type { TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import type { MachinePlace } from "../../controllers/shared/machine-labels.ts";
import type { Look } from "../../model/look.ts";

/** Where a machine is in its boot, as it says; `undefined` = it does not say. */
export function stageOf(look: Look): string | undefined {
  return look.kind === "running" ? look.stage : look.kind === "maintenance" ? "maintenance" : undefined;
}

/** Name of a machine's Kubernetes Node. That of a machine that does not answer now is the one that it had. */
export function nodeNameOf({ status }: TalosMachine, look: Look): string | undefined {
  if (look.kind === "running") return look.nodeName ?? status?.nodeName;
  return look.kind === "silent" || look.kind === "not-asked" ? status?.nodeName : undefined;
}

/** To whom a machine belongs. @param pool the object that it refers to; `undefined` = it does not exist */
export function placeOf({ spec }: TalosMachine, pool: TalosControlPlane | TalosWorker | undefined): MachinePlace {
  const { controlPlaneRef, workerRef } = spec ?? {};
  if (controlPlaneRef?.name !== undefined) return { role: "controlplane", cluster: controlPlaneRef.name, pool: undefined };
  const cluster = pool?.kind === "TalosWorker" ? pool.spec?.controlPlaneRef?.name : undefined;
  return { role: workerRef?.name === undefined ? spec?.type : "worker", cluster, pool: workerRef?.name };
}

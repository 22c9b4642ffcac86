import type { TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import type { Look } from "../../looking/look.ts";

/** To whom a machine belongs and where it is in its boot: for the columns of `kubectl get`. */
export interface MachineColumns {
  readonly role: "controlplane" | "worker" | undefined;
  /** Name of its TalosControlPlane. */
  readonly cluster: string | undefined;
  /** Name of its TalosWorker. */
  readonly pool: string | undefined;
  readonly stage: string | undefined;
}

/** @param pool the object that the machine refers to; `undefined` = it does not exist */
export function columnsOf({ spec }: TalosMachine, pool: TalosControlPlane | TalosWorker | undefined, look: Look): MachineColumns {
  const { controlPlaneRef, workerRef } = spec ?? {};
  const stage = look.kind === "running" ? look.stage : look.kind === "maintenance" ? "maintenance" : undefined;
  if (controlPlaneRef?.name !== undefined) return { role: "controlplane", cluster: controlPlaneRef.name, pool: undefined, stage };
  const cluster = pool?.kind === "TalosWorker" ? pool.spec?.controlPlaneRef?.name : undefined;
  return { role: workerRef?.name === undefined ? spec?.type : "worker", cluster, pool: workerRef?.name, stage };
}

import { conditionFor, findCondition } from "@talos-operator/api";
import type { TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { judgedStatus, pausedStatus } from "../../controllers/shared/kstatus.ts";
import { pausedCondition } from "../../controllers/shared/mode.ts";
import type { WantedStatus } from "../../controllers/shared/status-writer.ts";

/** The status of a pool of a running cluster that is to be taken over, and is not yet: its control plane says what is missing. */
export function waitingForImport(worker: TalosWorker, name: string, controlPlane: TalosControlPlane | undefined): WantedStatus {
  const { generation } = worker.metadata;
  const ready =
    controlPlane === undefined
      ? conditionFor("Ready", "ControlPlaneNotFound", notFound(name), generation)
      : conditionFor("Ready", "ImportPending", notTakenOver(name), generation);
  return judgedStatus(
    worker,
    { state: "Pending" },
    {
      conditions: [ready, conditionFor("Progressing", "Blocked", "See Ready.", generation), pausedCondition("import")],
      hasOpenEffect: false,
      parts: controlPlane === undefined ? [] : [controlPlane],
    },
  );
}

/** The status of a pool whose control plane is left alone, or is not taken over yet. */
export function heldStatus(worker: TalosWorker, controlPlane: TalosControlPlane): WantedStatus {
  const { name, generation } = { ...worker.metadata, name: controlPlane.metadata.name };
  const isImporting = findCondition(controlPlane.status?.conditions, "Imported")?.status === "False";
  const ready = isImporting
    ? conditionFor("Ready", "ImportPending", notTakenOver(name), generation)
    : conditionFor("Ready", "Paused", `TalosControlPlane ${name} is paused, and its pools with it. See its condition Paused.`, generation);
  // What was said before the pause stands, but that it goes on.
  const isTold = findCondition(worker.status?.conditions, "Ready") !== undefined;
  return pausedStatus(worker, isTold ? [] : [ready], ready.message);
}

/** What a pool says that names a control plane which does not exist. */
export function notFound(name: string): string {
  return name === ""
    ? "The pool names no TalosControlPlane. Set spec.controlPlaneRef.name."
    : `There is no TalosControlPlane ${name} in this namespace. Create it, or correct spec.controlPlaneRef.name.`;
}

function notTakenOver(name: string): string {
  return `TalosControlPlane ${name} is not taken over yet. See its condition Imported.`;
}

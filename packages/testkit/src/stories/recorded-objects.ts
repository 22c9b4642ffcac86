import type { Kstatus } from "@talos-operator/operator/testing";
import type { Conditioned } from "./story.ts";

/** What Argo CD shows of an object. */
export type ArgoHealth = "Healthy" | "Progressing" | "Degraded" | "Suspended";

/** An object as tools read it, without what no rule reads: the words of its conditions are their reasons. */
export interface RecordedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly generation: number; readonly deletionTimestamp?: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];
  };
}

/** One moment of a story: the objects, and what tools have to make of each, by kind. */
export interface RecordedState {
  readonly state: string;
  readonly objects: readonly RecordedObject[];
}

export const recordedStatesFile = new URL("../../testdata/gitops/objects.json", import.meta.url);

/** Objects as the stories of `gitops.test.ts` left them, from {@link recordedStatesFile}. Written again with `UPDATE_GOLDENS=1`. */
export function recordedStates(text: string): readonly RecordedState[] {
  return JSON.parse(text) as readonly RecordedState[];
}

export function recordedObject(object: Conditioned): RecordedObject {
  const { apiVersion, kind, metadata, status } = object as Conditioned & { readonly apiVersion: string; readonly kind: string };
  const { observedGeneration } = (status ?? {}) as { readonly observedGeneration?: number };
  const conditions = status?.conditions?.map(({ type, status: said, reason }) => ({ type, status: said, reason, message: `${reason}.` }));
  return {
    apiVersion,
    kind,
    metadata: {
      name: metadata?.name ?? "",
      generation: metadata?.generation ?? 0,
      ...(metadata?.deletionTimestamp === undefined ? {} : { deletionTimestamp: metadata.deletionTimestamp }),
    },
    ...(status === undefined
      ? {}
      : {
          status: {
            ...(observedGeneration === undefined ? {} : { observedGeneration }),
            ...(conditions === undefined ? {} : { conditions }),
          },
        }),
  };
}

/** What tools have to make of the objects in each state: kstatus, then Argo CD, by kind. */
export const wantedVerdicts: Readonly<Record<string, Readonly<Record<string, readonly [Kstatus, ArgoHealth]>>>> = {
  "nobody wrote a status": {
    TalosCluster: ["InProgress", "Progressing"],
    KubernetesCluster: ["Current", "Progressing"],
  },
  creating: {
    TalosCluster: ["InProgress", "Progressing"],
    TalosControlPlane: ["InProgress", "Progressing"],
    TalosWorker: ["InProgress", "Progressing"],
    TalosMachine: ["InProgress", "Progressing"],
  },
  finished: {
    TalosCluster: ["Current", "Healthy"],
    TalosControlPlane: ["Current", "Healthy"],
    TalosWorker: ["Current", "Healthy"],
    TalosMachine: ["Current", "Healthy"],
  },
  "settings are rolled out to the workers": {
    TalosCluster: ["InProgress", "Progressing"],
    TalosControlPlane: ["InProgress", "Progressing"],
    TalosWorker: ["InProgress", "Progressing"],
  },
  "paused in the middle of it": {
    TalosCluster: ["Failed", "Suspended"],
    TalosControlPlane: ["Failed", "Suspended"],
    TalosWorker: ["Failed", "Suspended"],
  },
  "paused when it was finished": {
    TalosCluster: ["Current", "Suspended"],
    TalosControlPlane: ["Current", "Suspended"],
    TalosWorker: ["Current", "Suspended"],
    TalosMachine: ["Current", "Healthy"],
  },
  "another version is asked for": {
    TalosCluster: ["Failed", "Degraded"],
    TalosControlPlane: ["Failed", "Degraded"],
    TalosWorker: ["Current", "Healthy"],
  },
  "a worker has no such disk": {
    TalosCluster: ["Failed", "Degraded"],
    TalosControlPlane: ["Failed", "Degraded"],
    TalosWorker: ["Failed", "Degraded"],
  },
  "being deleted": {
    TalosCluster: ["Terminating", "Progressing"],
    TalosControlPlane: ["Terminating", "Progressing"],
  },
  "an import waits for a person": {
    TalosControlPlane: ["Failed", "Degraded"],
    TalosWorker: ["Failed", "Degraded"],
  },
  imported: {
    TalosControlPlane: ["Current", "Healthy"],
    TalosWorker: ["Current", "Healthy"],
  },
  "a pool without a control plane": { TalosWorker: ["InProgress", "Progressing"] },
};

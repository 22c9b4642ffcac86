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

type Verdict = readonly [Kstatus, ArgoHealth];

const all = (verdict: Verdict, ...kinds: readonly string[]): Readonly<Record<string, Verdict>> =>
  Object.fromEntries(kinds.map((kind) => [kind, verdict]));

/** What tools have to make of the objects in each state: kstatus, then Argo CD, by kind. */
export const wantedVerdicts: Readonly<Record<string, Readonly<Record<string, Verdict>>>> = {
  "nobody wrote a status": { TalosCluster: ["InProgress", "Progressing"], KubernetesCluster: ["Current", "Progressing"] },
  creating: all(["InProgress", "Progressing"], "TalosCluster", "TalosControlPlane", "TalosWorker", "TalosMachine"),
  finished: all(["Current", "Healthy"], "TalosCluster", "TalosControlPlane", "TalosWorker", "TalosMachine"),
  "settings are rolled out to the workers": all(["InProgress", "Progressing"], "TalosCluster", "TalosControlPlane", "TalosWorker"),
  "paused in the middle of it": all(["Failed", "Suspended"], "TalosCluster", "TalosControlPlane", "TalosWorker"),
  "paused when it was finished": {
    ...all(["Current", "Suspended"], "TalosCluster", "TalosControlPlane", "TalosWorker"),
    TalosMachine: ["Current", "Healthy"],
  },
  "another version is asked for": {
    ...all(["Failed", "Degraded"], "TalosCluster", "TalosControlPlane"),
    TalosWorker: ["Current", "Healthy"],
  },
  "a worker has no such disk": {
    ...all(["Failed", "Degraded"], "TalosCluster", "TalosWorker"),
    ...all(["Current", "Healthy"], "TalosControlPlane"),
  },
  "being deleted": all(["Terminating", "Progressing"], "TalosCluster", "TalosControlPlane"),
  "an import waits for a person": all(["Failed", "Degraded"], "TalosControlPlane", "TalosWorker"),
  imported: all(["Current", "Healthy"], "TalosControlPlane", "TalosWorker"),
  "a pool without a control plane": all(["InProgress", "Progressing"], "TalosWorker"),
};

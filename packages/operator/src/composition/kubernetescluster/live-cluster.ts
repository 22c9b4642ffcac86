import type { KubernetesCluster } from "@talos-operator/api";
import type { Leading } from "../../leading.ts";
import type { Latest } from "../../controllers/shared/latest.ts";
import { ownerStays } from "../../controllers/shared/owner-stays.ts";
import { pausedBy } from "./paused-by.ts";

/** Whether the cluster that is to own an object stays and goes on, and this process still leads. @throws KubeApiError when nobody can say */
export type OwnerQuestion = () => Promise<boolean>;

/** What a cluster says now: a watch may stand still for minutes, and a pause and a deletion count from the first moment. */
export interface LiveCluster {
  /** Asked before anything is made for it; asks once for all that one pass makes. */
  readonly isOwnerThere: OwnerQuestion;
  /** Asked before anything is taken away. @throws KubeApiError when nobody can say */
  readonly isPaused: () => Promise<boolean>;
}

export function liveCluster({ metadata }: KubernetesCluster, latest: Latest<KubernetesCluster>, leading: Leading): LiveCluster {
  let answer: Promise<boolean> | undefined;
  const ask = async (): Promise<boolean> => {
    const live = await latest(metadata);
    return ownerStays(metadata, live?.metadata) && !isWordOfPause(live);
  };
  return {
    // A process that stood still after it asked does not go on where it was.
    isOwnerThere: async () => (await (answer ??= ask())) && leading.remainingMs() > 0,
    isPaused: async () => isWordOfPause(await latest(metadata)),
  };
}

function isWordOfPause(live: KubernetesCluster | undefined): boolean {
  return live !== undefined && pausedBy(live) !== undefined;
}

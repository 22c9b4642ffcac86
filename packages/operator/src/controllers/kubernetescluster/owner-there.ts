import type { KubernetesCluster } from "@talos-operator/api";
import type { Latest } from "../shared/latest.ts";

/**
 * True when the cluster that is to own an object is there, and not being deleted. One that was deleted with `--cascade=orphan`, and that a cache still shows,
 * would own again what it left, and take it along, wiped, once it goes.
 *
 * @throws KubeApiError when nobody can say
 */
export type OwnerQuestion = () => Promise<boolean>;

/** Asks once for all that one pass writes. */
export function ownerQuestion({ metadata }: KubernetesCluster, latest: Latest<KubernetesCluster>): OwnerQuestion {
  let answer: Promise<boolean> | undefined;
  const ask = async (): Promise<boolean> => {
    const live = (await latest(metadata))?.metadata;
    return live !== undefined && live.uid === metadata.uid && live.deletionTimestamp === undefined;
  };
  return () => (answer ??= ask());
}

import type { KubernetesCluster } from "@talos-operator/api";
import type { Latest } from "../shared/latest.ts";
import { ownerStays } from "../shared/owner-stays.ts";

/** Whether the cluster that is to own an object stays. @throws KubeApiError when nobody can say */
export type OwnerQuestion = () => Promise<boolean>;

/** Asks once for all that one pass writes. */
export function ownerQuestion({ metadata }: KubernetesCluster, latest: Latest<KubernetesCluster>): OwnerQuestion {
  let answer: Promise<boolean> | undefined;
  const ask = async (): Promise<boolean> => ownerStays(metadata, (await latest(metadata))?.metadata);
  return () => (answer ??= ask());
}

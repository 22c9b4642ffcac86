import type { Finding, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import type { ObjectKey } from "@talos-operator/kube-runtime";
import { saysConfigured } from "../../observe/reported-machines.ts";
import type { ConfigReferences } from "../../references/config-references.ts";
import { sharedNameProblems, sharedNames } from "../../spec/machine-names.ts";
import { sharedNodeNameProblems, sharedNodeNames } from "../../spec/node-names.ts";
import type { NamedPool } from "../../spec/node-names.ts";

/** The other pools of the cluster, and what is known of its machines. */
export interface BesidePool {
  readonly controlPlane: TalosControlPlane | undefined;
  readonly siblings: readonly TalosWorker[];
  readonly configs: ConfigReferences;
  readonly machines: { readonly get: (key: ObjectKey) => TalosMachine | undefined };
}

/** What is said of a pool whose machines, or their Nodes, would have the names of others of its cluster. */
export async function problemsOfNames(
  worker: TalosWorker,
  { controlPlane, siblings, configs, machines }: BesidePool,
): Promise<readonly Finding[]> {
  const pools = [...(controlPlane === undefined ? [] : [controlPlane]), worker, ...siblings];
  const named = await Promise.all(
    pools.map(async (pool): Promise<NamedPool> => ({
      pool,
      config: await configs.resolve(pool.spec?.configRef, pool.metadata.namespace ?? ""),
      contract: pool.status?.configContract,
    })),
  );
  const holds = (name: string): boolean => {
    const object = machines.get({ namespace: worker.metadata.namespace, name });
    return object !== undefined && saysConfigured(object);
  };
  return [
    ...sharedNameProblems(worker, sharedNames(pools)),
    ...sharedNodeNameProblems(worker, sharedNodeNames(named, controlPlane), holds),
  ];
}

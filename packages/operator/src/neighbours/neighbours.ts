import { kubernetesClusterResource, labels, talosControlPlaneResource, talosWorkerResource } from "@talos-operator/api";
import type { TalosWorker } from "@talos-operator/api";
import { isForbidden, isNotFound, isNotServed, leaseType } from "@talos-operator/kube-runtime";
import type { KubeClient, KubeObject, ObjectKey } from "@talos-operator/kube-runtime";
import type { Clock } from "@talos-operator/ports";
import { elapsedMs } from "../elapsed.ts";
import { foreignWriter, RECENT_MS } from "./foreign-writer.ts";
import { SharedReading } from "./shared-reading.ts";

/** Leases of the two published operators. The first is also ours: two operators of these kinds never act at once. */
const LEASES = ["ffa5cb32.alperen.cloud", "6f93c133.vitistack.io"] as const;

/** Images of the two published operators. */
const IMAGES = /(^|\/)(alperencelik\/talos-operator|vitistack\/(viti-)?talos-operator)(:|@|$)/;

/** Deployments are listed page by page, and what was seen counts for a moment: many effects of one pass ask at once. */
const PAGE = 500;
const FRESH_MS = 5_000;

/** Looks whether another operator is at work on a cluster. */
export interface Neighbours {
  /**
   * Who else is at work, in words; `undefined` = nobody is to be seen.
   *
   * @param isAdopted also leases and Deployments count, which say that an operator runs, not that it works on this very object
   */
  find(controlPlane: ObjectKey, isAdopted: boolean): Promise<string | undefined>;
  /** The same of a KubernetesCluster that another operator made, before anything of it is written. */
  findBeside(cluster: ObjectKey): Promise<string | undefined>;
}

/** What cannot be read for lack of rights is not visible; every other failure is thrown, so that nothing is done on a guess. */
export function createNeighbours(client: KubeClient, clock: Clock, identity: string): Neighbours {
  let running: { readonly at: number; readonly value: Promise<string | undefined> } | undefined;

  /** Pools of all clusters of a namespace: while many clusters change, what several of them ask for at once is read once. */
  const lists = new Map<string, SharedReading<readonly (TalosWorker & KubeObject)[]>>();
  const poolsIn = (namespace: string): Promise<readonly (TalosWorker & KubeObject)[]> => {
    const list =
      lists.get(namespace) ??
      new SharedReading(async () => (await client.resource<TalosWorker & KubeObject>(talosWorkerResource).list({ namespace })).items);
    lists.set(namespace, list);
    return list.ask();
  };

  /** The KubernetesCluster that an object was made for, if that is one: its operator writes there, and in none of what we make of it. */
  const composerOf = async (object: KubeObject | undefined): Promise<KubeObject | undefined> => {
    const owner = object?.metadata?.ownerReferences?.find(({ controller }) => controller === true);
    if (owner?.kind !== kubernetesClusterResource.kind || !owner.apiVersion.startsWith(`${kubernetesClusterResource.group}/`))
      return undefined;
    const { namespace } = object?.metadata ?? {};
    return visible(() => client.resource(kubernetesClusterResource).tryGet({ namespace, name: owner.name }));
  };

  const writerOf = async (key: ObjectKey, isAdopted: boolean): Promise<string | undefined> => {
    const [controlPlane, workers] = await Promise.all([
      client.resource(talosControlPlaneResource).tryGet(key),
      poolsIn(key.namespace ?? ""),
    ]);
    const pools = workers.filter(({ spec }) => spec?.controlPlaneRef?.name === key.name);
    const composer = isAdopted ? await composerOf(controlPlane) : undefined;
    return firstWriterOf([controlPlane, ...pools, composer]);
  };

  const firstWriterOf = (objects: readonly (KubeObject | undefined)[]): string | undefined => {
    for (const object of objects) {
      const writer = foreignWriter(object?.metadata?.managedFields, clock.now());
      if (object !== undefined && writer !== undefined)
        return `${writer.manager} wrote the ${writer.what} of ${object.kind ?? ""}/${object.metadata?.name ?? ""} at ${writer.at}`;
    }
    return undefined;
  };

  const lease = async (): Promise<string | undefined> => {
    for (const name of LEASES) {
      const leases = await visible(() => client.resource<LeaseObject>(leaseType).list({ fieldSelector: `metadata.name=${name}` }));
      const alive = (leases?.items ?? []).find(({ spec }) => {
        const holder = spec?.holderIdentity ?? "";
        return holder !== "" && holder !== identity && clock.now() - Date.parse(spec?.renewTime ?? "") < RECENT_MS;
      });
      if (alive !== undefined)
        return `${alive.spec?.holderIdentity ?? ""} holds the lease ${alive.metadata?.namespace ?? ""}/${name}, renewed ${alive.spec?.renewTime ?? ""}`;
    }
    return undefined;
  };

  const deployment = async (): Promise<string | undefined> => {
    let next: string | undefined;
    do {
      const from: string | undefined = next;
      const page = await visible(() =>
        client.resource<DeploymentObject>(deploymentType).listPage({ limit: PAGE, ...(from === undefined ? {} : { continue: from }) }),
      );
      const found = (page?.items ?? []).find(
        ({ metadata, spec }) =>
          metadata?.labels?.[labels.component] !== "manager" &&
          (spec?.replicas ?? 1) > 0 &&
          (spec?.template?.spec?.containers ?? []).some(({ image = "" }) => IMAGES.test(image)),
      );
      if (found !== undefined)
        return `the Deployment ${found.metadata?.namespace ?? ""}/${found.metadata?.name ?? ""} runs another operator for these clusters`;
      next = page?.continue;
    } while (next !== undefined && next !== "");
    return undefined;
  };

  /** Who runs, whatever it works on; many effects of one pass ask at once. */
  const whoRuns = (): Promise<string | undefined> => {
    if (running === undefined || elapsedMs(running.at, clock.now()) >= FRESH_MS) {
      const value = lease().then(async (found) => found ?? (await deployment()));
      running = { at: clock.now(), value };
      value.catch(() => (running = undefined));
    }
    return running.value;
  };

  return {
    async find(key, isAdopted) {
      const writer = await writerOf(key, isAdopted);
      return writer !== undefined || !isAdopted ? writer : whoRuns();
    },
    async findBeside(key) {
      return firstWriterOf([await client.resource(kubernetesClusterResource).tryGet(key)]) ?? (await whoRuns());
    },
  };
}

interface LeaseObject extends KubeObject {
  readonly spec?: { readonly holderIdentity?: string; readonly renewTime?: string };
}

interface DeploymentObject extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } };
  };
}

const deploymentType = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true };

async function visible<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (thrown) {
    if (isForbidden(thrown) || isNotServed(thrown) || isNotFound(thrown)) return undefined;
    throw thrown;
  }
}

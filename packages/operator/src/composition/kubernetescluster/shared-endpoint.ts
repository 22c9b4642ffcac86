import {
  apiVersionOf,
  controllerOf,
  controllerReference,
  controlPlaneVirtualSharedIPResource,
  findCondition,
  isConditionTrue,
  kubernetesClusterResource,
  networkNamespaceResource,
  parseHost,
} from "@talos-operator/api";
import type { ClusterEndpoint, ClusterModel, Condition, ControlPlaneVirtualSharedIP, NetworkNamespace } from "@talos-operator/api";
import { isNotServed, keyText } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { FIELD_MANAGER } from "./apply-machines.ts";
import type { OwnerQuestion } from "./live-cluster.ts";
import { groupOfMachine } from "./machine-manifest.ts";
import { isLabelValue, machineAnnotations, machineLabels } from "./keys.ts";
import type { Seen } from "./model.ts";
import { compose } from "./plan.ts";
import { poolMembers } from "./pool-members.ts";

/** Where the endpoint of a cluster is, or what it waits for. */
export type SeenEndpoint =
  | { readonly kind: "known"; readonly endpoint: Exclude<ClusterEndpoint, { readonly mode: "shared" }> }
  | { readonly kind: "waiting"; readonly message: string };

/** Shared addresses of the network, one for each cluster that asks for one. */
export interface SharedEndpoints {
  /**
   * Asks the network for an address, tells it the control planes behind it, and waits for the answer. The endpoint stands in every machine: once the control
   * plane is made it is what that says, whatever the network says later.
   *
   * @param isOwnerThere asked before anything is written
   * @throws KubeApiError
   */
  resolve(seen: Seen, model: ClusterModel, isOwnerThere: OwnerQuestion): Promise<SeenEndpoint>;
  /** @param key namespace and name of a cluster that is gone */
  forget(key: string): void;
}

/** What a network is asked with. */
interface AskedNetwork {
  /** Of the NetworkNamespace. */
  readonly name: string;
  readonly datacenterIdentifier: string;
  readonly supervisorIdentifier: string;
  readonly environment: string;
}

/** What `spec.environment` of a shared address may be. */
const ENVIRONMENT = /^[A-Za-z0-9._-]{1,128}$/;

export function createSharedEndpoints(client: KubeClient): SharedEndpoints {
  const addresses = client.resource<ControlPlaneVirtualSharedIP>(controlPlaneVirtualSharedIPResource);
  const networks = client.resource<NetworkNamespace>(networkNamespaceResource);
  /** What is known to stand in the members of each cluster; `undefined` = it has no shared address. */
  const told = new Map<string, { readonly uid: string; readonly members: readonly string[] | undefined }>();

  const note = ({ cluster: { metadata } }: Seen, members: readonly string[] | undefined): void =>
    void told.set(keyText(metadata), { uid: metadata.uid ?? "", members });

  /** @returns the network, why there is none yet, or `undefined` where nobody has made one */
  const networkOf = async ({ cluster }: Seen, name: string | undefined): Promise<NetworkNamespace | string | undefined> => {
    const namespace = cluster.metadata.namespace ?? "";
    try {
      if (name !== undefined) return (await networks.tryGet({ namespace, name })) ?? `NetworkNamespace ${name} does not exist`;
      const { items } = await networks.list({ namespace });
      return items.length > 1 ? "there are several NetworkNamespaces: name one with data.networkNamespaceName" : items[0];
    } catch (thrown) {
      if (!isNotServed(thrown)) throw thrown;
      // Who names a network wants its address, and has not installed the kind yet; nobody else misses it.
      return name === undefined ? undefined : `this API server knows no NetworkNamespaces, and ${name} is to be one`;
    }
  };

  const apply = (seen: Seen, model: ClusterModel, network: AskedNetwork, members: readonly string[]) => {
    const { cluster } = seen;
    const owner = { apiVersion: apiVersionOf(kubernetesClusterResource), kind: cluster.kind, metadata: cluster.metadata };
    const wanted: ControlPlaneVirtualSharedIP = {
      apiVersion: "vitistack.io/v1alpha1",
      kind: "ControlPlaneVirtualSharedIP",
      metadata: {
        namespace: cluster.metadata.namespace ?? "",
        name: model.clusterId,
        labels: {
          ...(isLabelValue(model.clusterId) ? { [machineLabels.clusterId]: model.clusterId } : {}),
          [machineLabels.nodeRole]: "control-plane",
        },
        ownerReferences: [controllerReference(owner)],
      },
      spec: {
        clusterIdentifier: model.clusterId,
        datacenterIdentifier: network.datacenterIdentifier,
        environment: network.environment,
        method: "first-alive",
        networkNamespaceIdentifier: network.name,
        poolMembers: [...members],
        provider: "talos",
        supervisorIdentifier: network.supervisorIdentifier,
      },
    };
    return addresses.apply(wanted, { fieldManager: FIELD_MANAGER, force: true });
  };

  /** Keeps the members of a cluster that is made in step; costs nothing while they are. */
  const follow = async (seen: Seen, model: ClusterModel, isOwnerThere: OwnerQuestion): Promise<void> => {
    const uid = seen.cluster.metadata.uid ?? "";
    const key = { namespace: seen.cluster.metadata.namespace ?? "", name: model.clusterId };
    const known = told.get(keyText(seen.cluster.metadata));
    if (known?.uid === uid && (known.members === undefined || same(known.members, membersOf(seen, model, known.members)))) return;
    const stored = await orNone(addresses.tryGet(key));
    if (stored?.spec === undefined || holderOf(stored, uid, model.clusterId) !== undefined) return note(seen, undefined);
    const before = stored.spec.poolMembers ?? [];
    const members = membersOf(seen, model, before);
    if (!same(before, members)) {
      if (!(await isOwnerThere())) return;
      const { networkNamespaceIdentifier: name, datacenterIdentifier, supervisorIdentifier, environment } = stored.spec;
      await apply(seen, model, { name, datacenterIdentifier, supervisorIdentifier, environment }, members);
    }
    note(seen, members);
  };

  return {
    async resolve(seen, model, isOwnerThere) {
      if (model.endpoint.mode !== "shared") return { kind: "known", endpoint: model.endpoint };
      const stored = seen.controlPlane;
      if (stored !== undefined) {
        if (seen.cluster.metadata.deletionTimestamp === undefined) await follow(seen, model, isOwnerThere);
        const url = stored.spec?.endpoint ?? "";
        return { kind: "known", endpoint: url === "" ? { mode: "none" } : { mode: "given", url } };
      }
      // Only an inventory knows what a network asks for.
      if (model.inventory.environment === undefined) return { kind: "known", endpoint: { mode: "none" } };
      const network = await networkOf(seen, model.networkNamespace);
      if (network === undefined) return { kind: "known", endpoint: { mode: "none" } };
      const waits = (message: string): SeenEndpoint => ({
        kind: "waiting",
        message: `The endpoint is to be an address of the network, and ${message}. Another way: spec.clusterEndpoint, or endpointMode none (ENDPOINT_MODE for all clusters) for the first control plane's address.`,
      });
      if (typeof network === "string") return waits(network);
      if (!isConditionTrue(conditionsOf(network), "Ready"))
        return waits(`NetworkNamespace ${network.metadata.name} is not ready${whyNot(network)}`);
      if (!ENVIRONMENT.test(model.inventory.environment))
        return waits("data.environment is no value that the network takes: letters, digits, dots, dashes and underscores, at most 128");
      const uid = seen.cluster.metadata.uid ?? "";
      const address = await addresses.tryGet({ namespace: seen.cluster.metadata.namespace ?? "", name: model.clusterId });
      const holder = address === undefined ? undefined : holderOf(address, uid, model.clusterId);
      if (holder !== undefined) return waits(`ControlPlaneVirtualSharedIP ${model.clusterId} exists and is ${holder}'s`);
      const before = address?.spec?.poolMembers ?? [];
      const members = membersOf(seen, model, before);
      if (members.length === 0) return waits("no control plane has an address yet");
      const { datacenterIdentifier = "", supervisorIdentifier = "" } = network.spec ?? {};
      const asked = { name: network.metadata.name, datacenterIdentifier, supervisorIdentifier, environment: model.inventory.environment };
      const isAsked = address !== undefined && same(before, members);
      if (!isAsked && !(await isOwnerThere())) return waits("the cluster was paused or deleted a moment ago");
      const current = isAsked ? address : await apply(seen, model, asked, members);
      note(seen, members);
      const given = current.status?.loadBalancerIps?.[0];
      if (given === undefined) return waits(`ControlPlaneVirtualSharedIP ${model.clusterId} has none yet${whyNot(current)}`);
      const host = parseHost(given);
      if (!("kind" in host) || host.kind !== "ip")
        return waits(`ControlPlaneVirtualSharedIP ${model.clusterId} has one that is no address`);
      return { kind: "known", endpoint: { mode: "given", url: `https://${host.text.includes(":") ? `[${host.text}]` : host.text}:6443` } };
    },
    forget: (key) => void told.delete(key),
  };
}

function membersOf(seen: Seen, model: ClusterModel, previous: readonly string[]): readonly string[] {
  const leaving = new Set(compose(seen, model).leaving.map(({ machine }) => machine.metadata.name));
  return poolMembers(
    previous,
    seen.machines
      .filter((machine) => groupOfMachine(machine)?.role === "controlplane")
      .map(({ metadata }) => ({
        address: metadata.annotations?.[machineAnnotations.nodeAddress],
        leaves: leaving.has(metadata.name) || metadata.deletionTimestamp !== undefined,
      })),
  );
}

/** Whose a shared address is, in words; `undefined` when it is this cluster's, or was made for its id by an operator that names no owner. */
function holderOf(address: ControlPlaneVirtualSharedIP, uid: string, clusterId: string): string | undefined {
  const owner = controllerOf(address.metadata);
  if (owner !== undefined) return owner.uid === uid ? undefined : `${owner.kind} ${owner.name}`;
  return address.spec?.clusterIdentifier === clusterId ? undefined : "another cluster";
}

function conditionsOf({ status }: NetworkNamespace | ControlPlaneVirtualSharedIP): readonly Condition[] {
  return status?.conditions ?? [];
}

/** What the network's own operator says, for people. */
function whyNot(object: NetworkNamespace | ControlPlaneVirtualSharedIP): string {
  const words = findCondition(conditionsOf(object), "Ready")?.message ?? object.status?.message ?? "";
  return words === "" ? "" : ` (${words.slice(0, 256)})`;
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}

async function orNone<T>(call: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await call;
  } catch (thrown) {
    if (isNotServed(thrown)) return undefined;
    throw thrown;
  }
}

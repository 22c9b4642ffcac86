import { isIP } from "./address-kind.ts";
import type { Cell } from "../datacenter/cell.ts";
import { activeFacts, hasEtcdAddress, hostnameOf, isControlPlane, isSameCluster, nodeIdOf, nodenameOf } from "../node/identity.ts";
import type { Machine } from "../node/machine.ts";
import { machineStatusOf } from "../node/status.ts";
import { isAtLeast } from "../node/version.ts";
import { etcdImageOf } from "../node/etcd-service.ts";
import { controlPlaneProjections } from "./control-plane-projections.ts";
import { hardwareProjections } from "./hardware-projections.ts";
import { memberShown } from "./member-shown.ts";
import type { Projected, Projection, View } from "./projection.ts";

/** How long a silent machine stays among the discovered members. */
const discoveryTtlMs = 30 * 60_000;

const base: Readonly<Record<string, Projection>> = {
  "MachineStatuses.runtime.talos.dev": ({ cell }) => {
    const { stage, isReady, unmet } = machineStatusOf(cell.state);
    return [
      {
        id: "machine",
        owner: "runtime.MachineStatusController",
        spec: { stage, status: { ready: isReady, unmetConditions: unmet } },
        changes: cell.state.statusChanges ?? 0,
      },
    ];
  },
  "MachineTypes.config.talos.dev": ({ cell }) => [
    { id: "machine-type", owner: "config.MachineTypeController", spec: activeFacts(cell.state)?.machineType ?? "unknown" },
  ],
  "MachineConfigs.config.talos.dev": ({ cell }) => {
    const { config } = cell.state;
    const annotations = { "talos.dev/yaml-spec": "1" };
    return [
      ...(config.persisted === undefined || config.persistedVersion === 0
        ? []
        : [
            {
              id: "persistent",
              spec: config.persisted,
              annotations,
              counted: { version: config.persistedVersion, created: config.persistedCreated, updated: config.persistedUpdated },
            },
          ]),
      ...(config.active === undefined
        ? []
        : [
            {
              id: "v1alpha1",
              spec: config.active,
              annotations,
              counted: { version: config.activeVersion, created: config.activeCreated, updated: config.activeUpdated },
            },
          ]),
    ];
  },
  "Services.v1alpha1.talos.dev": ({ cell }) =>
    Object.entries(cell.state.services)
      .filter(([, service]) => service.state === "Running")
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, service]) => ({
        id,
        owner: "v1alpha1.ServiceController",
        spec: { running: true, healthy: service.isHealthy === true, unknown: service.isHealthy === undefined },
      })),
  "Members.cluster.talos.dev": (view) =>
    discovered(view).map((other) => ({
      id: nodenameOf(other.state),
      owner: "cluster.MemberController",
      spec: {
        nodeId: nodeIdOf(other.state),
        addresses: [other.address],
        hostname: hostnameOf(other.state),
        machineType: activeFacts(other.state)?.machineType ?? "unknown",
        operatingSystem: `Talos (${other.state.hardware.talosVersion})`,
        ...(isControlPlane(other.state) ? { controlPlane: { port: 6443 } } : {}),
      },
    })),
  "Affiliates.cluster.talos.dev": (view) =>
    discovered(view).map((other) => ({
      id: nodeIdOf(other.state),
      owner: "cluster.AffiliateMergeController",
      spec: {
        nodeId: nodeIdOf(other.state),
        addresses: [other.address],
        hostname: hostnameOf(other.state),
        nodename: nodenameOf(other.state),
        operatingSystem: `Talos (${other.state.hardware.talosVersion})`,
        machineType: activeFacts(other.state)?.machineType ?? "unknown",
      },
    })),
  "Identities.cluster.talos.dev": ({ cell }) => [
    { id: "local", owner: "cluster.NodeIdentityController", spec: { nodeId: nodeIdOf(cell.state) } },
  ],
  "Infos.cluster.talos.dev": ({ cell }) => {
    const facts = activeFacts(cell.state);
    return facts === undefined
      ? []
      : [{ id: "current", owner: "cluster.InfoController", spec: { clusterId: facts.clusterId, clusterName: facts.clusterName } }];
  },
  "HostnameStatuses.net.talos.dev": ({ cell }) => [
    { id: "hostname", owner: "network.HostnameSpecController", spec: { hostname: hostnameOf(cell.state), domainname: "" } },
  ],
  "NetworkStatuses.net.talos.dev": () => [
    {
      id: "status",
      owner: "network.StatusController",
      spec: { addressReady: true, connectivityReady: true, hostnameReady: true, etcFilesReady: true },
    },
  ],
  "NodeAddresses.net.talos.dev": ({ cell }) => nodeAddresses(cell),
  "AddressStatuses.net.talos.dev": ({ cell }) => {
    const { address, prefixLength, moreAddresses = [] } = cell.state.hardware;
    const status = (text: string, linkName: string, linkIndex: number, scope: string): Projected => ({
      id: `${linkName}/${text}`,
      owner: "network.AddressStatusController",
      spec: { address: text, linkIndex, linkName, family: isIP(text) === 6 ? "inet6" : "inet4", scope, flags: "permanent", priority: 0 },
    });
    return [
      status(`${address}/${prefixLength}`, "eth0", 2, "global"),
      ...moreAddresses.map((more) => status(withLength(more), "eth0", 2, "global")),
      status("127.0.0.1/8", "lo", 1, "host"),
      status("::1/128", "lo", 1, "host"),
    ];
  },
  "LinkStatuses.net.talos.dev": ({ cell }) => [
    {
      id: "eth0",
      owner: "network.LinkStatusController",
      spec: {
        index: 2,
        type: "ether",
        kind: "",
        hardwareAddr: cell.state.hardware.mac,
        permanentAddr: cell.state.hardware.mac,
        mtu: 1500,
        operationalState: "up",
        linkState: true,
        speedMbit: 1000,
        port: "TwistedPair",
        duplex: "Full",
      },
    },
    {
      id: "lo",
      owner: "network.LinkStatusController",
      spec: {
        index: 1,
        type: "loopback",
        kind: "",
        hardwareAddr: "00:00:00:00:00:00",
        mtu: 65536,
        operationalState: "unknown",
        linkState: true,
      },
    },
  ],
  "TimeStatuses.v1alpha1.talos.dev": ({ cell }) => [
    {
      id: "node",
      owner: "time.SyncController",
      spec: { synced: true, epoch: 0, syncDisabled: cell.state.hardware.platform === "container" },
    },
  ],
  "Nodenames.kubernetes.talos.dev": ({ cell }) =>
    activeFacts(cell.state) === undefined
      ? []
      : [
          {
            id: "nodename",
            owner: "k8s.NodenameController",
            spec: { nodename: nodenameOf(cell.state), hostnameVersion: "1", skipNodeRegistration: false },
          },
        ],
  "EtcdMembers.etcd.talos.dev": ({ cell, world }) => {
    const memberID = memberShown(cell.state, world.etcd.of(cell));
    return memberID === undefined ? [] : [{ id: "local", owner: "etcd.MemberController", spec: { memberID } }];
  },
  "EtcdSpecs.etcd.talos.dev": ({ cell }) => {
    if (!isControlPlane(cell.state) || !hasEtcdAddress(cell.state)) return [];
    return [
      {
        id: "etcd",
        owner: "etcd.SpecController",
        spec: {
          name: hostnameOf(cell.state),
          advertisedAddresses: [cell.address],
          image: etcdImageOf(cell.state),
          extraArgs: etcdArguments(cell.state),
          listenPeerAddresses: ["::"],
          listenClientAddresses: ["::"],
        },
      },
    ];
  },
};

/** Up to 1.12 an argument has one value, the last. @see siderolabs/talos v1.12.0 and v1.13.9 `pkg/machinery/resources/etcd/spec.go` */
function etcdArguments(machine: Machine): Readonly<Record<string, unknown>> {
  const given = Object.entries(activeFacts(machine)?.etcdArguments ?? {});
  const hasLists = isAtLeast(machine.hardware.talosVersion, "1.13");
  return Object.fromEntries(given.map(([name, values]) => [name, hasLists ? { values } : (values.at(-1) ?? "")]));
}

/** Every type that has contents; a type that a node knows and that is not here is simply empty. */
export const projections: Readonly<Record<string, Projection>> = { ...base, ...hardwareProjections, ...controlPlaneProjections };

/** Machines of the same cluster that were heard of lately. */
function discovered({ world, cell }: View): readonly Cell[] {
  const own = activeFacts(cell.state);
  if (own === undefined || !own.hasDiscovery) return [];
  return world.cells().filter((other) => {
    const facts = activeFacts(other.state) ?? undefined;
    if (other === cell) return true;
    const isRecent = other.state.goneSince === undefined || world.clock.now() - other.state.goneSince < discoveryTtlMs;
    return isRecent && isSameCluster(own, facts);
  });
}

function withLength(address: string): string {
  return `${address}/${address.includes(":") ? 64 : 24}`;
}

function nodeAddresses(cell: Cell): readonly Projected[] {
  const { address, prefixLength, moreAddresses = [] } = cell.state.hardware;
  const own = [`${address}/${prefixLength}`, ...moreAddresses.map(withLength)];
  const isConfigured = activeFacts(cell.state) !== undefined;
  const forKubernetes = isConfigured && !hasEtcdAddress(cell.state);
  const entry = (id: string, addresses: readonly string[]): Projected => ({
    id,
    owner: "network.NodeAddressController",
    spec: { addresses, sortAlgorithm: "v1" },
  });
  return [
    ...["accumulative", "current", "routed"].flatMap((id) => [
      entry(id, own),
      ...(isConfigured ? [entry(`${id}-no-k8s`, forKubernetes ? [] : own), entry(`${id}-only-k8s`, forKubernetes ? own : [])] : []),
    ]),
    entry("default", own.slice(0, 1)),
  ].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

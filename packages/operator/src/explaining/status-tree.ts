import { controllerOf } from "@talos-operator/api";
import type { Condition, ObjectMeta, TalosCluster, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { headlineOf, isSeen, notesOn, stateWordOf, waitsOf } from "./what-stands.ts";
import type { Explained } from "./what-stands.ts";

/** A KubernetesCluster, of which a tree shows only what every object has. */
export interface TreeCluster extends Explained {
  readonly kind: "KubernetesCluster";
}

/** Everything that trees are made from. */
export interface TreeInput {
  readonly kubernetesClusters: readonly TreeCluster[];
  readonly talosClusters: readonly TalosCluster[];
  readonly controlPlanes: readonly TalosControlPlane[];
  readonly workers: readonly TalosWorker[];
  readonly machines: readonly TalosMachine[];
  /**
   * Names of the Nodes that are Ready at this moment, by address. A machine whose status says ready and that is not here counts as starting: the status may
   * come from before a restart. Absent: the statuses alone count.
   */
  readonly upNodes?: ReadonlyMap<string, string>;
}

/** A condition as a line below its object. */
export interface TreeNote {
  readonly type: string;
  readonly status: Condition["status"];
  readonly reason: string;
  readonly message: string;
}

/** One object with what it consists of. */
export interface TreeNode {
  readonly kind: "KubernetesCluster" | "TalosCluster" | "TalosControlPlane" | "TalosWorker" | "TalosMachine";
  readonly namespace: string;
  readonly name: string;
  /** Of pools and machines. */
  readonly role?: "control plane" | "worker";
  readonly ready: Condition["status"];
  /** The published word; `Ready` or `Not ready` where the kind has none. */
  readonly state: string;
  /** When `ready` last changed, RFC 3339. */
  readonly since?: string;
  /** Of machines: where it answers. */
  readonly address?: string;
  /** Of machines: the Kubernetes node. */
  readonly node?: string;
  /** Talos that runs; every version where machines differ. */
  readonly talos?: string;
  /** Kubernetes that runs. */
  readonly kubernetes?: string;
  /** Machines that the spec lists, and how many of them are ready. */
  readonly machines?: { readonly ready: number; readonly wanted: number };
  /** Of clusters and pools: what goes on, or what a person is needed for; absent = neither. */
  readonly headline?: string;
  /** What it waits for, gravest first, then what is worth knowing; empty = all is well. */
  readonly notes: readonly TreeNote[];
  readonly children: readonly TreeNode[];
}

/**
 * The trees of all clusters: cluster object, its control plane and pools, their machines; what belongs to none stands by itself. Pure.
 *
 * Reads what earlier releases wrote, too: what a status lacks is counted from the machines, or left out.
 */
export function statusTrees(input: TreeInput): readonly TreeNode[] {
  const forest = createForest(input);
  const claimed = new Set<object>();
  const claim = <T extends object>(found: readonly T[]): readonly T[] => {
    const fresh = found.filter((one) => !claimed.has(one));
    for (const one of fresh) claimed.add(one);
    return fresh;
  };
  const clusters = [
    ...input.kubernetesClusters.map((cluster) => {
      const isOwn = ({ metadata }: { readonly metadata: ObjectMeta }): boolean =>
        cluster.metadata.uid !== undefined && controllerOf(metadata)?.uid === cluster.metadata.uid;
      const pools = [...claim(input.controlPlanes.filter(isOwn)), ...claim(input.workers.filter(isOwn))];
      return clusterNode(cluster, pools.map(forest.pool));
    }),
    ...input.talosClusters.map((cluster) => {
      const { namespace, name } = cluster.metadata;
      const { spec } = cluster;
      const controlPlane = spec?.controlPlane === undefined ? spec?.controlPlaneRef?.name : name;
      const worker = spec?.worker === undefined ? spec?.workerRef?.name : name;
      const isHere = ({ metadata }: { readonly metadata: ObjectMeta }): boolean => metadata.namespace === namespace;
      const pools = [
        ...claim(input.controlPlanes.filter((one) => isHere(one) && one.metadata.name === controlPlane)),
        ...claim(
          input.workers.filter(
            (one) =>
              isHere(one) &&
              (one.metadata.name === worker || (controlPlane !== undefined && one.spec?.controlPlaneRef?.name === controlPlane)),
          ),
        ),
      ];
      return clusterNode(cluster, pools.map(forest.pool));
    }),
  ];
  const controlPlanes = claim(input.controlPlanes).map((controlPlane) => {
    const { namespace, name } = controlPlane.metadata;
    const workers = claim(
      input.workers.filter(({ metadata, spec }) => metadata.namespace === namespace && spec?.controlPlaneRef?.name === name),
    );
    const node = forest.pool(controlPlane);
    return { ...node, children: [...node.children, ...workers.map(forest.pool)] };
  });
  const alone = claim(input.workers).map(forest.pool);
  return [...clusters, ...controlPlanes, ...alone, ...forest.strays()].toSorted(byPlace);
}

/** The part of the trees below one object; `undefined` when it is in none. */
export function findInTrees(
  trees: readonly TreeNode[],
  wanted: { readonly kind: string; readonly namespace: string; readonly name: string },
): TreeNode | undefined {
  for (const tree of trees) {
    if (tree.kind === wanted.kind && tree.namespace === wanted.namespace && tree.name === wanted.name) return tree;
    const below = findInTrees(tree.children, wanted);
    if (below !== undefined) return below;
  }
  return undefined;
}

interface Forest {
  pool(this: void, pool: TalosControlPlane | TalosWorker): TreeNode;
  /** Machines of pools that are not there. */
  strays(): readonly TreeNode[];
}

function createForest({ machines, controlPlanes, workers, upNodes }: TreeInput): Forest {
  const byPool = new Map<string, TalosMachine[]>();
  for (const machine of machines) {
    const key = poolKeyOf(machine);
    const own = byPool.get(key);
    if (own === undefined) byPool.set(key, [machine]);
    else own.push(machine);
  }
  const there = new Set([...controlPlanes, ...workers].map(keyOfPool));
  return {
    pool(pool) {
      const own = (byPool.get(keyOfPool(pool)) ?? []).map((machine) => machineNode(machine, roleOf(pool), upNodes)).toSorted(byPlace);
      return poolNode(pool, own);
    },
    strays: () =>
      [...byPool].flatMap(([key, own]) =>
        there.has(key)
          ? []
          : own.map((machine) => machineNode(machine, machine.spec?.controlPlaneRef === undefined ? "worker" : "control plane", upNodes)),
      ),
  };
}

function keyOfPool({ kind, metadata }: TalosControlPlane | TalosWorker): string {
  return `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
}

/** The reference, or the owner where there is none. */
function poolKeyOf({ metadata, spec }: TalosMachine): string {
  const owner = controllerOf(metadata);
  const [kind, name] =
    spec?.controlPlaneRef?.name !== undefined
      ? ["TalosControlPlane", spec.controlPlaneRef.name]
      : spec?.workerRef?.name !== undefined
        ? ["TalosWorker", spec.workerRef.name]
        : [owner?.kind ?? "", owner?.name ?? ""];
  return `${kind} ${metadata.namespace ?? ""}/${name}`;
}

function roleOf({ kind }: TalosControlPlane | TalosWorker): "control plane" | "worker" {
  return kind === "TalosControlPlane" ? "control plane" : "worker";
}

function machineNode(machine: TalosMachine, role: "control plane" | "worker", upNodes: TreeInput["upNodes"]): TreeNode {
  const { spec, status } = machine;
  const address = spec?.endpoint;
  const up = address === undefined ? undefined : upNodes?.get(address);
  // Written by releases to come, and by none before.
  const node = up ?? (status as { readonly nodeName?: unknown } | undefined)?.nodeName ?? spec?.hostname;
  const common = commonOf(machine);
  const isStarting = common.ready === "True" && upNodes !== undefined && up === undefined;
  return {
    ...common,
    ...(isStarting ? { ready: "Unknown", state: "Starting", notes: [waitFor("Its Node is not Ready yet."), ...common.notes] } : {}),
    role,
    ...(address === undefined ? {} : { address }),
    ...(typeof node === "string" && node !== "" ? { node } : {}),
    ...(status?.observedVersion === undefined ? {} : { talos: status.observedVersion }),
    children: [],
  };
}

function poolNode(pool: TalosControlPlane | TalosWorker, children: readonly TreeNode[]): TreeNode {
  const { status } = pool;
  const kubernetes = "observedKubeVersion" in (status ?? {}) ? (pool as TalosControlPlane).status?.observedKubeVersion : undefined;
  const talos = status?.observedVersion ?? versionsOf(children);
  const machines = countOf(pool, children);
  return {
    ...withoutReady(commonOf(pool), machines, children),
    role: roleOf(pool),
    ...(talos === undefined ? {} : { talos }),
    ...(kubernetes === undefined ? {} : { kubernetes }),
    machines,
    children,
  };
}

/** A machine that is not ready is heard of a moment before its pool and its cluster: what they say of themselves must not contradict it meanwhile. */
function withoutReady<T extends Pick<TreeNode, "ready" | "notes">>(
  common: T,
  { ready, wanted }: NonNullable<TreeNode["machines"]>,
  below: readonly TreeNode[],
): T {
  if (common.ready !== "True" || ready >= wanted) return common;
  const missing = below.find((one) => one.ready !== "True");
  const kind = missing === undefined || missing.kind === "TalosMachine" ? "" : `${missing.kind} `;
  const which = missing === undefined ? "" : `; not Ready: ${kind}${missing.name}`;
  return { ...common, ready: "Unknown", notes: [waitFor(`${ready} of ${wanted} machines are Ready${which}.`), ...common.notes] };
}

function waitFor(message: string): TreeNote {
  return { type: "Ready", status: "Unknown", reason: "Unobserved", message };
}

/** Of the listed machines as their own objects say it, so that a pool and its machines never differ; by the pool's status where a machine is listed by reference. */
function countOf(pool: TalosControlPlane | TalosWorker, children: readonly TreeNode[]): NonNullable<TreeNode["machines"]> {
  const listed = pool.spec?.metalSpec?.machines ?? [];
  const addresses = new Set(listed.map(({ address }) => address));
  if (addresses.has(undefined)) {
    const wanted = pool.status?.wantedMachines ?? listed.length;
    return { wanted, ready: pool.status?.readyMachines ?? Math.min(wanted, children.filter(({ ready }) => ready === "True").length) };
  }
  return { wanted: listed.length, ready: children.filter(({ address, ready }) => ready === "True" && addresses.has(address)).length };
}

function clusterNode(cluster: TalosCluster | TreeCluster, pools: readonly TreeNode[]): TreeNode {
  const status = cluster.status as { readonly observedVersion?: string; readonly observedKubeVersion?: string } | undefined;
  const talos = status?.observedVersion ?? versionsOf(pools);
  const kubernetes = status?.observedKubeVersion ?? pools.find((pool) => pool.kubernetes !== undefined)?.kubernetes;
  const sum = (which: "ready" | "wanted"): number => pools.reduce((total, { machines }) => total + (machines?.[which] ?? 0), 0);
  const machines = { ready: sum("ready"), wanted: sum("wanted") };
  return {
    ...withoutReady(commonOf(cluster as Explained & Pick<TreeNode, "kind">), machines, pools),
    ...(talos === undefined ? {} : { talos }),
    ...(kubernetes === undefined ? {} : { kubernetes }),
    ...(pools.length === 0 ? {} : { machines }),
    children: pools,
  };
}

/** What every object says of itself, and of its newest spec only. */
function commonOf(
  object: Explained & Pick<TreeNode, "kind">,
): Pick<TreeNode, "kind" | "namespace" | "name" | "ready" | "state" | "since" | "headline" | "notes"> {
  const { kind, metadata } = object;
  const headline = kind === "TalosMachine" ? undefined : headlineOf(object);
  const told = object.status?.conditions?.find(({ type }) => type === "Ready");
  const isOld = told !== undefined && !isSeen(told, metadata);
  const notes = [...waitsOf(object), ...notesOn(object)].map(({ type, status, reason, message }) => ({ type, status, reason, message }));
  return {
    kind,
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    ready: isOld ? "Unknown" : (told?.status ?? "Unknown"),
    state: stateWordOf(object) ?? (told?.status === "True" ? "Ready" : told === undefined ? "Pending" : "Not ready"),
    ...(told === undefined ? {} : { since: told.lastTransitionTime }),
    ...(headline === undefined ? {} : { headline }),
    notes: isOld && told.status === "True" ? [waitFor("The operator has not seen the last edit yet."), ...notes] : notes,
  };
}

/** `v1.13.9`, or all of them, oldest first, as far as texts tell. */
function versionsOf(nodes: readonly TreeNode[]): string | undefined {
  const versions = new Set(nodes.flatMap(({ talos }) => (talos === undefined ? [] : talos.split(", "))));
  return versions.size === 0 ? undefined : [...versions].toSorted((a, b) => a.localeCompare(b, "en", { numeric: true })).join(", ");
}

const KINDS = ["KubernetesCluster", "TalosCluster", "TalosControlPlane", "TalosWorker", "TalosMachine"];

function byPlace(a: TreeNode, b: TreeNode): number {
  return compare(a.namespace, b.namespace) || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || compare(a.name, b.name);
}

const collator = new Intl.Collator("en", { numeric: true });

/** By number rather than by text; thousands of names are compared. */
function compare(a: string, b: string): number {
  return collator.compare(a, b);
}

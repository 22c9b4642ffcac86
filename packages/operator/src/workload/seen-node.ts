import { OPERATOR_GROUP, canonicalAddress } from "@talos-operator/api";
import { isVendorUuid } from "../assess/identity.ts";
import { onceFor } from "../assess/once.ts";
import type { NodeObject, Taint } from "./kinds.ts";
import type { Look } from "../model/look.ts";
import type { NodeOwner, SeenNode } from "../model/workload.ts";

/** Annotation on a Node that we cordoned, so that exactly our own cordon is taken off again, whoever leads by then. Value: for what it was done. */
export const CORDON_MARK = `${OPERATOR_GROUP}/cordoned-for`;

/** Key of the taint with which pods rather go elsewhere than to Nodes whose machines are still to be upgraded. Nobody else's: it goes wherever it is not wanted. */
export const UPGRADE_TAINT = `${OPERATOR_GROUP}/upgrade-pending`;

/** Ours, and no taint that a person made of its key with another effect. */
export function isUpgradeTaint({ key, effect }: Taint): boolean {
  return key === UPGRADE_TAINT && effect === "PreferNoSchedule";
}

/** Characters of it that are kept. */
const LONGEST_OS_IMAGE = 128;

/** Reads a Node. */
export function seenNode(node: NodeObject): SeenNode {
  return {
    name: node.metadata?.name ?? "",
    uuid: (node.status?.nodeInfo?.systemUUID ?? "").toLowerCase(),
    addresses: (node.status?.addresses ?? []).map(({ address }) => canonicalAddress(address)),
    isReady: (node.status?.conditions ?? []).some(({ type, status }) => type === "Ready" && status === "True"),
    isSchedulable: isSchedulable(node),
    isCordonedByUs: node.metadata?.annotations?.[CORDON_MARK] !== undefined,
    ...(node.spec?.taints?.some(isUpgradeTaint) === true ? { hasUpgradeTaint: true } : {}),
    ...(node.status?.nodeInfo?.osImage === undefined ? {} : { osImage: node.status.nodeInfo.osImage.slice(0, LONGEST_OS_IMAGE) }),
  };
}

/** Of Kubernetes itself, for what the Node's conditions and its cordon say anyway. */
const OF_CONDITIONS = "node.kubernetes.io/";

/** Pods that tolerate nothing may be placed on it when it is ready, and without a cordon of ours. */
function isSchedulable({ metadata, spec }: NodeObject): boolean {
  const isCordoned = spec?.unschedulable === true && metadata?.annotations?.[CORDON_MARK] === undefined;
  const kept = (spec?.taints ?? []).filter(({ key }) => !key.startsWith(OF_CONDITIONS));
  return !isCordoned && kept.every(({ effect }) => effect === "PreferNoSchedule");
}

/**
 * True when what a Node tells fits this machine: by its UUID, and where either has none, as in containers, or one that vendors ship by the thousand, by an
 * address. A Node that tells another UUID is never the machine's, whatever its addresses.
 */
export function isNodeOf(node: Pick<SeenNode, "uuid" | "addresses">, owner: NodeOwner): boolean {
  if (node.uuid === "" || isNameless(owner)) return node.addresses.includes(canonicalAddress(owner.address));
  return spellingsOf(owner.uuid).includes(node.uuid);
}

/** Both Nodes tell the UUID of this machine, and one address of it: clones share a UUID, and addresses change hands. */
export function isSameMachine(a: SeenNode, b: SeenNode, owner: NodeOwner): boolean {
  const spellings = uuidsOf(owner);
  const address = canonicalAddress(owner.address);
  return [a, b].every(({ uuid, addresses }) => spellings.includes(uuid) && addresses.includes(address));
}

/** The one Node that fits the machine; `undefined` when none does, or when several do and their addresses do not tell them apart. */
export function nodeOf(nodes: readonly SeenNode[], owner: NodeOwner): SeenNode | undefined {
  const { byUuid, byAddress } = nodeIndex(nodes);
  const address = canonicalAddress(owner.address);
  const fitting = inOrder(nodes, [...uuidsOf(owner).map((uuid) => byUuid.get(uuid)), byAddress.get(address)]).filter((node) =>
    isNodeOf(node, owner),
  );
  const [only] = fitting;
  if (fitting.length <= 1) return only;
  const there = fitting.filter((node) => node.addresses.includes(address));
  return there.length === 1 ? there[0] : undefined;
}

/** The Node of this name. */
export function nodeCalled(nodes: readonly SeenNode[], name: string | undefined): SeenNode | undefined {
  return name === undefined ? undefined : nodesByName(nodes).get(name);
}

const nodesByName = onceFor((nodes: readonly SeenNode[]) => new Map(nodes.map((node) => [node.name, node])));

/** The Node that a machine names itself, or else the one that fits: a machine that was installed anew has another one, and its former one stands at the same address. */
export function nodeNamedBy(nodes: readonly SeenNode[], look: Look, owner: NodeOwner): SeenNode | undefined {
  const own = look.kind === "running" ? look.nodeName : undefined;
  return nodeCalled(nodes, own) ?? nodeOf(nodes, owner);
}

/** Those of the machines that the Node fits, in their order. */
export function ownersOf<T extends NodeOwner>(owners: readonly T[], node: Pick<SeenNode, "uuid" | "addresses">): readonly T[] {
  const { byUuid, byAddress } = ownerIndex(owners);
  return inOrder(owners, [byUuid.get(node.uuid), ...node.addresses.map((address) => byAddress.get(address))]).filter((owner) =>
    isNodeOf(node, owner),
  );
}

/** Positions in a list by what may make a Node and a machine fit. */
interface NodeIndex {
  readonly byUuid: ReadonlyMap<string, readonly number[]>;
  readonly byAddress: ReadonlyMap<string, readonly number[]>;
}

/** Nodes and machines are matched in every pass: nobody compares each with each. Lists are replaced and never changed, and an index goes with its list. */
const nodeIndex = indexes<SeenNode>(
  ({ uuid }) => (uuid === "" ? [] : [uuid]),
  ({ addresses }) => addresses,
);
const ownerIndex = indexes<NodeOwner>(
  (owner) => uuidsOf(owner),
  ({ address }) => [canonicalAddress(address)],
);

function indexes<T>(uuids: (one: T) => readonly string[], addresses: (one: T) => readonly string[]): (list: readonly T[]) => NodeIndex {
  const by = (list: readonly T[], keys: (one: T) => readonly string[]): NodeIndex["byUuid"] => {
    const positions = new Map<string, number[]>();
    for (const [position, one] of list.entries())
      for (const key of keys(one)) {
        const same = positions.get(key);
        if (same === undefined) positions.set(key, [position]);
        else same.push(position);
      }
    return positions;
  };
  return onceFor((list: readonly T[]) => ({ byUuid: by(list, uuids), byAddress: by(list, addresses) }));
}

function inOrder<T>(list: readonly T[], found: readonly (readonly number[] | undefined)[]): readonly T[] {
  const positions = [...new Set(found.flatMap((some) => some ?? []))].toSorted((a, b) => a - b);
  return positions.flatMap((position) => list[position] ?? []);
}

/** No UUID tells this machine from others. */
function isNameless({ uuid }: Pick<NodeOwner, "uuid">): boolean {
  return uuid === "" || isVendorUuid(uuid);
}

function uuidsOf(owner: NodeOwner): readonly string[] {
  return isNameless(owner) ? [] : [...new Set(spellingsOf(owner.uuid))];
}

/** How a Node may spell the UUID of a machine. */
function spellingsOf(uuid: string): readonly string[] {
  const written = uuid.toLowerCase();
  return [written, swapped(written)];
}

/** Old firmware gives the first three groups in the other byte order; kernel and Talos may read it differently. */
function swapped(uuid: string): string {
  const groups = uuid.split("-");
  return groups.map((group, index) => (index < 3 ? (group.match(/../g) ?? []).toReversed().join("") : group)).join("-");
}

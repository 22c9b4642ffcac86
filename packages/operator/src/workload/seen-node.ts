import { OPERATOR_GROUP, canonicalAddress } from "@talos-operator/api";
import { isVendorUuid } from "../controllers/taloscontrolplane/membership/identity.ts";
import type { NodeObject } from "./kinds.ts";
import type { NodeOwner, SeenNode } from "../model/workload.ts";

/** Annotation on a Node that we cordoned, so that exactly our own cordon is taken off again, whoever leads by then. Value: for what it was done. */
export const CORDON_MARK = `${OPERATOR_GROUP}/cordoned-for`;

/** Reads a Node. */
export function seenNode(node: NodeObject): SeenNode {
  return {
    name: node.metadata?.name ?? "",
    uuid: (node.status?.nodeInfo?.systemUUID ?? "").toLowerCase(),
    addresses: (node.status?.addresses ?? []).map(({ address }) => canonicalAddress(address)),
    isReady: (node.status?.conditions ?? []).some(({ type, status }) => type === "Ready" && status === "True"),
    isCordonedByUs: node.metadata?.annotations?.[CORDON_MARK] !== undefined,
  };
}

/**
 * True when what a Node tells fits this machine: by its UUID, and where either has none, as in containers, or one that vendors ship by the thousand, by an
 * address. A Node that tells another UUID is never the machine's, whatever its addresses.
 */
export function isNodeOf(node: Pick<SeenNode, "uuid" | "addresses">, owner: NodeOwner): boolean {
  const isNameless = owner.uuid === "" || node.uuid === "" || isVendorUuid(owner.uuid);
  if (isNameless) return node.addresses.includes(canonicalAddress(owner.address));
  return isSameUuid(node.uuid, owner.uuid.toLowerCase());
}

/** The one Node that fits the machine; `undefined` when none does, or when several do and their addresses do not tell them apart. */
export function nodeOf(nodes: readonly SeenNode[], owner: NodeOwner): SeenNode | undefined {
  const fitting = nodes.filter((node) => isNodeOf(node, owner));
  const [only] = fitting;
  if (fitting.length <= 1) return only;
  const there = fitting.filter((node) => node.addresses.includes(canonicalAddress(owner.address)));
  return there.length === 1 ? there[0] : undefined;
}

/** Old firmware gives the first three groups in the other byte order; kernel and Talos may read it differently. */
function isSameUuid(a: string, b: string): boolean {
  return a === b || a === swapped(b);
}

function swapped(uuid: string): string {
  const groups = uuid.split("-");
  return groups.map((group, index) => (index < 3 ? (group.match(/../g) ?? []).toReversed().join("") : group)).join("-");
}

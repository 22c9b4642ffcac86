import type { ObjectKey } from "../request/resource-type.ts";

/**
 * The least that every Kubernetes object has, as raw JSON (times are strings).
 * All fields are optional so that both our own types and generated ones satisfy it.
 */
export interface KubeObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
}

/** Object metadata, the fields that the runtime reads. */
export interface ObjectMeta {
  readonly name?: string | undefined;
  readonly generateName?: string | undefined;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly generation?: number | undefined;
  readonly creationTimestamp?: string | undefined;
  readonly deletionTimestamp?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly finalizers?: readonly string[] | undefined;
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  readonly managedFields?: readonly unknown[] | undefined;
}

/** Reference to an owner in the same namespace (or to a cluster-scoped one). */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean | undefined;
  readonly blockOwnerDeletion?: boolean | undefined;
}

/** One answer to a list, all pages joined unless a single page was asked for. */
export interface KubeList<T> {
  readonly items: readonly T[];
  /** Where a watch can begin. */
  readonly resourceVersion: string;
  /** Set when more pages follow. */
  readonly continue?: string;
}

/** Key text `namespace/name`, or `name` for cluster-scoped objects; what workqueues and stores use. */
export function keyOf(object: KubeObject): string {
  const { metadata } = object;
  return textOf(metadata?.namespace, metadata?.name ?? "");
}

/** Key text of a name. */
export function keyText(key: ObjectKey): string {
  return textOf(key.namespace, key.name);
}

function textOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** Reverse of `keyText`. */
export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf("/");
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

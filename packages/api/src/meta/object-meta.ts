/**
 * The metadata of a stored object, as far as this project reads and writes it.
 *
 * @see kubernetes/apimachinery `pkg/apis/meta/v1/types.go`
 */
export interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  /** Absent on cluster-scoped objects. */
  readonly namespace?: string;
  /** Set by the server, never reused. Absent before the object is stored. */
  readonly uid?: string;
  /** Opaque; compared for equality only. */
  readonly resourceVersion?: string;
  /** Counts changes of `spec`. */
  readonly generation?: number;
  readonly creationTimestamp?: string;
  /** Set when deletion was asked for; the object goes once `finalizers` is empty. */
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

/** A link to the object that owns this one, in the same namespace. Garbage collection follows it by `uid`. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** True on at most one reference: the owner that manages the object. */
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** The reference that a managed child carries to its owner. */
export function controllerReference(owner: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}): OwnerReference {
  const { uid, name } = owner.metadata;
  if (uid === undefined) throw new TypeError(`${owner.kind}/${name} has no uid: only a stored object can own others`);
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The owner reference marked as controller, or `undefined`. */
export function controllerOf(metadata: ObjectMeta): OwnerReference | undefined {
  return metadata.ownerReferences?.find((reference) => reference.controller === true);
}

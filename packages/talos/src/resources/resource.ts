/** Where a kind of COSI resource lives and how its spec is read. */
export interface ResourceKind<T> {
  /** Full type name, `MachineStatuses.runtime.talos.dev`. Short aliases are refused by machines. */
  readonly type: string;
  readonly namespace: string;
  /** The one id of a kind that has one resource per machine. */
  readonly id?: string;
  /** @throws SpecFault when the spec is not of this kind */
  readonly parse: (spec: EncodedSpec) => T;
}

/** A spec as it comes: the same content twice. */
export interface EncodedSpec {
  readonly yaml: string;
  readonly proto: Uint8Array;
}

/** One resource as a machine holds it. */
export interface Resource<T> {
  readonly namespace: string;
  readonly type: string;
  readonly id: string;
  /** A number as text, or `undefined` as text for a resource that does not exist (first event of a watch). Only equality is meaningful. */
  readonly version: string;
  /** `tearingDown` while its controller still holds it; what a newer Talos adds is passed on. */
  readonly phase: string;
  /** Controller that writes it. */
  readonly owner: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch by the machine's clock; `undefined` when not given. What is in memory alone is created anew at each boot. */
  readonly createdAt: number | undefined;
  /** Milliseconds since the epoch by the machine's clock; `undefined` when not given. */
  readonly updatedAt: number | undefined;
  readonly spec: T;
}

/**
 * What a watch says.
 *
 * - `current`: as it was when the watch began, or created since, or changed (told apart only by what was seen before)
 * - `destroyed`: it is gone, or was never there (a watch of a single id begins so)
 * - `bootstrapped`: everything that existed when the watch began has been sent
 * - `failed`: the machine cannot go on; begin a new watch
 */
export type ResourceEvent<T> =
  | { readonly kind: "current"; readonly resource: Resource<T> }
  | { readonly kind: "destroyed"; readonly id: string }
  | { readonly kind: "bootstrapped" }
  | { readonly kind: "failed"; readonly reason: string };

/** A spec that cannot be read as its kind. The message names the field and never its value. */
export class SpecFault extends Error {
  override readonly name = "SpecFault";
}

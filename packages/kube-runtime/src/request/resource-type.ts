/** Where a kind is served: everything that a path and an `apiVersion` need. */
export interface ResourceType {
  /** API group; the empty string is the core group. */
  readonly group: string;
  readonly version: string;
  /** Lower-case plural as in the path, for example `taloscontrolplanes`. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Name of one object. `namespace` is required for namespaced kinds and refused for the others. */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** `v1` for the core group, else `group/version`. */
export function apiVersionOf(type: Pick<ResourceType, "group" | "version">): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}

/** Kinds that the runtime itself writes. */
export const leaseType: ResourceType = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};

/** `events.k8s.io/v1`, what the event recorder writes. */
export const eventType: ResourceType = { group: "events.k8s.io", version: "v1", plural: "events", kind: "Event", namespaced: true };

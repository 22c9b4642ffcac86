/** Where the objects of a kind live in the Kubernetes API; what a resource client needs to build a path. */
export interface Resource<G extends string = string, K extends string = string> {
  readonly group: G;
  readonly version: string;
  readonly kind: K;
  /** Lower-case plural, the path segment. */
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  /** What kubectl accepts instead of the plural. */
  readonly shortNames: readonly string[];
}

/** `apiVersion` of the objects of a resource. */
export function apiVersionOf<G extends string>(resource: Resource<G>): string {
  return `${resource.group}/${resource.version}`;
}

import type { CompiledVersion } from "../schema/index.ts";

/** The built-in kinds with schema, list-map keys and printer columns, in the shape of compiled CRD versions. */
export function builtinKinds(): readonly CompiledVersion[] {
  throw new Error("in work");
}

/** One built-in kind, for example `("", "v1", "Secret")` or `("coordination.k8s.io", "v1", "Lease")`. */
export function builtinKind(_group: string, _version: string, _kind: string): CompiledVersion | undefined {
  throw new Error("in work");
}

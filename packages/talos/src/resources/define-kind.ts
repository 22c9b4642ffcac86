import type { ResourceKind } from "./resource.ts";
import { readSpec } from "./spec-reader.ts";
import type { SpecReader } from "./spec-reader.ts";

/** A kind whose spec is a YAML mapping. `id` only where a machine has exactly one resource of the kind. */
export function defineKind<T>(type: string, namespace: string, id: string | undefined, read: (spec: SpecReader) => T): ResourceKind<T> {
  return { type, namespace, ...(id === undefined ? {} : { id }), parse: (spec) => read(readSpec(spec.yaml)) };
}

import type { KubeObject } from "../objects/kube-object.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Default transform: drops managedFields and kubectl's copy of the last applied object, which can be half of an object's memory. */
export function stripManagedFields<T extends KubeObject>(object: T): T {
  const { metadata } = object;
  if (metadata === undefined) return object;
  const annotations = metadata.annotations;
  const hasLastApplied = annotations !== undefined && lastApplied in annotations;
  if (metadata.managedFields === undefined && !hasLastApplied) return object;
  const { managedFields: _, ...rest } = metadata;
  if (!hasLastApplied) return { ...object, metadata: rest };
  const { [lastApplied]: __, ...kept } = annotations;
  return { ...object, metadata: { ...rest, annotations: kept } };
}

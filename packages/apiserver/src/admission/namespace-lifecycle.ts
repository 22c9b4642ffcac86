import { crdResource } from "../kinds/custom.ts";
import { keyOf } from "../kinds/kind.ts";
import type { ServedKind } from "../kinds/kind.ts";
import { metadataOf } from "../request/json.ts";
import { forbidden, notFound } from "../request/status.ts";
import type { ObjectState } from "../store/state.ts";

/** Namespaces that always exist. */
export const systemNamespaces: readonly string[] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Namespaces that refuse to be deleted. */
const immortalNamespaces: readonly string[] = ["default", "kube-system", "kube-public"];

/**
 * Nothing is created in a namespace that is absent or going away.
 *
 * @throws 404 or 403
 */
export function admitIntoNamespace(state: ObjectState, kind: ServedKind, namespace: string, name: string): void {
  if (!kind.namespaced || !kind.persistent) {
    return;
  }
  const entry = state.get("/namespaces", keyOf("", namespace));
  if (entry === undefined) {
    throw notFound({ group: "", plural: "namespaces" }, namespace);
  }
  if (metadataOf(entry.object)["deletionTimestamp"] !== undefined) {
    throw forbidden(kind, name, `unable to create new content in namespace ${namespace} because it is being terminated`, [
      { reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated`, field: "metadata.namespace" },
    ]);
  }
}

/**
 * Nothing is created of a kind whose definition is going away.
 *
 * @throws 403
 */
export function admitIntoKind(state: ObjectState, kind: ServedKind, name: string): void {
  if (!kind.custom) return;
  const definition = state.get(crdResource, keyOf("", `${kind.plural}.${kind.group}`));
  if (definition !== undefined && metadataOf(definition.object)["deletionTimestamp"] !== undefined) {
    throw forbidden(kind, name, "create not allowed while custom resource definition is terminating");
  }
}

/** @throws 403 for a namespace that the cluster cannot live without */
export function admitNamespaceDeletion(kind: ServedKind, name: string): void {
  if (kind.resource === "/namespaces" && immortalNamespaces.includes(name)) {
    throw forbidden(kind, name, "this namespace may not be deleted");
  }
}

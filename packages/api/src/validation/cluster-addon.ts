import type { TalosClusterAddonSpec } from "../kinds/talos-cluster-addon.ts";
import type { Finding } from "./finding.ts";
import { quote } from "./host.ts";

/** A namespace, as a DNS label. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** What is wrong with the spec of a TalosClusterAddon beyond its schema, but for its selector and what its releases say themselves about `helmSpec`. */
export function validateClusterAddonSpec({ helmSpec, targetNamespace = "" }: TalosClusterAddonSpec): readonly Finding[] {
  const at = "spec.targetNamespace";
  if (helmSpec === undefined) return [refused("spec.helmSpec", "it is not there", "Name the chart and its repository")];
  if (targetNamespace === "") return [];
  // The schema fills in `default`, so nobody can tell it from what is not given.
  const { namespace = "default" } = helmSpec;
  return [
    ...(NAMESPACE.test(targetNamespace)
      ? []
      : [refused(at, `${quote(targetNamespace)} is no name of a namespace`, "Write it in a-z, 0-9 and -")]),
    ...(namespace === "default" || namespace === "" || namespace === targetNamespace
      ? []
      : [refused(at, `it is ${quote(targetNamespace)}, and helmSpec.namespace is ${quote(namespace)}`, "Give one of them, or both alike")]),
  ];
}

function refused(field: string, message: string, remedy: string): Finding {
  return { field, message, remedy, reason: "SpecRefused" };
}

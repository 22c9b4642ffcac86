import type { TalosClusterAddonSpec } from "../kinds/talos-cluster-addon.ts";
import type { Finding } from "./finding.ts";
import { quote } from "./host.ts";

/** A namespace, as a DNS label. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** What is wrong with the spec of a TalosClusterAddon beyond its schema, but for its selector and what its releases say themselves about `helmSpec` and `manifests`. */
export function validateClusterAddonSpec({ helmSpec, manifests, targetNamespace = "" }: TalosClusterAddonSpec): readonly Finding[] {
  const at = "spec.targetNamespace";
  if ((helmSpec === undefined) === (manifests === undefined)) return [oneOfBoth(helmSpec !== undefined)];
  if (targetNamespace === "") return [];
  // The schema fills in `default`, so nobody can tell it from what is not given.
  const { namespace = "default" } = helmSpec ?? manifests ?? {};
  const where = helmSpec === undefined ? "manifests" : "helmSpec";
  return [
    ...(NAMESPACE.test(targetNamespace)
      ? []
      : [refused(at, `${quote(targetNamespace)} is no name of a namespace`, "Write it in a-z, 0-9 and -")]),
    ...(namespace === "default" || namespace === "" || namespace === targetNamespace
      ? []
      : [refused(at, `it is ${quote(targetNamespace)}, and ${where}.namespace is ${quote(namespace)}`, "Give one of them, or both alike")]),
  ];
}

/** Said where a spec names a chart and objects, or neither. */
export function oneOfBoth(areBoth: boolean): Finding {
  return areBoth
    ? refused(
        "spec.manifests",
        "helmSpec is there as well",
        "Give exactly one of helmSpec and manifests; make two addons where both are needed, with dependsOn",
      )
    : refused("spec.helmSpec", "it is not there", "Name the chart and its repository, or give manifests");
}

function refused(field: string, message: string, remedy: string): Finding {
  return { field, message, remedy, reason: "SpecRefused" };
}

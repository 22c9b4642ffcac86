import type { ConfigMap } from "../../document/value.ts";
import { mapAt } from "../access.ts";
import { quoted } from "../text/quote.ts";

/** Kinds of authorizers of the API server. */
export const authorizerTypes: readonly string[] = ["Node", "RBAC", "Webhook"];

/** What is wrong with the resources of a pod; `undefined` when nothing is. */
export function checkPodResources(resources: ConfigMap | undefined): string | undefined {
  for (const section of ["requests", "limits"]) {
    for (const name of mapAt(resources, section)?.keys() ?? []) {
      if (name !== "memory" && name !== "cpu") return `unsupported pod resource ${quoted(name)}`;
    }
  }
  return undefined;
}

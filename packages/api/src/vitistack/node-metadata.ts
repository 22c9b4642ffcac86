import { quote } from "../validation/host.ts";
import { inert, wrong } from "./cluster-draft.ts";
import type { Notes } from "./cluster-draft.ts";

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** Keys that a kubelet may give its own node although their prefix is Kubernetes'. */
const kubeletMay = /^((kubelet|node)\.kubernetes\.io$|.*\.(kubelet|node)\.kubernetes\.io$)/;

/**
 * Labels, annotations or taints of nodes as far as they can be set: keys and values that an API server refuses are problems,
 * keys that belong to the operator or to Kubernetes itself do nothing.
 *
 * @see kubernetes/kubernetes `plugin/pkg/admission/noderestriction/admission.go`
 */
export function nodeMetadata(
  notes: Notes,
  field: string,
  pairs: Readonly<Record<string, string>>,
  what: "label" | "annotation" | "taint",
): Readonly<Record<string, string>> {
  const kept: [string, string][] = [];
  for (const [key, value] of Object.entries(pairs)) {
    const at = what === "taint" ? field : `${field}[${quote(key)}]`;
    const slash = key.indexOf("/");
    const prefix = slash < 0 ? undefined : key.slice(0, slash);
    if (!NAME.test(key.slice(slash + 1)) || (prefix !== undefined && (prefix.length > 253 || !PREFIX.test(prefix))))
      wrong(
        notes,
        what === "taint" ? `${at}.key` : at,
        `${quote(key)} is no key of a ${what}`,
        "Write letters, digits, dashes, dots and underscores, with a DNS name and a slash before them if need be",
      );
    else if (what !== "annotation" && (value.length > 63 || !VALUE.test(value)))
      wrong(
        notes,
        what === "taint" ? `${at}.value` : at,
        `${quote(value)} is no value of a ${what}`,
        "Write up to 63 letters, digits, dashes, dots and underscores",
      );
    else if (prefix !== undefined && isOwn(prefix)) inert(notes, at, `${prefix} is the operator's`);
    else if (prefix !== undefined && what === "label" && isKubernetes(prefix) && !kubeletMay.test(prefix))
      inert(notes, at, "a node may not give itself this label");
    else kept.push([key, value]);
  }
  return Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function isOwn(prefix: string): boolean {
  return ["vitistack.io", "talos-operator.dev", "talos.dev"].some((own) => prefix === own || prefix.endsWith(`.${own}`));
}

function isKubernetes(prefix: string): boolean {
  return ["kubernetes.io", "k8s.io"].some((own) => prefix === own || prefix.endsWith(`.${own}`));
}

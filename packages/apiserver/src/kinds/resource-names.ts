import { problemsOfQualifiedName } from "../request/qualified-name.ts";
import type { FieldError } from "../schema/index.ts";
import { invalidValue } from "./rule-errors.ts";

/** What a pod's share of a quota is called. */
export const podQuotaNames: ReadonlySet<string> = new Set([
  "cpu",
  "memory",
  "ephemeral-storage",
  ...["requests", "limits"].flatMap((side) => ["cpu", "memory", "ephemeral-storage"].map((name) => `${side}.${name}`)),
  "pods",
]);
/** What counts objects under a name of its own. */
const counted = [
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const quotaNames = new Set([...podQuotaNames, ...counted, "requests.storage"]);
const wholeNames = new Set(["pods", ...counted]);

const isHugePages = (name: string): boolean => name.startsWith("hugepages-");

/** True for a name that quotas know without a prefix. */
export function isStandardQuotaName(name: string): boolean {
  return quotaNames.has(name) || isHugePages(name.replace(/^requests\./, ""));
}

/** True for devices and the like: what somebody else than Kubernetes named. */
export function isExtendedName(name: string): boolean {
  return name.includes("/") && !name.includes("kubernetes.io/");
}

/** True for what only comes in whole pieces. */
export function isWholeName(name: string): boolean {
  return wholeNames.has(name) || (isExtendedName(name) && !name.startsWith("requests."));
}

/** A resource of any kind: known, or with a prefix. */
export function validateResourceName(name: string, at: string): readonly FieldError[] {
  const problems = problemsOfQualifiedName(name);
  if (problems.length > 0) return problems.map((why) => invalidValue(at, name, why));
  return name.includes("/") || isStandardQuotaName(name) || name === "storage"
    ? []
    : [invalidValue(at, name, "must be a standard resource type or fully qualified")];
}

/** A resource that a container can ask for. */
export function validateContainerResourceName(name: string, at: string): readonly FieldError[] {
  const errors = validateResourceName(name, at);
  if (name.includes("/")) {
    const isNamedWell =
      !isExtendedName(name) || (!name.startsWith("requests.") && problemsOfQualifiedName(`requests.${name}`).length === 0);
    return isNamedWell ? errors : [...errors, invalidValue(at, name, "doesn't follow extended resource name standard")];
  }
  return ["cpu", "memory", "ephemeral-storage"].includes(name) || isHugePages(name)
    ? errors
    : [...errors, invalidValue(at, name, "must be a standard resource for containers")];
}

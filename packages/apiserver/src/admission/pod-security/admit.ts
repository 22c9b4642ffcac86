import { equalJson } from "../../json.ts";
import type { JsonObject } from "../../json.ts";
import { keyOf } from "../../kinds/kind.ts";
import type { ServedKind } from "../../kinds/kind.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../../request/json.ts";
import { forbidden, invalid } from "../../request/status.ts";
import type { ObjectState } from "../../store/state.ts";
import { policiesOf, refusePolicyLabels } from "./labels.ts";
import type { NamespacePolicies } from "./labels.ts";
import { nameOf, securityLevels, violationsOf } from "./profiles.ts";
import type { SecurityPolicy } from "./profiles.ts";
import type { Violation } from "./checked-pod.ts";

/** Where the templates of workloads stand. */
const templates: Readonly<Record<string, readonly string[]>> = {
  "/podtemplates": ["template"],
  "/replicationcontrollers": ["spec", "template"],
  "apps/daemonsets": ["spec", "template"],
  "apps/deployments": ["spec", "template"],
  "apps/replicasets": ["spec", "template"],
  "apps/statefulsets": ["spec", "template"],
  "batch/cronjobs": ["spec", "jobTemplate", "spec", "template"],
  "batch/jobs": ["spec", "template"],
};
/** Through others nothing changes that a profile looks at. */
const checkedSubresources: ReadonlySet<string> = new Set(["", "ephemeralcontainers", "resize"]);
/** So many pods of a namespace are looked at when its label changes. */
const maxCheckedPods = 3000;

/** A write as Pod Security sees it. */
interface SecuredWrite {
  readonly kind: ServedKind;
  readonly subresource: string;
  readonly namespace: string;
  readonly object: JsonObject;
  /** The object before the write; `undefined` for a new one. */
  readonly live: JsonObject | undefined;
}

/**
 * Pods keep to the profiles that the labels of their namespace name, and who writes them or templates of them is told what they will meet.
 *
 * @returns warnings
 * @throws 403 for a pod, 422 for a namespace whose labels name no profile
 * @see https://kubernetes.io/docs/concepts/security/pod-security-admission/
 */
export function admitBySecurity(state: ObjectState, write: SecuredWrite): readonly string[] {
  const { kind, subresource, namespace, object, live } = write;
  if (kind.custom) return [];
  if (kind.resource === "/namespaces") return subresource === "" ? admitLabels(state, object, live) : [];
  const template = templates[kind.resource];
  const isPod = kind.resource === "/pods" && checkedSubresources.has(subresource);
  if (!isPod && (template === undefined || subresource !== "")) return [];
  const entry = state.get("/namespaces", keyOf("", namespace));
  const policies = entry === undefined ? undefined : policiesOf(entry.object);
  if (policies === undefined || isOpen(policies)) return [];
  if (!isPod) return warningsOf(policies.warn, template?.reduce(objectAt, object) ?? {});
  if (live !== undefined && !isSignificant(object, live)) return [];
  const violations = violationsOf(policies.enforce, object);
  if (violations.length > 0) {
    const name = stringAt(metadataOf(object), "name") ?? "";
    throw forbidden(kind, name, `violates PodSecurity ${JSON.stringify(nameOf(policies.enforce))}: ${detailsOf(violations)}`);
  }
  return warningsOf(policies.warn, object);
}

function isOpen({ enforce, warn }: NamespacePolicies): boolean {
  return enforce.level === "privileged" && warn.level === "privileged";
}

function warningsOf(policy: SecurityPolicy, pod: JsonObject): readonly string[] {
  const violations = violationsOf(policy, pod);
  return violations.length === 0 ? [] : [`would violate PodSecurity ${JSON.stringify(nameOf(policy))}: ${detailsOf(violations)}`];
}

const detailsOf = (violations: readonly Violation[]): string => violations.map(({ reason, detail }) => `${reason} (${detail})`).join(", ");

/** A pod that was let in may be labelled, finished and deleted whatever its namespace says by now: only other containers or images count. */
function isSignificant(pod: JsonObject, live: JsonObject): boolean {
  const images = (object: JsonObject): unknown =>
    ["initContainers", "containers", "ephemeralContainers"].map((list) =>
      objectsAt(objectAt(object, "spec"), list).map(({ name, image }) => [name ?? null, image ?? null]),
    );
  return !equalJson(images(pod), images(live));
}

function admitLabels(state: ObjectState, namespace: JsonObject, live: JsonObject | undefined): readonly string[] {
  const name = stringAt(metadataOf(namespace), "name") ?? "";
  const errors = refusePolicyLabels(namespace);
  // What was wrong before keeps nobody from changing something else.
  if (errors.length > 0 && (live === undefined || !equalJson(refusePolicyLabels(live), errors)))
    throw invalid("", "Namespace", name, errors);
  if (live === undefined) return [];
  const [next, before] = [policiesOf(namespace).enforce, policiesOf(live).enforce];
  const isLooser = next.minor === before.minor && securityLevels.indexOf(next.level) <= securityLevels.indexOf(before.level);
  return isLooser ? [] : warningsOfPods(state, name, next);
}

/** Pods that are there already stay; who tightens the rules is told which of them would not be let in again. */
function warningsOfPods(state: ObjectState, namespace: string, policy: SecurityPolicy): readonly string[] {
  const pods = state.list("/pods", `${namespace}/`).map(({ object }) => object);
  const checked = pods.length > maxCheckedPods ? variousFirst(pods).slice(0, maxCheckedPods) : pods;
  const names = new Map<string, string[]>();
  for (const pod of checked) {
    const reasons = violationsOf(policy, pod).map(({ reason }) => reason);
    if (reasons.length === 0) continue;
    const said = reasons.join(", ");
    names.set(said, [...(names.get(said) ?? []), stringAt(metadataOf(pod), "name") ?? ""]);
  }
  const groups = [...names].map(([reasons, found]) => ({ reasons, found: found.toSorted() }));
  const lines = groups.map(({ reasons, found }) => {
    const others = found.length - 1;
    return `${found[0] ?? ""}${others === 0 ? "" : ` (and ${others} other pod${others > 1 ? "s" : ""})`}: ${reasons}`;
  });
  return [
    ...(checked.length < pods.length
      ? [`new PodSecurity enforce level only checked against the first ${checked.length} of ${pods.length} existing pods`]
      : []),
    ...(lines.length === 0
      ? []
      : [
          `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${JSON.stringify(nameOf(policy))}`,
        ]),
    ...lines.sort(),
  ];
}

/** One pod of every controller before its others, which are most likely the same. */
function variousFirst(pods: readonly JsonObject[]): readonly JsonObject[] {
  const seen = new Set<unknown>();
  const rest: JsonObject[] = [];
  const first = pods.filter((pod) => {
    const controller = objectsAt(metadataOf(pod), "ownerReferences").find((owner) => owner["controller"] === true);
    if (controller === undefined) return true;
    const isNew = !seen.has(controller["uid"]);
    seen.add(controller["uid"]);
    if (!isNew) rest.push(pod);
    return isNew;
  });
  return [...first, ...rest];
}

import { equalJson } from "../../json.ts";
import type { JsonObject } from "../../json.ts";
import { keyOf } from "../../kinds/kind.ts";
import type { ServedKind } from "../../kinds/kind.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../../request/json.ts";
import { forbidden, invalid } from "../../request/status.ts";
import type { ObjectState } from "../../store/state.ts";
import { enforcedPolicy, refusePolicyLabels } from "./labels.ts";
import { nameOf, violationsOf } from "./profiles.ts";

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
 * Pods keep to the profile that their namespace enforces.
 *
 * @throws 403 for a pod, 422 for a namespace whose labels name no profile
 * @see https://kubernetes.io/docs/concepts/security/pod-security-admission/
 */
export function admitBySecurity(state: ObjectState, write: SecuredWrite): void {
  const { kind, subresource, namespace, object, live } = write;
  if (subresource !== "") return;
  if (kind.resource === "/namespaces") admitLabels(object, live);
  if (kind.resource !== "/pods" || (live !== undefined && !isSignificant(object, live))) return;
  const entry = state.get("/namespaces", keyOf("", namespace));
  if (entry === undefined) return;
  const policy = enforcedPolicy(entry.object);
  const violations = violationsOf(policy, object);
  if (violations.length === 0) return;
  const details = violations.map(({ reason, detail }) => `${reason} (${detail})`).join(", ");
  const name = stringAt(metadataOf(object), "name") ?? "";
  throw forbidden(kind, name, `violates PodSecurity ${JSON.stringify(nameOf(policy))}: ${details}`);
}

/** A pod that was let in may be labelled, finished and deleted whatever its namespace says by now: only other containers or images count. */
function isSignificant(pod: JsonObject, live: JsonObject): boolean {
  const images = (object: JsonObject): unknown =>
    ["initContainers", "containers"].map((list) =>
      objectsAt(objectAt(object, "spec"), list).map(({ name, image }) => [name ?? null, image ?? null]),
    );
  return !equalJson(images(pod), images(live));
}

/** What was wrong before keeps nobody from changing something else. */
function admitLabels(namespace: JsonObject, live: JsonObject | undefined): void {
  const errors = refusePolicyLabels(namespace);
  if (errors.length === 0 || (live !== undefined && equalJson(refusePolicyLabels(live), errors))) return;
  throw invalid("", "Namespace", stringAt(metadataOf(namespace), "name") ?? "", errors);
}

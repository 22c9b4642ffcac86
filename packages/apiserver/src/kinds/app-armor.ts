import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, stringAt } from "../request/json.ts";
import { each, inside } from "./defaults/fill.ts";

const prefix = "container.apparmor.security.beta.kubernetes.io/";

/** What an annotation of old says, as the field says it. */
function profileOf(annotation: unknown): JsonObject | undefined {
  if (annotation === "unconfined") return { type: "Unconfined" };
  if (annotation === "runtime/default") return { type: "RuntimeDefault" };
  const local = typeof annotation === "string" ? /^localhost\/(.+)$/.exec(annotation)?.[1] : undefined;
  return local === undefined ? undefined : { type: "Localhost", localhostProfile: local };
}

/** A new pod whose annotations name AppArmor profiles of containers gets the fields that took their place. */
export function confineAsAnnotated(pod: JsonObject, warn: (text: string) => void): JsonObject {
  const annotations = objectAt(metadataOf(pod), "annotations");
  if (!Object.keys(annotations).some((key) => key.startsWith(prefix))) return pod;
  const ofPod = objectAt(objectAt(pod, "spec"), "securityContext")["appArmorProfile"];
  const confine = (container: JsonObject): JsonObject => {
    const key = `${prefix}${stringAt(container, "name") ?? ""}`;
    const profile = profileOf(annotations[key]);
    const context = objectAt(container, "securityContext");
    if (profile === undefined || context["appArmorProfile"] !== undefined || equalJson(profile, ofPod)) return container;
    warn(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
    return { ...container, securityContext: { ...context, appArmorProfile: profile } };
  };
  return inside(pod, "spec", (spec) => each(each(spec, "initContainers", confine), "containers", confine));
}

import type { JsonObject } from "../../json.ts";
import { objectAt, objectsAt, stringAt, stringsAt } from "../../request/json.ts";
import { refuseCapabilities, refuseUnconfined } from "./baseline.ts";
import { containersOf, counted, quoted, settersOf, sorted } from "./checked-pod.ts";
import type { CheckedContainer, CheckedPod, PodCheck } from "./checked-pod.ts";

// What the profile "restricted" asks for on top: pods that give up what they do not need.
// See https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted

/** From 1.25 on pods of Windows are not asked for what only Linux has. */
export const unlessWindows =
  (check: PodCheck): PodCheck =>
  (pod) =>
    pod.isWindows ? undefined : check(pod);

/** From 1.35 on pods whose root is nobody on the node may have one. */
export const unlessOwnUsers =
  (check: PodCheck): PodCheck =>
  (pod) =>
    pod.hasOwnUsers ? undefined : check(pod);

/** Nobody in a container gets more rights than it began with. */
export const checkEscalation: PodCheck = ({ containers }) => {
  const bad = containers.filter(({ security }) => security["allowPrivilegeEscalation"] !== false);
  return bad.length === 0
    ? undefined
    : {
        reason: "allowPrivilegeEscalation != false",
        detail: `${containersOf(bad)} must set securityContext.allowPrivilegeEscalation=false`,
      };
};

/** All capabilities are given up; ports below 1024 may be listened on. */
export const checkDroppedCapabilities: PodCheck = (pod) => {
  const keeping = pod.containers.filter(({ security }) => !stringsAt(objectAt(security, "capabilities"), "drop").includes("ALL"));
  const refusals = [
    ...(keeping.length === 0 ? [] : [`${containersOf(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    refuseCapabilities(pod, (name) => name === "NET_BIND_SERVICE"),
  ].filter((text) => text !== "");
  return refusals.length === 0 ? undefined : { reason: "unrestricted capabilities", detail: refusals.join("; ") };
};

const allowedVolumes: ReadonlySet<string> = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

/** Storage is what the cluster gives, not what a pod names itself. */
export const checkVolumes: PodCheck = ({ spec }) => {
  const sourceOf = (volume: JsonObject): string => Object.keys(volume).find((field) => field !== "name") ?? "emptyDir";
  const bad = objectsAt(spec, "volumes").filter((volume) => !allowedVolumes.has(sourceOf(volume)));
  if (bad.length === 0) return undefined;
  const names = bad.map((volume) => stringAt(volume, "name") ?? "");
  const verb = bad.length > 1 ? "use" : "uses";
  return {
    reason: "restricted volume types",
    detail: `${counted("volume", names)} ${verb} restricted ${counted("volume type", sorted(bad.map(sourceOf)))}`,
  };
};

/** Nobody runs as root: somebody says so, and nobody says the contrary. */
export const checkNonRoot: PodCheck = ({ security, containers }) => {
  const isRoot = (context: JsonObject): boolean => context["runAsNonRoot"] === false;
  const bad = containers.filter((one) => isRoot(one.security));
  const reason = "runAsNonRoot != true";
  if (bad.length > 0 || isRoot(security))
    return { reason, detail: `${settersOf(isRoot(security), bad)} must not set securityContext.runAsNonRoot=false` };
  const silent = unsaid(security, containers, (context) => context["runAsNonRoot"] === true);
  return silent.length === 0 ? undefined : { reason, detail: `pod or ${containersOf(silent)} must set securityContext.runAsNonRoot=true` };
};

/** Containers for which neither they nor the pod say something. */
function unsaid(
  security: JsonObject,
  containers: readonly CheckedContainer[],
  isSaid: (context: JsonObject) => boolean,
): readonly CheckedContainer[] {
  return isSaid(security) ? [] : containers.filter((one) => !isSaid(one.security));
}

/** The user is not root by number either. */
export const checkUser: PodCheck = ({ security, containers }) => {
  const isRoot = (context: JsonObject): boolean => context["runAsUser"] === 0;
  const bad = containers.filter((one) => isRoot(one.security));
  return bad.length === 0 && !isRoot(security)
    ? undefined
    : { reason: "runAsUser=0", detail: `${settersOf(isRoot(security), bad)} must not set runAsUser=0` };
};

/** Calls to the kernel are filtered, and somebody says so. */
export const checkSeccompSaid: PodCheck = (pod: CheckedPod) => {
  const unconfined = refuseUnconfined(pod);
  if (unconfined !== undefined) return unconfined;
  const silent = unsaid(pod.security, pod.containers, (context) => (stringAt(objectAt(context, "seccompProfile"), "type") ?? "") !== "");
  if (silent.length === 0) return undefined;
  return {
    reason: "seccompProfile",
    detail: `pod or ${containersOf(silent)} must set securityContext.seccompProfile.type to ${quoted(["RuntimeDefault"])} or ${quoted(["Localhost"])}`,
  };
};

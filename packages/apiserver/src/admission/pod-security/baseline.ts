import type { JsonObject } from "../../json.ts";
import { objectAt, objectsAt, stringAt, stringsAt } from "../../request/json.ts";
import { containersOf, counted, quoted, settersOf, sorted } from "./checked-pod.ts";
import type { CheckedPod, PodCheck, Violation } from "./checked-pod.ts";

// What the profile "baseline" forbids: the known ways of a pod to more rights than it was given.
// See https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline

const appArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";

/** AppArmor profiles are not switched off, neither by field nor by annotation. */
export const checkAppArmor: PodCheck = ({ annotations, security, containers }) => {
  const typeOf = (context: JsonObject): string => stringAt(objectAt(context, "appArmorProfile"), "type") ?? "";
  const isBad = (type: string): boolean => !["", "RuntimeDefault", "Localhost"].includes(type);
  const bad = containers.filter((one) => isBad(typeOf(one.security)));
  const isPodBad = isBad(typeOf(security));
  const notes = Object.entries(annotations)
    .filter(([key, value]) => key.startsWith(appArmorPrefix) && !/^($|runtime\/default$|localhost\/)/.test(String(value)))
    .map(([key, value]) => `${key}="${String(value)}"`)
    .sort();
  const types = sorted([...(isPodBad ? [typeOf(security)] : []), ...bad.map((one) => typeOf(one.security))]);
  const values = [...types, ...notes];
  if (values.length === 0) return undefined;
  const setters = [settersOf(isPodBad, bad), notes.length === 0 ? "" : `annotation${notes.length > 1 ? "s" : ""}`];
  return {
    reason: `forbidden AppArmor profile${values.length > 1 ? "s" : ""}`,
    // The genuine one quotes annotations without escaping what is quoted in them.
    detail: `${setters.filter((text) => text !== "").join(" and ")} must not set AppArmor profile type to ${values.map((value) => `"${value}"`).join(", ")}`,
  };
};

const defaultCapabilities: ReadonlySet<string> = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);

/** No capability beyond those that container runtimes give. */
export const checkCapabilities: PodCheck = (pod) => {
  const refusal = refuseCapabilities(pod, (name) => defaultCapabilities.has(name));
  return refusal === "" ? undefined : { reason: "non-default capabilities", detail: refusal };
};

/** Who adds capabilities that are not allowed, and which; empty when nobody does. */
export function refuseCapabilities({ containers }: CheckedPod, isAllowed: (name: string) => boolean): string {
  const added = containers.map((one) => ({
    one,
    names: stringsAt(objectAt(one.security, "capabilities"), "add").filter((name) => !isAllowed(name)),
  }));
  const bad = added.filter(({ names }) => names.length > 0);
  if (bad.length === 0) return "";
  const names = sorted(bad.flatMap((found) => found.names));
  return `${containersOf(bad.map(({ one }) => one))} must not include ${quoted(names)} in securityContext.capabilities.add`;
}

/** Nothing is shared with the node. */
export const checkHostNamespaces: PodCheck = ({ spec }) => {
  const shared = ["hostNetwork", "hostPID", "hostIPC"].filter((field) => spec[field] === true);
  return shared.length === 0 ? undefined : { reason: "host namespaces", detail: shared.map((field) => `${field}=true`).join(", ") };
};

/** No directory of the node is mounted. */
export const checkHostPaths: PodCheck = ({ spec }) => {
  const bad = objectsAt(spec, "volumes").filter((volume) => volume["hostPath"] !== undefined);
  const names = bad.map((volume) => stringAt(volume, "name") ?? "");
  return bad.length === 0 ? undefined : { reason: "hostPath volumes", detail: counted("volume", names) };
};

/** No port of the node is taken. */
export const checkHostPorts: PodCheck = ({ containers }) => {
  const taken = containers.map((one) => ({
    one,
    ports: objectsAt(one.container, "ports").flatMap(({ hostPort }) =>
      typeof hostPort === "number" && hostPort !== 0 ? [String(hostPort)] : [],
    ),
  }));
  const bad = taken.filter(({ ports }) => ports.length > 0);
  if (bad.length === 0) return undefined;
  const ports = sorted(bad.flatMap((found) => found.ports));
  return {
    reason: "hostPort",
    detail: `${containersOf(bad.map(({ one }) => one))} use${bad.length > 1 ? "" : "s"} hostPort${ports.length > 1 ? "s" : ""} ${ports.join(", ")}`,
  };
};

/** Probes and hooks, which the kubelet runs, ask the pod and nobody else. */
export const checkProbedHosts: PodCheck = ({ containers }) => {
  const asked = containers.map((one) => {
    const lifecycle = objectAt(one.container, "lifecycle");
    const handlers = [
      ...["livenessProbe", "readinessProbe", "startupProbe"].map((field) => objectAt(one.container, field)),
      ...["postStart", "preStop"].map((field) => objectAt(lifecycle, field)),
    ];
    const hosts = handlers.flatMap((handler) => ["httpGet", "tcpSocket"].map((way) => stringAt(objectAt(handler, way), "host") ?? ""));
    return { one, hosts: hosts.filter((host) => host !== "") };
  });
  const bad = asked.filter(({ hosts }) => hosts.length > 0);
  if (bad.length === 0) return undefined;
  const hosts = sorted(bad.flatMap((found) => found.hosts));
  return {
    reason: "probe or lifecycle host",
    detail: `${containersOf(bad.map(({ one }) => one))} use${bad.length > 1 ? "" : "s"} probe or lifecycle host${hosts.length > 1 ? "s" : ""} ${quoted(hosts)}`,
  };
};

/** No container may do what the node may. */
export const checkPrivileged: PodCheck = ({ containers }) => {
  const bad = containers.filter(({ security }) => security["privileged"] === true);
  return bad.length === 0
    ? undefined
    : { reason: "privileged", detail: `${containersOf(bad)} must not set securityContext.privileged=true` };
};

/** What the runtime masks of `/proc` stays masked. */
export const checkProcMount: PodCheck = ({ containers }) => {
  const bad = containers.filter(({ security }) => ![undefined, "", "Default"].includes(stringAt(security, "procMount")));
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map(({ security }) => stringAt(security, "procMount") ?? ""));
  return { reason: "procMount", detail: `${containersOf(bad)} must not set securityContext.procMount to ${quoted(types)}` };
};

/** From 1.35 on, baseline leaves it to pods whose users are not those of the node. */
export const checkProcMountOfHostUsers: PodCheck = (pod) => (pod.hasOwnUsers ? undefined : checkProcMount(pod));

/** SELinux labels are those of containers, whoever runs in them. */
export const checkSelinuxWith =
  (allowed: readonly string[]): PodCheck =>
  ({ security, containers }) => {
    const options = (context: JsonObject): JsonObject => objectAt(context, "seLinuxOptions");
    const says = (context: JsonObject, field: string): string => stringAt(options(context), field) ?? "";
    const isBadType = (context: JsonObject): boolean => !["", ...allowed].includes(says(context, "type"));
    const isBad = (context: JsonObject): boolean => isBadType(context) || says(context, "user") !== "" || says(context, "role") !== "";
    const bad = containers.filter((one) => isBad(one.security));
    const contexts = [...(isBad(security) ? [security] : []), ...bad.map((one) => one.security)];
    if (contexts.length === 0) return undefined;
    const types = sorted(contexts.filter(isBadType).map((context) => says(context, "type")));
    const faults = [
      ...(types.length === 0 ? [] : [counted("type", types)]),
      ...["user", "role"]
        .filter((field) => contexts.some((context) => says(context, field) !== ""))
        .map((field) => `${field} may not be set`),
    ];
    return {
      reason: "seLinuxOptions",
      detail: `${settersOf(isBad(security), bad)} set forbidden securityContext.seLinuxOptions: ${faults.join("; ")}`,
    };
  };

/** Types of SELinux before 1.31. */
export const selinuxTypes: readonly string[] = ["container_t", "container_init_t", "container_kvm_t"];

const podSeccomp = "seccomp.security.alpha.kubernetes.io/pod";
const containerSeccomp = "container.seccomp.security.alpha.kubernetes.io/";

/** Before 1.19 profiles of seccomp were annotations. */
export const checkSeccompAnnotations: PodCheck = ({ annotations, containers }) => {
  const keys = [podSeccomp, ...containers.map(({ name }) => `${containerSeccomp}${name}`)];
  const bad = keys.filter((key) => {
    const value = stringAt(annotations, key);
    return value !== undefined && !/^(runtime\/default$|docker\/default$|localhost\/)/.test(value);
  });
  if (bad.length === 0) return undefined;
  const shown = bad.map((key) => `${key}="${String(annotations[key])}"`).sort();
  return { reason: "seccompProfile", detail: `forbidden annotation${bad.length > 1 ? "s" : ""} ${shown.join(", ")}` };
};

/** Calls to the kernel are filtered, or nothing is said of it. */
export const checkSeccomp: PodCheck = (pod) => refuseUnconfined(pod);

/** Who says that nothing is to be filtered. */
export function refuseUnconfined({ security, containers }: CheckedPod): Violation | undefined {
  const typeOf = (context: JsonObject): string => stringAt(objectAt(context, "seccompProfile"), "type") ?? "";
  const isBad = (context: JsonObject): boolean => !["", "RuntimeDefault", "Localhost"].includes(typeOf(context));
  const bad = containers.filter((one) => isBad(one.security));
  if (bad.length === 0 && !isBad(security)) return undefined;
  const types = sorted([...(isBad(security) ? [typeOf(security)] : []), ...bad.map((one) => typeOf(one.security))]);
  return {
    reason: "seccompProfile",
    detail: `${settersOf(isBad(security), bad)} must not set securityContext.seccompProfile.type to ${quoted(types)}`,
  };
}

/** Settings of the kernel that are the pod's own. */
export const safeSysctls: readonly string[] = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
];

/** Only settings of the kernel that do no harm to others are changed. */
export const checkSysctlsWith =
  (allowed: readonly string[]): PodCheck =>
  ({ security }) => {
    const names = objectsAt(security, "sysctls").map((sysctl) => stringAt(sysctl, "name") ?? "");
    const bad = names.filter((name) => !allowed.includes(name));
    return bad.length === 0 ? undefined : { reason: "forbidden sysctls", detail: bad.join(", ") };
  };

/** No container of Windows runs as the node itself. */
export const checkHostProcess: PodCheck = ({ security, containers }) => {
  const isHost = (context: JsonObject): boolean => objectAt(context, "windowsOptions")["hostProcess"] === true;
  const bad = containers.filter((one) => isHost(one.security));
  return bad.length === 0 && !isHost(security)
    ? undefined
    : { reason: "hostProcess", detail: `${settersOf(isHost(security), bad)} must not set securityContext.windowsOptions.hostProcess=true` };
};

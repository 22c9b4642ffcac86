import { sortedByBytes } from "../../yaml/key-order.ts";
import type { ConfigMap } from "../../document/value.ts";
import { at, isOn, isThere, listAt, mapAt, mapsAt, textAt, textsAt } from "../access.ts";
import { listOf, type Report } from "../report.ts";
import { isSubnetOrAddress } from "../text/address.ts";
import { quoted } from "../text/quote.ts";
import { tryParsePrefix } from "../../scalars/ip.ts";
import type { RuleSet } from "../rule-set.ts";
import { checkCluster, checkCni } from "./cluster.ts";
import { checkDiskEncryption, checkDisks, checkInstall, checkExtensions } from "./install.ts";
import { checkKubelet } from "./kubelet.ts";
import { checkAnnotations, checkLabels, checkTaints } from "./labels.ts";
import { checkLogging } from "./logging.ts";
import { checkNetwork } from "./network.ts";
import { checkRuntimeSpec } from "./runtime-spec.ts";

/** Roles that may be granted. */
const roles: ReadonlySet<string> = new Set([
  "os:admin",
  "os:operator",
  "os:reader",
  "os:etcd:backup",
  "os:image:verifier",
  "os:meta:writer",
  "os:impersonator",
]);

/** Whether Talos knows the role. */
export function isRole(text: string): boolean {
  return roles.has(text);
}

/** What the type of a machine means; `undefined` for types that do not exist. */
function roleOf(type: string): "controlplane" | "worker" | undefined {
  if (type === "controlplane" || type === "init") return "controlplane";
  return ["worker", "join", ""].includes(type) ? "worker" : undefined;
}

/** True for the v1alpha1 document of a control plane. */
export function isControlPlane(config: ConfigMap | undefined): boolean {
  return roleOf(textAt(config, "machine", "type")) === "controlplane" && isThere(config, "machine");
}

/** The v1alpha1 document by itself, in the order in which Talos finds things. */
export function checkV1alpha1(config: ConfigMap, rules: RuleSet, report: Report): void {
  const machine = mapAt(config, "machine");
  const cluster = mapAt(config, "cluster");
  if (machine === undefined) return report.error("machine instructions are required");
  const type = textAt(machine, "type");
  const role = roleOf(type);
  if (rules.generation === "1.14") warnOfOldFields(machine, report);
  checkCluster(cluster, role === "controlplane", rules, report);
  if (rules.mode === "metal") checkInstall(machine, rules, report);
  if (rules.mode === "container") checkContainer(machine, rules, report);
  report.errorIf(
    isOn(machine, "features", "hostDNS", "forwardKubeDNSToHost") && !isOn(machine, "features", "hostDNS", "enabled"),
    "feature hostDNS.forwardKubeDNSToHost requires hostDNS.enabled to be true (.machine.features.hostDNS)",
  );
  if (role === "worker" && type !== "worker") report.warning(`use "worker" instead of ${quoted(type)} for machine type`);
  report.errorIf(
    mapAt(machine, "ca") === undefined && listAt(machine, "acceptedCAs").length === 0,
    "issuing CA or some accepted CAs are required (.machine.ca, machine.acceptedCAs)",
  );
  if (role === "controlplane") checkControlPlane(machine, cluster, rules, report);
  else if (role === "worker") checkWorker(machine, cluster, report);
  else report.error(`unknown machine type ${quoted(type)}`);
  checkNetwork(mapAt(machine, "network"), report);
  checkDisks(machine, report);
  checkKubelet(mapAt(machine, "kubelet"), report);
  checkDiskEncryption(machine, report);
  checkKubeSpan(machine, cluster, rules, report);
  checkLogging(mapAt(machine, "logging"), report);
  checkExtensions(machine, report);
  reportTogether(report, "invalid machine node labels", checkLabels(mapAt(machine, "nodeLabels")));
  reportTogether(report, "invalid machine node annotations", checkAnnotations(mapAt(machine, "nodeAnnotations")));
  reportTogether(report, "invalid machine node taints", checkTaints(mapAt(machine, "nodeTaints")));
  checkFeatures(machine, role === "controlplane", report);
  report.errorIf(at(config, "persist") === false, ".persist should be enabled");
  checkRuntimeSpec(mapAt(machine, "baseRuntimeSpecOverrides"), report);
  for (const section of ["config", "mirrors"]) {
    for (const [name, value] of sortedByBytes(mapAt(machine, "registries", section) ?? new Map())) {
      report.errorIf(value === null, `registries.${section}[${quoted(name)}] is null`);
    }
  }
}

function reportTogether(report: Report, title: string, errors: readonly string[]): void {
  report.errorIf(errors.length > 0, `${title}: ${listOf(errors)}`);
}

function warnOfOldFields(machine: ConfigMap, report: Report): void {
  if (listAt(machine, "files").length > 0) report.warning(".machine.files is deprecated; use dedicated configuration documents instead");
  if ((mapAt(machine, "baseRuntimeSpecOverrides")?.size ?? 0) > 0)
    report.warning(".machine.baseRuntimeSpecOverrides is deprecated; use a CRIBaseRuntimeSpecConfig document instead");
}

/** From 1.14 on the documents together answer for it. */
function checkContainer(machine: ConfigMap, { generation }: RuleSet, report: Report): void {
  if (generation !== "1.13") return;
  report.errorIf(
    !isOn(machine, "features", "hostDNS", "enabled"),
    "feature HostDNS should be enabled in container mode (.machine.features.hostDNS.enabled)",
  );
  report.errorIf(
    !isOn(machine, "features", "hostDNS", "forwardKubeDNSToHost"),
    "feature HostDNS should forward kube-dns to host in container mode (.machine.features.hostDNS.forwardKubeDNSToHost)",
  );
}

function checkControlPlane(machine: ConfigMap, cluster: ConfigMap | undefined, { generation }: RuleSet, report: Report): void {
  if (generation === "1.13" || isThere(cluster, "network")) checkCni(mapAt(cluster, "network", "cni"), report);
  if (!isThere(machine, "ca")) report.error("issuing CA is required (.machine.ca)");
  else report.errorIf(textAt(machine, "ca", "key") === "", "issuing CA key is required for controlplane nodes (.machine.ca.key)");
}

function checkWorker(machine: ConfigMap, cluster: ConfigMap | undefined, report: Report): void {
  for (const link of mapsAt(machine, "network", "interfaces")) {
    for (const part of [link, ...mapsAt(link, "vlans")]) {
      report.errorIf(isThere(part, "vip"), "virtual (shared) IP is not allowed on non-controlplane nodes");
    }
  }
  if (isThere(machine, "ca")) {
    report.errorIf(textAt(machine, "ca", "key") !== "", "issuing Talos API CA key is not allowed on non-controlplane nodes (.machine.ca)");
    report.errorIf(
      textAt(machine, "ca", "crt") === "" && listAt(machine, "acceptedCAs").length === 0,
      "trusted CA certificates are required on non-controlplane nodes (.machine.ca.crt, .machine.acceptedCAs)",
    );
  }
  report.errorIf(
    textAt(cluster, "ca", "key") !== "",
    "issuing Kubernetes API CA key is not allowed on non-controlplane nodes (.cluster.ca)",
  );
}

/** From 1.14 on the documents together answer for discovery and identity. */
function checkKubeSpan(machine: ConfigMap, cluster: ConfigMap | undefined, { generation }: RuleSet, report: Report): void {
  const kubeSpan = mapAt(machine, "network", "kubespan");
  if (!isOn(kubeSpan, "enabled")) return;
  if (generation === "1.13") {
    report.errorIf(
      !isOn(cluster, "discovery", "enabled"),
      ".cluster.discovery should be enabled when .machine.network.kubespan is enabled",
    );
    report.errorIf(textAt(cluster, "id") === "", ".cluster.id should be set when .machine.network.kubespan is enabled");
    report.errorIf(textAt(cluster, "secret") === "", ".cluster.secret should be set when .machine.network.kubespan is enabled");
  }
  for (const filter of textsAt(kubeSpan, "filters", "endpoints").map((text) => text.replace(/^!/, ""))) {
    report.errorIf(!isSubnetOrAddress(filter), `KubeSpan endpoint filter is not valid: ${quoted(filter)}`);
  }
  for (const filter of textsAt(kubeSpan, "filters", "excludeAdvertisedNetworks")) {
    report.errorIf(tryParsePrefix(filter) === undefined, `KubeSpan exclude advertised networks filter is not valid: ${quoted(filter)}`);
  }
}

function checkFeatures(machine: ConfigMap, isOnControlPlane: boolean, report: Report): void {
  const access = mapAt(machine, "features", "kubernetesTalosAPIAccess");
  if (isOn(access, "enabled")) {
    report.errorIf(!isOnControlPlane, "feature Kubernetes Talos API Access can only be enabled on control plane machines");
    for (const role of textsAt(access, "allowedRoles")) {
      report.errorIf(!isRole(role), `invalid role ${quoted(role)} in allowed roles for Kubernetes Talos API Access`);
    }
  }
  const algorithm = textAt(machine, "features", "nodeAddressSortAlgorithm");
  report.errorIf(
    !["", "v1", "v2"].includes(algorithm.toLowerCase()),
    `invalid node address sort algorithm: ${algorithm} does not belong to AddressSortAlgorithm values`,
  );
}

import type { ConfigMap } from "../document/value.ts";
import type { Generation } from "../schema/notation.ts";
import { at, listAt, mapAt, textAt } from "./access.ts";
import type { RuntimeMode } from "./validate.ts";

/** What is wrong with one document, and what is only discouraged; in the order in which Talos finds it. */
export interface Findings {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** The v1alpha1 document by itself. */
export function checkV1alpha1(config: ConfigMap, mode: RuntimeMode, generation: Generation): Findings {
  const machine = mapAt(config, "machine");
  const cluster = mapAt(config, "cluster");
  if (machine === undefined) return { errors: ["machine instructions are required"], warnings: [] };
  const declared = textAt(machine, "type");
  const isControlPlane = declared === "controlplane" || declared === "init";
  const isWorker = declared === "worker" || declared === "join" || declared === "";
  const roleWarnings = isWorker && declared !== "worker" ? [`use "worker" instead of ${JSON.stringify(declared)} for machine type`] : [];
  const cni = isControlPlane ? checkCni(cluster) : { errors: [], warnings: [] };
  return {
    errors: [
      ...checkCluster(cluster, isControlPlane, generation),
      ...(mode === "metal" ? checkInstall(machine, generation) : []),
      ...(mode === "container" ? checkContainer(machine, generation) : []),
      ...(isOn(machine, "features", "hostDNS", "forwardKubeDNSToHost") && !isOn(machine, "features", "hostDNS", "enabled")
        ? ["feature hostDNS.forwardKubeDNSToHost requires hostDNS.enabled to be true (.machine.features.hostDNS)"]
        : []),
      ...(mapAt(machine, "ca") === undefined && listAt(machine, "acceptedCAs").length === 0
        ? ["issuing CA or some accepted CAs are required (.machine.ca, machine.acceptedCAs)"]
        : []),
      ...(isControlPlane
        ? [...cni.errors, ...checkControlPlaneCa(machine)]
        : isWorker
          ? checkWorker(machine, cluster)
          : [`unknown machine type ${JSON.stringify(declared)}`]),
      ...checkDisks(machine),
      ...(isOn(machine, "features", "kubernetesTalosAPIAccess", "enabled") && !isControlPlane
        ? ["feature Kubernetes Talos API Access can only be enabled on control plane machines"]
        : []),
      ...(at(config, "persist") === false ? [".persist should be enabled"] : []),
    ],
    warnings: [...roleWarnings, ...cni.warnings],
  };
}

function checkCluster(cluster: ConfigMap | undefined, isControlPlane: boolean, generation: Generation): readonly string[] {
  if (cluster === undefined) return ["cluster instructions are required"];
  const endpoint = textAt(cluster, "controlPlane", "endpoint");
  if (endpoint === "" && generation === "1.13") return ["cluster controlplane endpoint is required"];
  const endpointRefusal = endpoint === "" ? undefined : refusalOfUrl(endpoint);
  const domain = textAt(cluster, "network", "dnsDomain");
  const etcd = mapAt(cluster, "etcd");
  return [
    ...(endpointRefusal === undefined ? [] : [`invalid controlplane endpoint: ${endpointRefusal}`]),
    ...(domain === "" || isDnsName(domain) ? [] : [`${JSON.stringify(domain)} is not a valid DNS name`]),
    ...(!isOn(cluster, "externalCloudProvider", "enabled") && listAt(cluster, "externalCloudProvider", "manifests").length > 0
      ? ["external cloud provider is disabled, but manifests are provided"]
      : []),
    ...(etcd !== undefined && !isControlPlane ? ["etcd config is only allowed on control plane machines"] : []),
    ...(textAt(cluster, "ca", "key") !== "" && !isControlPlane
      ? ["cluster CA key is not allowed on non-controlplane nodes (.cluster.ca)"]
      : []),
    ...checkInlineManifests(cluster),
    ...checkDiscovery(cluster),
  ];
}

function checkInstall(machine: ConfigMap, generation: Generation): readonly string[] {
  const install = mapAt(machine, "install");
  if (install === undefined) return generation === "1.13" ? ['install instructions are required in "metal" mode'] : [];
  const hasTarget = textAt(install, "disk") !== "" || mapAt(install, "diskSelector") !== undefined;
  return [
    ...(hasTarget ? [] : ["either install disk or diskSelector should be defined"]),
    ...(listAt(install, "extraKernelArgs").length > 0 && at(install, "grubUseUKICmdline") === true
      ? ["install.extraKernelArgs and install.grubUseUKICmdline can't be used together"]
      : []),
  ];
}

function checkContainer(machine: ConfigMap, generation: Generation): readonly string[] {
  if (generation === "1.14") return [];
  return [
    ...(isOn(machine, "features", "hostDNS", "enabled")
      ? []
      : ["feature HostDNS should be enabled in container mode (.machine.features.hostDNS.enabled)"]),
    ...(isOn(machine, "features", "hostDNS", "forwardKubeDNSToHost")
      ? []
      : ["feature HostDNS should forward kube-dns to host in container mode (.machine.features.hostDNS.forwardKubeDNSToHost)"]),
  ];
}

function checkControlPlaneCa(machine: ConfigMap): readonly string[] {
  if (mapAt(machine, "ca") === undefined) return ["issuing CA is required (.machine.ca)"];
  return textAt(machine, "ca", "key") === "" ? ["issuing CA key is required for controlplane nodes (.machine.ca.key)"] : [];
}

function checkWorker(machine: ConfigMap, cluster: ConfigMap | undefined): readonly string[] {
  const links = listAt(machine, "network", "interfaces").flatMap((link) => (link instanceof Map ? [link, ...listAt(link, "vlans")] : []));
  const ca = mapAt(machine, "ca");
  return [
    ...links.flatMap((link) =>
      link instanceof Map && mapAt(link, "vip") !== undefined ? ["virtual (shared) IP is not allowed on non-controlplane nodes"] : [],
    ),
    ...(textAt(ca, "key") === "" ? [] : ["issuing Talos API CA key is not allowed on non-controlplane nodes (.machine.ca)"]),
    ...(ca !== undefined && textAt(ca, "crt") === "" && listAt(machine, "acceptedCAs").length === 0
      ? ["trusted CA certificates are required on non-controlplane nodes (.machine.ca.crt, .machine.acceptedCAs)"]
      : []),
    ...(textAt(cluster, "ca", "key") === ""
      ? []
      : ["issuing Kubernetes API CA key is not allowed on non-controlplane nodes (.cluster.ca)"]),
  ];
}

function checkCni(cluster: ConfigMap | undefined): Findings {
  const cni = mapAt(cluster, "network", "cni");
  const name = cni === undefined ? "flannel" : textAt(cni, "name");
  const urls = listAt(cni, "urls").map(String);
  const hasFlannelArgs = listAt(cni, "flannel", "extraArgs").length > 0;
  switch (name) {
    case "flannel":
    case "none":
      return {
        errors: [
          ...(urls.length === 0 ? [] : [`"urls" field should be empty for "${name}" CNI`]),
          ...(name === "none" && hasFlannelArgs ? ['"flanneldExtraArgs" field should be empty for "none" CNI'] : []),
        ],
        warnings: [],
      };
    case "custom":
      return {
        errors: [
          ...(hasFlannelArgs ? ['"flanneldExtraArgs" field should be empty for "custom" CNI'] : []),
          ...urls.flatMap((url) => refusalOfUrl(url) ?? []),
        ],
        warnings: urls.length === 0 ? ['"urls" field should not be empty for "custom" CNI'] : [],
      };
    default:
      return { errors: ['cni name should be one of ["flannel", "custom", "none"]'], warnings: [] };
  }
}

function checkInlineManifests(cluster: ConfigMap): readonly string[] {
  const seen = new Set<string>();
  return listAt(cluster, "inlineManifests").flatMap((manifest) => {
    const name = manifest instanceof Map ? textAt(manifest, "name") : "";
    const found = [
      ...(name.trim() === "" ? ["inline manifest name can't be empty"] : []),
      ...(seen.has(name) ? [`inline manifest name ${JSON.stringify(name)} is duplicate`] : []),
    ];
    seen.add(name);
    return found;
  });
}

function checkDiscovery(cluster: ConfigMap): readonly string[] {
  if (!isOn(cluster, "discovery", "enabled") || at(cluster, "discovery", "registries", "service", "disabled") === true) return [];
  const endpoint = textAt(cluster, "discovery", "registries", "service", "endpoint");
  return [
    ...(/^[a-z]+:\/\/[^/]*\/[^?#]/.test(endpoint) ? ["cluster discovery service path should be empty"] : []),
    ...(textAt(cluster, "id") === "" ? ["cluster discovery service requires .cluster.id"] : []),
    ...(textAt(cluster, "secret") === "" ? ["cluster discovery service requires .cluster.secret"] : []),
  ];
}

function checkDisks(machine: ConfigMap): readonly string[] {
  return listAt(machine, "disks").flatMap((disk) => {
    const partitions = disk instanceof Map ? listAt(disk, "partitions") : [];
    return partitions.flatMap((partition, index) =>
      partition instanceof Map && ["", "0 B"].includes(textAt(partition, "size")) && index < partitions.length - 1
        ? [
            `partition for disk ${JSON.stringify(textAt(disk as ConfigMap, "device"))} is set to occupy full disk, but it's not the last partition in the list`,
          ]
        : [],
    );
  });
}

/** What Talos says of a URL that names no host or no port. */
function refusalOfUrl(url: string): string | undefined {
  const [, host = "", port = ""] = /^[^:/]+:\/\/(?:[^@/]*@)?(\[[^\]]*\]|[^:/?#]*)(?::(\d*))?/.exec(url) ?? [];
  if (host === "" || host === "[]") return "hostname must not be blank";
  return port !== "" && (Number(port) < 1 || Number(port) > 65_535) ? "port number must be between 1 and 65535" : undefined;
}

function isDnsName(name: string): boolean {
  return (
    name.replaceAll(".", "").length <= 255 && /^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62}(?:\.[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})*[._]?$/.test(name)
  );
}

function isOn(members: ConfigMap | undefined, ...path: readonly string[]): boolean {
  return at(members, ...path) === true;
}

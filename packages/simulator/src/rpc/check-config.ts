import { contractFor, isConfigError, patchMachineConfig } from "@talos-operator/talos";
import { dump, loadAll } from "js-yaml";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import { configFactsOf } from "../node/config-facts.ts";
import { symlinksOf, type Hardware } from "../node/hardware.ts";
import { isAtLeast } from "../node/version.ts";
import { unifiedDiff } from "./diff.ts";

/**
 * What a node checks before it takes a configuration.
 *
 * @throws RpcError INVALID_ARGUMENT (UNKNOWN for unreadable text in the maintenance mode of Talos up to 1.12)
 */
export function checkConfig(text: string, hardware: Hardware, isMaintenance: boolean): void {
  if (text.trim() === "") throw new RpcError(grpcStatus.invalidArgument, "config not found");
  const unreadable = isMaintenance && !isAtLeast(hardware.talosVersion, "1.13") ? grpcStatus.unknown : grpcStatus.invalidArgument;
  try {
    // A patch that says nothing makes the library read every document strictly, by the rules of this machine's Talos.
    patchMachineConfig(text, ["machine: {}\n"], { contract: contractFor(hardware.talosVersion) });
  } catch (error) {
    if (!isConfigError(error)) throw error;
    throw new RpcError(unreadable, error.detail);
  }
  const facts = configFactsOf(text);
  if (!facts.isComplete) return;
  const problems: string[] = [];
  if (facts.machineType !== "controlplane" && facts.hasEtcdSection) problems.push("etcd config is only allowed on control plane machines");
  if (facts.endpoint === "" || !/^https?:\/\/[^/:]+|^https?:\/\/\[/.test(facts.endpoint))
    problems.push("invalid controlplane endpoint: hostname must not be blank");
  if (facts.osCa.certificate === "" && facts.acceptedOsCas.length === 0)
    problems.push("issuing CA or some accepted CAs are required (.machine.ca or machine.acceptedCAs)");
  if (facts.machineType === "controlplane" && facts.osCa.key === "")
    problems.push("issuing Talos API CA key is required for controlplane nodes (.machine.ca.key)");
  if (facts.machineType === "worker" && facts.osCa.key !== "")
    problems.push("issuing Talos API CA key is not allowed on non-controlplane nodes (.machine.ca)");
  if (facts.machineType !== "controlplane" && facts.kubernetesCa.key !== "")
    problems.push("cluster CA key is not allowed on non-controlplane nodes (.cluster.ca)");
  if (facts.machineType === undefined) problems.push(`unknown machine type ${JSON.stringify(typeIn(text))}`);
  if (hardware.platform === "metal") problems.push(...installProblems(text, hardware));
  if (problems.length > 0) throw new RpcError(grpcStatus.invalidArgument, listOf(problems));
}

function typeIn(text: string): string {
  return /^machine:\n(?:[ #].*\n)*? +type: (\S+)/m.exec(text)?.[1] ?? "";
}

function installProblems(text: string, hardware: Hardware): readonly string[] {
  const { installDisk } = configFactsOf(text);
  const asks = !isAtLeast(hardware.talosVersion, "1.14");
  if (installDisk === "") return asks ? ["an install disk or diskSelector is required (.machine.install.disk)"] : [];
  return hardware.disks.some((disk) => disk.device === installDisk || symlinksOf(disk).includes(installDisk))
    ? []
    : [`install disk "${installDisk}" does not exist`];
}

/** Go's multierror, as Talos prints it around each document. */
function listOf(problems: readonly string[]): string {
  const count = (number: number): string => `${number} error${number === 1 ? "" : "s"} occurred:`;
  return `${count(1)}\n\t* v1alpha1.Config: ${count(problems.length)}\n${problems.map((problem) => `\t* ${problem}`).join("\n")}\n\n\n\n`;
}

/** Parts of the v1alpha1 document that change without a reboot (Talos up to 1.13); every other difference needs one. */
const immediatePaths = [
  "debug",
  "cluster",
  ...[
    "time",
    "certSANs",
    "install",
    "network",
    "sysfs",
    "sysctls",
    "logging",
    "controlPlane",
    "kubelet",
    "kernel",
    "registries",
    "pods",
  ].map((name) => `machine.${name}`),
  ...["seccompProfiles", "nodeLabels", "nodeTaints", "nodeAnnotations", "ca", "acceptedCAs"].map((name) => `machine.${name}`),
  ...["kubernetesTalosAPIAccess", "kubePrism", "hostDNS", "imageCache", "nodeAddressSortAlgorithm"].map(
    (name) => `machine.features.${name}`,
  ),
];

/** The difference that would need the reboot, without the parts that may change live. */
export function rebootDiff(from: string, to: string): string {
  return unifiedDiff(dump(fixedTree(from), { indent: 4 }), dump(fixedTree(to), { indent: 4 }));
}

/** True when Talos up to 1.13 would have to reboot to get from one configuration to the other. */
export function needsReboot(from: string, to: string): boolean {
  return fixedPart(from) !== fixedPart(to);
}

function fixedPart(text: string): string {
  return JSON.stringify(sorted(fixedTree(text)));
}

function fixedTree(text: string): Record<string, unknown> {
  const document = loadAll(text).find((candidate) => typeof candidate === "object" && candidate !== null && !("kind" in candidate));
  const copy = structuredClone(document ?? {}) as Record<string, unknown>;
  for (const path of immediatePaths) removePath(copy, path.split("."));
  return copy;
}

function removePath(tree: Record<string, unknown>, path: readonly string[]): void {
  const [head = "", ...rest] = path;
  if (rest.length === 0) {
    delete tree[head];
    return;
  }
  const next = tree[head];
  if (typeof next === "object" && next !== null) removePath(next as Record<string, unknown>, rest);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}

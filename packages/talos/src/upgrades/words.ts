import { defaultSchematicId, isSameSchematic } from "../versions/images.ts";
import type { Hop, Product, Refusal, UpgradePlan } from "./upgrade.ts";

/** Machines that one sentence names. */
const MOST_NAMED = 3;

const productNames: Readonly<Record<Product, string>> = { talos: "Talos", kubernetes: "Kubernetes" };

/**
 * A plan in words without a full stop: `in 2 hops: Talos v1.12.4 → v1.13.9 → v1.14.0`, or why there is none. Empty where nothing is to be done.
 *
 * @param only whose hops are told, beside those of Kubernetes; absent = of every machine
 */
export function sayPlan(plan: UpgradePlan, only?: ReadonlySet<string>): string {
  switch (plan.kind) {
    case "settled":
      return "";
    case "hops":
      return sayHops(only === undefined ? plan.hops : hopsOf(plan.hops, only));
    case "none":
      return `${plan.refusals.every(({ kind }) => kind === "WorkerAboveControlPlane") ? "" : "no upgrade path: "}${plan.refusals.map(sayRefusal).join("; ")}`;
  }
}

function hopsOf(hops: readonly Hop[], only: ReadonlySet<string>): readonly Hop[] {
  return hops.flatMap((hop): readonly Hop[] => {
    if (hop.kind === "kubernetes") return [hop];
    const machines = hop.machines.filter(({ name }) => only.has(name));
    return machines.length === 0 ? [] : [{ ...hop, machines }];
  });
}

/** Machines that go the same way are told together, and with their names only where some go another one. */
function sayHops(hops: readonly Hop[]): string {
  if (hops.length === 0) return "";
  const names = [...new Set(hops.flatMap((hop) => (hop.kind === "talos" ? hop.machines.map(({ name }) => name) : [])))];
  const ways = Map.groupBy(names, (name) => wayOf(hops, name));
  const words =
    ways.size > 1
      ? [...ways].map(([way, machines]) => `${listed(machines)} ${way}`)
      : [...ways.keys(), ...(ways.size === 0 ? [wayOf(hops, "")] : [])];
  const count = countOf(hops);
  return `in ${count} ${count === 1 ? "hop" : "hops"}: ${words.join("; ")}`;
}

/** What lies before one machine, the hops of Kubernetes among it: `Talos v1.13.9, Kubernetes v1.31.4 → v1.32.4, Talos v1.13.9 → v1.14.0`. */
function wayOf(hops: readonly Hop[], name: string): string {
  const parts: { readonly product: Product; readonly versions: string[] }[] = [];
  for (const hop of hops) {
    const own = hop.kind === "kubernetes" ? undefined : hop.machines.find((machine) => machine.name === name);
    const from = hop.kind === "kubernetes" ? hop.from : own?.from.version;
    if (from === undefined) continue;
    const last = parts.at(-1);
    const what = isSameSchematic(own?.from.schematic, own?.to.schematic) ? "other kernel arguments" : "another image";
    const to = from === hop.version ? `${hop.version} with ${what}` : hop.version;
    if (last?.product === hop.kind) last.versions.push(to);
    else parts.push({ product: hop.kind, versions: from === hop.version ? [to] : [from, to] });
  }
  return parts.map(({ product, versions }) => `${productNames[product]} ${versions.join(" → ")}`).join(", ");
}

/** Control planes and workers that go to one version after each other are one hop to people. */
function countOf(hops: readonly Hop[]): number {
  return hops.filter((hop, index) => {
    const before = hops[index - 1];
    return before === undefined || before.kind !== hop.kind || before.version !== hop.version;
  }).length;
}

/** Why there is no plan, as a clause. */
function sayRefusal(refusal: Refusal): string {
  switch (refusal.kind) {
    case "BadVersion":
      return `${JSON.stringify(refusal.text.slice(0, 64))} is not a version of ${productNames[refusal.of]}${of(refusal.machines)}`;
    case "KubernetesUnseen":
      return "the Kubernetes that runs is not known yet";
    case "UnknownMinor":
      return `${productNames[refusal.of]} ${refusal.version} is not known to this release${of(refusal.machines)}`;
    case "NoRelease":
      return `it leads through ${productNames[refusal.of]} ${refusal.minor}, of which no release is known${of(refusal.machines)}`;
    case "InstallerRefuses":
      return `the installer of Talos ${refusal.to} does not replace ${refusal.from}${of(refusal.machines)}`;
    case "DowngradeAsked":
      return `${productNames[refusal.of]} ${refusal.to} is older than ${refusal.from}${of(refusal.machines)}`;
    case "ConfigNewer":
      return `the configuration${of(refusal.machines)} is written for Talos ${refusal.contract}, which ${refusal.to} does not read`;
    case "KubernetesMinorBack":
      return `Kubernetes does not go back from ${refusal.from} to the minor of ${refusal.to}`;
    case "SchematicLost":
      return `the installer that is asked for lacks what the schematic ${refusal.schematic} brings, extensions say, which runs${of(refusal.machines)}. Name an installer of this schematic, or of another; ${defaultSchematicId} holds nothing`;
    case "ExtensionsLost":
      return `the image that is asked for lacks the extensions ${refusal.extensions.join(", ")}, which run${of(refusal.machines)}. Name an image that has them, or annotate the TalosControlPlane with talos-operator.dev/allow-extension-loss: ${refusal.extensions.join(",")}`;
    case "EtcdDataNewer":
      return `the data of etcd is of version ${refusal.data}, and the etcd ${refusal.etcd} of Talos ${refusal.version} does not read it${of(refusal.machines)}`;
    case "OutOfRange":
      return `Talos ${refusal.talos}${of(refusal.machines)} runs Kubernetes ${refusal.oldest} to ${refusal.newest}, and not ${refusal.kubernetes}${refusal.hop === "talos" ? ", which runs" : ""}`;
    case "WorkerAboveControlPlane":
      return `workers${of(refusal.machines)} cannot run a newer Talos (${refusal.worker}) than the control plane (${refusal.controlPlane}): upgrade the control plane first`;
  }
}

function of(machines: readonly string[]): string {
  return machines.length === 0 ? "" : ` (${listed(machines)})`;
}

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

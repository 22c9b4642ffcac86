import { createHash } from "node:crypto";
import { canonicalAddress } from "./validation/host.ts";

/** Longest name of a Kubernetes object (DNS-1123 subdomain). */
export const MAX_NAME_LENGTH = 253;

/** Where a machine is found, as its list entry says. */
export type MachineSource = { readonly kind: "address"; readonly address: string } | { readonly kind: "machineRef"; readonly name: string };

const IPV4 = /^(\d{1,3}\.){3}\d{1,3}$/;

/**
 * Name of the TalosMachine for a machine of `owner` (a TalosControlPlane or TalosWorker).
 *
 * An IPv4 address gives `<owner>-<address>` as published, a reference `<owner>-<referenced name>`, any other address
 * `<owner>-<first 8 hex digits of its SHA-256>`, taken from the one spelling of the address. The name stays when the address changes later.
 * One that would exceed 253 characters is cut and ends in 8 hex digits of the SHA-256 of the whole, so no two names meet by being cut.
 */
export function machineNameFor(owner: string, source: MachineSource): string {
  if (source.kind === "machineRef") return derivedName(owner, source.name);
  return IPV4.test(source.address) ? derivedName(owner, source.address) : derivedName(owner, shortHash(canonicalAddress(source.address)));
}

/** Name of the Secret with generation `n` (from 1) of a control plane's secrets bundle. */
export function bundleSecretName(controlPlane: string, n: number): string {
  return derivedName(controlPlane, `bundle-${n}`);
}

/** Name of the Secret with the admin kubeconfig, key `kubeconfig`. `owner` is the TalosCluster when there is one, else the control plane. */
export function kubeconfigSecretName(owner: string): string {
  return derivedName(owner, "kubeconfig");
}

/** Name of the Secret with the talosconfig; `owner` as for {@link kubeconfigSecretName}. */
export function talosconfigSecretName(owner: string): string {
  return derivedName(owner, "talosconfig");
}

/** Key of the talosconfig in its Secret. */
export function talosconfigKey(controlPlane: string): string {
  return `${controlPlane}.talosconfig`;
}

/** Name of the Secret with the template of configs last applied to a pool. */
export function appliedTemplateSecretName(owner: string, role: "controlplane" | "worker", hash: string): string {
  return derivedName(owner, `${role}-applied-${hash}`);
}

/** Name of the TalosClusterAddonRelease of an addon on a cluster, as published, in the namespace of the TalosControlPlane. */
export function addonReleaseName(controlPlane: string, addon: string): string {
  return derivedName(`${controlPlane}-${addon}`, "addonrelease");
}

/** `<owner>-<suffix>`, cut to 253 characters with a hash when longer: deterministic, and no collision by cutting. */
export function derivedName(owner: string, suffix: string): string {
  const whole = `${owner}-${suffix}`;
  if (whole.length <= MAX_NAME_LENGTH) return whole;
  const kept = whole.slice(0, MAX_NAME_LENGTH - 9).replace(/[^a-z0-9]+$/, "");
  return `${kept}-${shortHash(whole)}`;
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/** A name as a label value: as it is up to 63 characters, else cut with a hash, so that two long names do not meet. */
export function labelValueFor(name: string): string {
  return name.length <= 63 ? name : `${name.slice(0, 54).replace(/[^a-z0-9]+$/, "")}-${shortHash(name)}`;
}

import { parseEndpoint } from "../validation/endpoint.ts";
import { parseHost, quote } from "../validation/host.ts";
import { DEFAULT_POD_NETWORKS, DEFAULT_SERVICE_NETWORKS, clusterNetworks, holdsAddress, validateNetworks } from "../validation/networks.ts";
import { inert, wrong } from "./cluster-draft.ts";
import type { Draft, Notes, Told } from "./cluster-draft.ts";
import type { ClusterDefaults, ClusterEndpoint, ClusterModel, GivenSecrets } from "./cluster-model.ts";
import type { KubernetesClusterSpec } from "./kubernetes-cluster.ts";

/** What Talos installs on when nobody says otherwise. */
export const DEFAULT_INSTALL_DISK = "/dev/sda";

/** Domain of services and pods when nobody says otherwise. */
export const DEFAULT_DNS_DOMAIN = "cluster.local";

const DISK = /^\/dev\/(sd[a-z][0-9]*|vd[a-z][0-9]*|nvme[0-9]+n[0-9]+(p[0-9]+)?)$/;
/** Talos takes any text; one line of printable characters is what every way of writing a config keeps. */
const TOKEN = /^[!-~]{1,256}$/;
const TOKEN_REMEDY = "Write a token such as abcdef.0123456789abcdef";
const DOMAIN = /^([a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?\.)+[a-z]{2,}$/;

/** Minor of Talos 1 whose configs name a link by what it is. */
const HELD_ADDRESS_SINCE = 12;

/** First minor of Talos whose install document knows neither kernel arguments nor boot loader. */
const ARGUMENTS_OF_IMAGE_SINCE = 14;

/** The part of the model that both shapes write in the same places. */
export type SharedOptions = Pick<
  ClusterModel,
  "endpoint" | "certSANs" | "podSubnets" | "serviceSubnets" | "dnsDomain" | "install" | "kubelet" | "givenSecrets"
>;

/** Reads talosConfig and the fields beside it; what stands in two places must agree. */
export function readSharedOptions(spec: KubernetesClusterSpec, draft: Draft, defaults: ClusterDefaults, notes: Notes): SharedOptions {
  const { machine, cluster, install } = spec.talosConfig ?? {};
  const inConfig = "spec.talosConfig.cluster";
  agree(notes, draft.clusterId, told(`${inConfig}.name`, cluster?.name));
  const podSubnets = networksOf(notes, "podSubnets", spec.podSubnets, cluster?.network?.podSubnets);
  const serviceSubnets = networksOf(notes, "serviceSubnets", spec.serviceSubnets, cluster?.network?.serviceSubnets);
  checkNetworks(notes, podSubnets, serviceSubnets);
  const dnsDomain = cluster?.network?.dnsDomain ?? DEFAULT_DNS_DOMAIN;
  if (!DOMAIN.test(dnsDomain) || dnsDomain.length > 253)
    wrong(notes, `${inConfig}.network.dnsDomain`, `${quote(dnsDomain)} is no DNS domain`, "Write it as cluster.local");
  if (install?.disk !== undefined && !DISK.test(install.disk))
    wrong(
      notes,
      "spec.talosConfig.install.disk",
      `${quote(install.disk)} is no disk that can be named here`,
      "Write it as /dev/sda, /dev/vda or /dev/nvme0n1",
    );
  if (talosMinorOf(spec, defaults) >= ARGUMENTS_OF_IMAGE_SINCE) {
    if ((install?.extraKernelArgs ?? []).length > 0)
      wrong(
        notes,
        "spec.talosConfig.install.extraKernelArgs",
        `Talos 1.${ARGUMENTS_OF_IMAGE_SINCE} and newer take the kernel's arguments from the image alone`,
        "Write an image whose schematic has them: talos-operator schematic id",
        "FieldNotSupported",
      );
    if (install?.bootloader === false)
      inert(notes, "spec.talosConfig.install.bootloader", `Talos 1.${ARGUMENTS_OF_IMAGE_SINCE} and newer always install their boot loader`);
  }
  const givenSecrets = givenSecretsOf(notes, machine);
  if (machine?.type !== undefined && machine.type !== "controlplane")
    inert(notes, "spec.talosConfig.machine.type", "the role of a machine follows from its group");
  const { endpoint, names } = endpointOf(spec, defaults, notes, podSubnets.value, serviceSubnets.value);
  return {
    endpoint,
    certSANs: [...new Set([...names, ...sansOf(notes, machine?.certSANs ?? [])])],
    podSubnets: podSubnets.value,
    serviceSubnets: serviceSubnets.value,
    dnsDomain,
    ...(givenSecrets !== undefined && { givenSecrets }),
    install: {
      disk: install?.disk ?? DEFAULT_INSTALL_DISK,
      isDefaultDisk: install?.disk === undefined,
      ...(install?.image !== undefined && { image: install.image }),
      bootloader: install?.bootloader ?? true,
      wipe: install?.wipe ?? false,
      extraKernelArgs: install?.extraKernelArgs ?? [],
    },
    kubelet: {
      ...(machine?.kubelet?.image !== undefined && { image: machine.kubelet.image }),
      extraArgs: machine?.kubelet?.extraArgs ?? {},
    },
  };
}

/** Whether the values are sound is found out when keys are made of them; here only what can be seen without showing them. */
function givenSecretsOf(notes: Notes, machine: NonNullable<KubernetesClusterSpec["talosConfig"]>["machine"]): GivenSecrets | undefined {
  const { token, ca, secretRef } = machine ?? {};
  const at = "spec.talosConfig.machine";
  if (secretRef !== undefined && (token !== undefined || ca !== undefined))
    wrong(notes, `${at}.secretRef`, "token and ca stand beside it", "Give secretRef, or token and ca");
  if (secretRef !== undefined) return { kind: "secret", name: secretRef.name };
  if (token === undefined && ca === undefined) return undefined;
  if (token === undefined || ca === undefined)
    wrong(notes, at, "of token and ca one is missing", "Give type, token, ca.crt and ca.key, or none of them");
  if (token !== undefined && !TOKEN.test(token)) wrong(notes, `${at}.token`, "it is empty, too long, or has blanks in it", TOKEN_REMEDY);
  for (const name of ["crt", "key"] as const)
    if (ca !== undefined && !isPemInBase64(ca[name]))
      wrong(notes, `${at}.ca.${name}`, "it is not the base64 of a PEM text", "Write what `base64 -w0` makes of the PEM file");
  return { kind: "inline" };
}

function isPemInBase64(text: string): boolean {
  const packed = text.replaceAll(/\s/g, "");
  return /^[A-Za-z0-9+/]+={0,2}$/.test(packed) && /-----BEGIN [^-]+-----/.test(Buffer.from(packed, "base64").toString("utf8"));
}

function told(field: string, value: string | undefined): Told | undefined {
  return value === undefined ? undefined : { field, value };
}

/** One fact in two places: both paths are named when they differ. */
function agree(notes: Notes, one: Told | undefined, other: Told | undefined): void {
  if (one === undefined || other === undefined || one.value === other.value) return;
  wrong(notes, other.field, `${quote(other.value)} differs from ${quote(one.value)} in ${one.field}`, "Write it once, or the same twice");
}

function networksOf(
  notes: Notes,
  name: "podSubnets" | "serviceSubnets",
  beside: readonly string[] | undefined,
  inside: readonly string[] | undefined,
): Told<readonly string[]> {
  const flat = { field: `spec.${name}`, value: beside ?? [] };
  const nested = { field: `spec.talosConfig.cluster.network.${name}`, value: inside ?? [] };
  if (flat.value.length > 0 && nested.value.length > 0)
    agree(notes, { ...flat, value: flat.value.join(", ") }, { ...nested, value: nested.value.join(", ") });
  if (flat.value.length > 0) return flat;
  if (nested.value.length > 0) return nested;
  return { ...flat, value: name === "podSubnets" ? DEFAULT_POD_NETWORKS : DEFAULT_SERVICE_NETWORKS };
}

function checkNetworks(notes: Notes, pods: Told<readonly string[]>, services: Told<readonly string[]>): void {
  for (const finding of validateNetworks({ podCIDR: pods.value, serviceCIDR: services.value }, ""))
    notes.problems.push({
      ...finding,
      field: finding.field.replace(".podCIDR", pods.field).replace(".serviceCIDR", services.field),
      message: finding.message,
      remedy: finding.remedy.replaceAll("podCIDR", "podSubnets").replaceAll("serviceCIDR", "serviceSubnets"),
    });
}

function endpointOf(
  spec: KubernetesClusterSpec,
  defaults: ClusterDefaults,
  notes: Notes,
  podCIDR: readonly string[],
  serviceCIDR: readonly string[],
): { readonly endpoint: ClusterEndpoint; readonly names: readonly string[] } {
  const beside = told("spec.clusterEndpoint", spec.clusterEndpoint);
  const inside = told("spec.talosConfig.cluster.controlPlane.endpoint", spec.talosConfig?.cluster?.controlPlane?.endpoint);
  agree(notes, beside, inside);
  const given = beside ?? inside;
  const mode = spec.endpointMode ?? defaults.endpointMode ?? "networkconfiguration";
  if (given !== undefined) {
    const isHeld = spec.endpointMode === "talosvip";
    if (spec.endpointMode !== undefined && spec.endpointMode !== "custom" && !isHeld)
      inert(notes, "spec.endpointMode", `${given.field} says where the endpoint is`);
    const parsed = parseEndpoint(given.value, given.field, { allowLoopback: defaults.allowLoopback ?? false });
    if (!("host" in parsed)) notes.problems.push(parsed);
    else {
      const hit = clusterNetworks({ podCIDR, serviceCIDR }).find((network) => holdsAddress(network, parsed.host));
      if (hit !== undefined)
        wrong(
          notes,
          given.field,
          `${parsed.host} lies in ${hit.text}, the network of ${hit.use}`,
          "Use an address of the machines' network, or other networks",
          "AddressInClusterRange",
        );
    }
    const heldAddress = isHeld && "host" in parsed ? heldAddressOf(parsed.host, given.field, spec, defaults, notes) : undefined;
    return { endpoint: { mode: "given", url: given.value, ...(heldAddress === undefined ? {} : { heldAddress }) }, names: [] };
  }
  // The endpoint stands in every machine and cannot be put right later, so nothing is made that somebody would want otherwise.
  if (mode === "talosvip")
    wrong(
      notes,
      "spec.clusterEndpoint",
      "endpoint mode talosvip has no address: nobody says which one the control planes are to hold",
      "Write clusterEndpoint with a free address of the control planes' network, such as https://10.0.0.10:6443, beside endpointMode talosvip; or endpointMode networkconfiguration or none",
      "InvalidEndpoint",
    );
  if (mode === "networkconfiguration") {
    if (spec.endpointMode !== undefined && spec.data === undefined)
      inert(
        notes,
        "spec.endpointMode",
        "a network is asked with the words of data, which this shape has not: the endpoint is the first control plane's address",
      );
    return { endpoint: { mode: "shared" }, names: [] };
  }
  if (mode !== "custom") return { endpoint: { mode: "none" }, names: [] };
  const [first, ...others] = defaults.customEndpoint ?? [];
  if (first === undefined) {
    wrong(
      notes,
      "spec.clusterEndpoint",
      "endpoint mode custom has no address: neither the cluster nor the operator names one",
      "Write clusterEndpoint, or set CUSTOM_ENDPOINT",
      "InvalidEndpoint",
    );
    return { endpoint: { mode: "none" }, names: [] };
  }
  return { endpoint: { mode: "given", url: `https://${first.includes(":") ? `[${first}]` : first}:6443` }, names: [first, ...others] };
}

/** The address that control planes are to hold, or what is wrong with it. */
function heldAddressOf(
  host: string,
  field: string,
  spec: KubernetesClusterSpec,
  defaults: ClusterDefaults,
  notes: Notes,
): string | undefined {
  const parsed = parseHost(host);
  if (!("kind" in parsed) || parsed.kind !== "ip") {
    wrong(
      notes,
      field,
      `${quote(host)} is no address, and machines hold addresses, not names`,
      "Write the address itself",
      "InvalidEndpoint",
    );
    return undefined;
  }
  if (talosMinorOf(spec, defaults) < HELD_ADDRESS_SINCE)
    wrong(
      notes,
      "spec.endpointMode",
      `talosvip needs Talos 1.${HELD_ADDRESS_SINCE} or newer: older releases cannot say "the only link" without its name`,
      "Write a newer talosVersion, or leave endpointMode out and keep the address yourself",
      "FieldNotSupported",
    );
  return parsed.text;
}

/** Minor of the Talos release that a cluster is to have; not a number where none is named. */
function talosMinorOf(spec: KubernetesClusterSpec, defaults: ClusterDefaults): number {
  return Number(/^v?1\.(\d+)/.exec(spec.talosVersion ?? defaults.talosVersion)?.[1]);
}

function sansOf(notes: Notes, sans: readonly string[]): readonly string[] {
  return sans.flatMap((san, index) => {
    const host = parseHost(san);
    if ("kind" in host) return [host.text];
    wrong(notes, `spec.talosConfig.machine.certSANs[${index}]`, host.message, host.remedy);
    return [];
  });
}

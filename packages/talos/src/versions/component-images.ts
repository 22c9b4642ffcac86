import { describeMachineConfig } from "../config/describe.ts";
import { ConfigError } from "../config/errors.ts";
import { legacyKind } from "../config/document-identity.ts";
import { textAt } from "../config/yaml/navigate.ts";
import { readYaml } from "../config/yaml/read.ts";
import { kubernetesImages } from "./images.ts";
import { defaultKubernetesFor } from "./matrix.ts";
import { parseVersion } from "./version.ts";

/** Versions of what Talos runs beside Kubernetes, as they stand in the tags of the images. */
interface ComponentVersions {
  readonly etcd: string;
  readonly coreDns: string;
  readonly flannel: string;
  /** Unknown for releases whose container runtime decides it. */
  readonly pause?: string;
  /** Since 1.13. */
  readonly kubeNetworkPolicies?: string;
}

const newest: ComponentVersions = {
  etcd: "3.7.1",
  coreDns: "v1.14.7",
  flannel: "0.28.9",
  pause: "3.10.1",
  kubeNetworkPolicies: "v1.1.0",
};

/** From the constants of the newest release of each Talos minor that could be looked at. */
const versionsByMinor: ReadonlyMap<number, ComponentVersions> = new Map<number, ComponentVersions>([
  [6, { etcd: "v3.5.11", coreDns: "v1.11.1", flannel: "v0.23.0" }],
  [7, { etcd: "v3.5.13", coreDns: "v1.11.1", flannel: "v0.25.1" }],
  [8, { etcd: "v3.5.16", coreDns: "v1.11.3", flannel: "v0.25.6" }],
  [9, { etcd: "v3.5.17", coreDns: "v1.12.0", flannel: "v0.26.1" }],
  [10, { etcd: "v3.5.21", coreDns: "v1.12.1", flannel: "v0.26.7" }],
  [11, { etcd: "v3.6.5", coreDns: "v1.12.4", flannel: "v0.27.4" }],
  [12, { etcd: "v3.6.7", coreDns: "v1.13.2", flannel: "v0.27.4" }],
  [13, { etcd: "v3.6.12", coreDns: "v1.14.6", flannel: "0.28.8", pause: "3.10.1", kubeNetworkPolicies: "v1.1.0" }],
  [14, newest],
  [15, newest],
]);

/** Tags that replace those of the config or the defaults. */
export interface ImageOverrides {
  /** Of the kubelet and all components of the control plane, with `v`. */
  readonly kubernetes?: string | undefined;
  readonly etcd?: string | undefined;
  readonly coreDns?: string | undefined;
  readonly flannel?: string | undefined;
  readonly pause?: string | undefined;
  readonly kubeNetworkPolicies?: string | undefined;
}

/** The images that a cluster pulls. */
export interface ClusterImages {
  readonly etcd: string;
  readonly coreDns: string;
  readonly flannel: string;
  readonly kubelet: string;
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly scheduler: string;
  readonly proxy: string;
  /** `undefined` where the Talos release does not say. */
  readonly pause: string | undefined;
  /** `undefined` before Talos 1.13. */
  readonly kubeNetworkPolicies: string | undefined;
}

/**
 * The images that a machine with this config pulls: those of the config, else the defaults of the Talos release. Digests are left out, a
 * missing tag is `latest`.
 *
 * @throws ConfigError `INVALID_VERSION` also for a Talos minor that is not known; for text that is not YAML
 */
export function imagesOfConfig(configText: string, talosVersion: string, overrides: ImageOverrides = {}): ClusterImages {
  const defaults = defaultClusterImages(talosVersion);
  const { images } = describeMachineConfig(configText);
  const { kubernetes, etcd, coreDns, flannel, pause, kubeNetworkPolicies } = withoutEmpty(overrides);
  const chosen = (own: string | undefined, standard: string, tag: string | undefined): string => taggedWith(own ?? standard, tag);
  return {
    etcd: chosen(images.etcd, defaults.etcd, etcd),
    coreDns: chosen(coreDnsImageOf(configText), defaults.coreDns, coreDns),
    flannel: taggedWith(defaults.flannel, flannel),
    kubelet: chosen(images.kubelet, defaults.kubelet, kubernetes),
    apiServer: chosen(images.apiServer, defaults.apiServer, kubernetes),
    controllerManager: chosen(images.controllerManager, defaults.controllerManager, kubernetes),
    scheduler: chosen(images.scheduler, defaults.scheduler, kubernetes),
    proxy: chosen(images.proxy, defaults.proxy, kubernetes),
    pause: overrideOf(defaults.pause, pauseImage, pause),
    kubeNetworkPolicies: overrideOf(defaults.kubeNetworkPolicies, kubeNetworkPoliciesImage, kubeNetworkPolicies),
  };
}

/** An empty tag is none. */
function withoutEmpty(overrides: ImageOverrides): ImageOverrides {
  return Object.fromEntries(Object.entries(overrides).filter(([, tag]) => tag !== ""));
}

const pauseImage = "registry.k8s.io/pause";
const kubeNetworkPoliciesImage = "registry.k8s.io/networking/kube-network-policies";

/**
 * The images that a Talos release uses when the config names none.
 *
 * @throws ConfigError `INVALID_VERSION` also for a Talos minor that is not known
 */
export function defaultClusterImages(talosVersion: string): ClusterImages {
  const { major, minor } = parseVersion(talosVersion);
  const versions = major === 1 ? versionsByMinor.get(minor) : undefined;
  if (versions === undefined) throw new ConfigError("INVALID_VERSION", `Talos ${major}.${minor} is not known to this version`);
  const etcdImage = minor < 12 ? "gcr.io/etcd-development/etcd" : "registry.k8s.io/etcd";
  const { pause, kubeNetworkPolicies } = versions;
  return {
    ...kubernetesImages(defaultKubernetesFor(talosVersion)),
    etcd: `${etcdImage}:${versions.etcd}`,
    coreDns: `registry.k8s.io/coredns/coredns:${versions.coreDns}`,
    flannel: `ghcr.io/siderolabs/flannel:${versions.flannel}`,
    pause: pause === undefined ? undefined : `${pauseImage}:${pause}`,
    kubeNetworkPolicies: kubeNetworkPolicies === undefined ? undefined : `${kubeNetworkPoliciesImage}:${kubeNetworkPolicies}`,
  };
}

function coreDnsImageOf(configText: string): string | undefined {
  const roots = readYaml(configText).flatMap(({ root }) => root ?? []);
  const ofKind = (kind: string): (typeof roots)[number] | undefined => roots.find((root) => (textAt(root, "kind") ?? legacyKind) === kind);
  return textAt(ofKind("KubeCoreDNSConfig"), "image") ?? textAt(ofKind(legacyKind), "cluster", "coreDNS", "image");
}

function overrideOf(standard: string | undefined, image: string, tag: string | undefined): string | undefined {
  return tag === undefined ? standard : `${image}:${tag}`;
}

/** The image without its digest, with another tag where one is given. */
function taggedWith(image: string, tag: string | undefined): string {
  const [bare = ""] = image.split("@", 1);
  const [, name = bare, own] = /^(.*?)(?::([^:/]+))?$/.exec(bare) ?? [];
  return `${name}:${tag ?? own ?? "latest"}`;
}

/** The images that a Talos release is built from. */
export interface TalosImages {
  readonly installer: string;
  readonly installerBase: string;
  readonly imager: string;
  readonly talos: string;
  readonly talosctlAll: string;
  readonly overlays: string;
  readonly extensions: string;
}

/**
 * The images of a Talos release, by its tag.
 *
 * @throws ConfigError `INVALID_VERSION`
 */
export function talosImages(talosVersion: string): TalosImages {
  parseVersion(talosVersion);
  const tag = talosVersion.startsWith("v") ? talosVersion : `v${talosVersion}`;
  const image = (name: string): string => `ghcr.io/siderolabs/${name}:${tag}`;
  return {
    installer: image("installer"),
    installerBase: image("installer-base"),
    imager: image("imager"),
    talos: image("talos"),
    talosctlAll: image("talosctl-all"),
    overlays: image("overlays"),
    extensions: image("extensions"),
  };
}

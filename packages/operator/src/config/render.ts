import type { MachineSpec, TalosControlPlaneSpec } from "@talos-operator/api";
import {
  compareContracts,
  contractFor,
  defaultInstallerImage,
  describeMachineConfig,
  generateMachineConfig,
  patchMachineConfig,
  tryParseVersion,
} from "@talos-operator/talos";
import type { MachineConfigInput, SecretsBundle } from "@talos-operator/talos";
import { patchTexts } from "./patch-texts.ts";
import { noSecrets } from "./no-secrets.ts";
import type { KeptOfEndpoints } from "./endpoints.ts";
import { ConfigRefusal } from "./refusal.ts";
import { renderBase } from "./render-base.ts";
import type { MachineSettings } from "../model/machine.ts";

/** Everything that one machine's configuration is made from. */
export interface RenderInput {
  readonly role: "controlplane" | "worker";
  readonly clusterName: string;
  readonly endpoint: string;
  /** Absent = the cluster has the endpoint that it was made with. */
  readonly kept?: KeptOfEndpoints | undefined;
  /** The control plane decides what concerns the whole cluster. */
  readonly controlPlane: TalosControlPlaneSpec;
  readonly machineSpec: MachineSettings;
  /** Talos version that is to be installed. */
  readonly version: string;
  /** Talos version that reads the configuration; `undefined` = the one that is to be installed. */
  readonly readBy: string | undefined;
  /** Contract that the configuration is written for; absent = by `version` and `readBy`. */
  readonly contract?: string | undefined;
  readonly platform: string | undefined;
  readonly installDisk: string | undefined;
  readonly addresses: readonly string[];
  readonly secrets: SecretsBundle;
}

/**
 * The machine config of one machine: generated for the version contract, then the shared patches, those of the machine, then additional documents.
 *
 * The contract is the older of what is installed and what reads the text, so a machine that booted an older image understands it.
 *
 * @throws ConfigError for a patch that does not fit, ConfigRefusal for one that would change the cluster's identity
 */
export function renderMachineConfig(input: RenderInput): string {
  const plain = plainConfig(input);
  const texts = patchTexts([
    ...ownPatches(input),
    ...(input.machineSpec.configPatches ?? []),
    ...(input.machineSpec.additionalConfig ?? []),
  ]);
  if (texts.length === 0) return plain;
  const patched = patchMachineConfig(plain, texts);
  refuseIdentityChange(plain, patched);
  return patched;
}

/** What patches are put on: the generated config, or the one that a person wrote. */
function plainConfig(input: RenderInput): string {
  const generator = generatorInput(input);
  const { base, image } = input.machineSpec;
  if (base === undefined) return generateMachineConfig(generator);
  return renderBase({
    base,
    generator,
    installDisk: input.installDisk,
    installImage: image === undefined || image === "" ? undefined : installerImage(image, input.version),
    version: input.version,
    isContainer: input.platform === "container",
    hasKeys: input.secrets !== noSecrets,
  });
}

/**
 * The contract that a machine's first configuration is written for: the older of what is installed and what reads the text. What a machine tells and is no
 * version counts as nothing told.
 */
export function contractOf(version: string, readBy: string | undefined): string {
  const wanted = contractFor(version);
  if (readBy === undefined || tryParseVersion(readBy) === undefined) return wanted;
  const read = contractFor(readBy);
  return compareContracts(read, wanted) < 0 ? read : wanted;
}

function generatorInput(input: RenderInput): MachineConfigInput {
  const { controlPlane, machineSpec } = input;
  const isContainer = input.platform === "container";
  const mirrors = plainMirrors(machineSpec.registries);
  const cni = controlPlane.cni;
  return {
    role: input.role,
    clusterName: input.clusterName,
    endpoint: input.endpoint,
    contract: input.contract ?? contractOf(input.version, input.readBy),
    kubernetesVersion: controlPlane.kubeVersion,
    secrets: input.secrets,
    // An adopted cluster has Secrets in etcd that no other key reads.
    keepAesCbcSecret: true,
    platform: isContainer ? "container" : "metal",
    additionalSans: [...new Set([...input.addresses, ...(machineSpec.ips ?? [])])],
    ...(isContainer
      ? {}
      : {
          install: {
            ...(input.installDisk === undefined ? {} : { disk: input.installDisk }),
            image: installerImage(machineSpec.image, input.version),
            wipe: machineSpec.wipe === true,
          },
        }),
    ...(controlPlane.clusterDomain === undefined ? {} : { dnsDomain: controlPlane.clusterDomain }),
    ...(isEmpty(controlPlane.podCIDR) ? {} : { podSubnets: controlPlane.podCIDR ?? [] }),
    ...(isEmpty(controlPlane.serviceCIDR) ? {} : { serviceSubnets: controlPlane.serviceCIDR ?? [] }),
    ...(cni?.name === undefined
      ? {}
      : {
          cni: {
            name: cni.name,
            ...(cni.name === "custom" && !isEmpty(cni.urls) ? { urls: cni.urls ?? [] } : {}),
            ...(cni.name === "flannel" && !isEmpty(cni.flannel?.extraArgs) ? { flannel: { extraArgs: cni.flannel?.extraArgs ?? [] } } : {}),
          },
        }),
    ...(machineSpec.allowSchedulingOnControlPlanes === true ? { allowSchedulingOnControlPlanes: true } : {}),
    ...(machineSpec.airGap === true ? { discovery: false, timeSync: false } : {}),
    ...(mirrors === undefined ? {} : { registryMirrors: mirrors }),
  };
}

/**
 * Where the image cache lies: Talos makes no partition for it unless it is told how large.
 *
 * @see siderolabs/talos `website/content/v1.9/talos-guides/configuration/image-cache.md`
 */
const IMAGE_CACHE_VOLUME = {
  apiVersion: "v1alpha1",
  kind: "VolumeConfig",
  name: "IMAGECACHE",
  provisioning: { diskSelector: { match: "system_disk" }, minSize: "2GB", maxSize: "2GB" },
} as const;

/** What the generator has no input for. */
function ownPatches(input: RenderInput): readonly unknown[] {
  // Who wrote the whole config said everything in it but what one machine has for itself.
  const { registries, hostname, imageCache } =
    input.machineSpec.base === undefined ? input.machineSpec : { ...input.machineSpec, registries: undefined, imageCache: undefined };
  const contract = input.contract ?? contractOf(input.version, input.readBy);
  const isBefore = (other: string): boolean => compareContracts(contract, other) < 0;
  const isPlain = registries === undefined || plainMirrors(registries) !== undefined;
  const patches: unknown[] = isPlain ? [] : [{ machine: { registries } }];
  patches.push(...keptPatches(input, isBefore("1.14")));
  if (
    input.controlPlane.cni?.flannel?.kubeNetworkPoliciesEnabled === true &&
    input.role === "controlplane" &&
    input.machineSpec.base === undefined
  )
    patches.push(
      isBefore("1.14")
        ? { cluster: { network: { cni: { flannel: { kubeNetworkPoliciesEnabled: true } } } } }
        : { apiVersion: "v1alpha1", kind: "KubeFlannelCNIConfig", kubeNetworkPoliciesEnabled: true },
    );
  if (hostname !== undefined)
    patches.push(
      isBefore("1.12") ? { machine: { network: { hostname } } } : { apiVersion: "v1alpha1", kind: "HostnameConfig", auto: "off", hostname },
    );
  // A container has no disk of its own to put a cache on, and Talos before 1.9 knows none.
  if (imageCache === true && input.platform !== "container" && !isBefore("1.9"))
    patches.push(
      isBefore("1.14")
        ? { machine: { features: { imageCache: { localEnabled: true } } } }
        : { apiVersion: "v1alpha1", kind: "ImageCacheConfig", local: { enabled: true } },
      IMAGE_CACHE_VOLUME,
    );
  return patches;
}

/**
 * What a cluster keeps whose endpoint changed: its issuer, unless a person wrote one, and names of certificates in a config that a person wrote.
 *
 * @see siderolabs/talos `internal/app/machined/pkg/controllers/k8s/control_plane_static_pod.go`: both arguments are the endpoint where nothing else is said
 */
function keptPatches({ endpoint, kept, machineSpec }: RenderInput, isBeforeDocuments: boolean): readonly unknown[] {
  if (kept === undefined) return [];
  const { base, configPatches, additionalConfig } = machineSpec;
  const { issuer, hosts } = kept;
  const written = `${base?.text.reveal() ?? ""}${JSON.stringify([configPatches, additionalConfig])}`;
  const isInside = base === undefined ? isBeforeDocuments : !base.text.reveal().includes("KubeClusterConfig");
  const patches: unknown[] = [];
  if (issuer !== endpoint && !/service-account-issuer|issuerURL/.test(written))
    patches.push(
      isInside
        ? { cluster: { apiServer: { extraArgs: { "service-account-issuer": issuer, "api-audiences": issuer } } } }
        : { apiVersion: "v1alpha1", kind: "KubeServiceAccountConfig", issuer: { issuerURL: issuer } },
    );
  if (base !== undefined)
    patches.push(
      isInside
        ? { cluster: { apiServer: { certSANs: hosts } } }
        : { apiVersion: "v1alpha1", kind: "KubeAPIServerConfig", certExtraSANs: hosts },
    );
  return patches;
}

/** Mirrors as host to endpoints, when the section holds nothing else; `undefined` when it says more than that. */
function plainMirrors(registries: MachineSpec["registries"]): Readonly<Record<string, readonly string[]>> | undefined {
  if (registries === undefined) return undefined;
  const { mirrors, ...rest } = registries;
  if (Object.keys(rest).length > 0 || typeof mirrors !== "object" || mirrors === null) return undefined;
  const plain: [string, readonly string[]][] = [];
  for (const [host, value] of Object.entries(mirrors)) {
    if (typeof value !== "object" || value === null) return undefined;
    const { endpoints, ...more } = value as Readonly<Record<string, unknown>>;
    if (Object.keys(more).length > 0 || !Array.isArray(endpoints) || !endpoints.every((one) => typeof one === "string")) return undefined;
    plain.push([host, endpoints]);
  }
  return Object.fromEntries(plain);
}

/** The installer with its tag: `image` without one gets the version; no `image` means Talos's own. */
function installerImage(image: string | undefined, version: string): string {
  if (image === undefined || image === "") return defaultInstallerImage(version);
  return /:[^/]+$/.test(image) || image.includes("@") ? image : `${image}:${version}`;
}

/** Keys, tokens, identity and role are the operator's: a patch that changes them would make another cluster, or lock it out. */
function refuseIdentityChange(plain: string, patched: string): void {
  const before = describeMachineConfig(plain);
  const after = describeMachineConfig(patched);
  const fixed = [
    ["machine.type", before.machineType, after.machineType],
    ["cluster.id", before.clusterId, after.clusterId],
    ["cluster.secret", before.clusterSecret, after.clusterSecret],
    ["machine.token", before.machineToken, after.machineToken],
    ["cluster.token", before.bootstrapToken, after.bootstrapToken],
    ["machine.ca", before.osCa?.certificate, after.osCa?.certificate],
    ["machine.ca.key", before.osCa?.key, after.osCa?.key],
    ["cluster.ca", before.kubernetesCa?.certificate, after.kubernetesCa?.certificate],
    ["cluster.ca.key", before.kubernetesCa?.key, after.kubernetesCa?.key],
    ["cluster.aggregatorCA", before.aggregatorCa?.certificate, after.aggregatorCa?.certificate],
    ["cluster.aggregatorCA.key", before.aggregatorCa?.key, after.aggregatorCa?.key],
    ["cluster.etcd.ca", before.etcdCa?.certificate, after.etcdCa?.certificate],
    ["cluster.etcd.ca.key", before.etcdCa?.key, after.etcdCa?.key],
    ["cluster.serviceAccount.key", before.serviceAccountKey, after.serviceAccountKey],
    ["cluster.secretboxEncryptionSecret", before.secretboxEncryptionSecret, after.secretboxEncryptionSecret],
    ["cluster.aescbcEncryptionSecret", before.aescbcEncryptionSecret, after.aescbcEncryptionSecret],
    ["cluster.controlPlane.endpoint", before.endpoint, after.endpoint],
  ] as const;
  const changed = fixed.find(([, old, now]) => old !== now);
  if (changed !== undefined)
    throw new ConfigRefusal(
      `a patch changes ${changed[0]}, which is fixed by the operator. Remove it from configPatches and additionalConfig`,
    );
}

function isEmpty(list: readonly unknown[] | undefined): boolean {
  return list === undefined || list.length === 0;
}

import { parseVersion } from "./version.ts";

/** Schematic of an image without extensions and extra arguments: SHA-256 of `customization: {}`. */
export const defaultSchematicId = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";

/** The schematic of an installer of Talos itself: it is built from none. */
export const noSchematic = "none";

/**
 * Id of the schematic that an installer image is built from, by its name: `noSchematic` for those that Talos publishes itself, `undefined` where the name does
 * not tell, as that of an image that somebody built.
 */
export function schematicOfImage(image: string): string | undefined {
  const [name = ""] = image.split("@");
  const id = /\/([0-9a-f]{64})(?::[\w][\w.-]*)?$/.exec(name)?.[1];
  return id ?? (/^ghcr\.io\/siderolabs\/installer(?::[\w][\w.-]*)?$/.test(name) ? noSchematic : undefined);
}

/** True for two schematics that bring the same, or of which one is not known. An installer of Talos itself brings what the schematic that holds nothing does. */
export function isSameSchematic(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b || (isPlainSchematic(a) && isPlainSchematic(b));
}

/** Nothing is in it that an installer of Talos itself lacks. */
export function isPlainSchematic(schematic: string): boolean {
  return schematic === noSchematic || schematic === defaultSchematicId;
}

/**
 * The installer image that `talosctl gen config` of that release writes.
 *
 * @throws ConfigError `INVALID_VERSION`
 */
export function defaultInstallerImage(talosVersion: string): string {
  const { major, minor } = parseVersion(talosVersion);
  const tag = talosVersion.startsWith("v") ? talosVersion : `v${talosVersion}`;
  return major > 1 || minor >= 14
    ? `factory.talos.dev/metal-installer/${defaultSchematicId}:${tag}`
    : `ghcr.io/siderolabs/installer:${tag}`;
}

/** The Talos image for containers. */
export function defaultTalosImage(talosVersion: string): string {
  parseVersion(talosVersion);
  return `ghcr.io/siderolabs/talos:${talosVersion.startsWith("v") ? talosVersion : `v${talosVersion}`}`;
}

/** The images of one Kubernetes version that Talos runs itself. */
export function kubernetesImages(
  kubernetesVersion: string,
): Readonly<Record<"kubelet" | "apiServer" | "controllerManager" | "scheduler" | "proxy", string>> {
  parseVersion(kubernetesVersion);
  const tag = kubernetesVersion.startsWith("v") ? kubernetesVersion : `v${kubernetesVersion}`;
  return {
    kubelet: `ghcr.io/siderolabs/kubelet:${tag}`,
    apiServer: `registry.k8s.io/kube-apiserver:${tag}`,
    controllerManager: `registry.k8s.io/kube-controller-manager:${tag}`,
    scheduler: `registry.k8s.io/kube-scheduler:${tag}`,
    proxy: `registry.k8s.io/kube-proxy:${tag}`,
  };
}

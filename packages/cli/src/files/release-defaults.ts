import {
  compareContracts,
  contractFor,
  defaultInstallerImage,
  defaultKubernetesFor,
  parseVersion,
  referenceTalosVersion,
  tryParseVersion,
  type Contract,
} from "@talos-operator/talos";

/** What talosctl fills in by itself. */
export interface ReleaseDefaults {
  readonly contract: Contract;
  readonly installerImage: string;
  /** @throws ConfigError `INVALID_VERSION` for a Talos minor that this version does not know */
  readonly kubernetesVersion: () => string;
}

/**
 * The defaults for machines of a Talos version. Up to the reference release they are its own, as talosctl of that release has them for older
 * machines too; for newer ones those of the version that is asked for.
 *
 * @throws ConfigError `INVALID_VERSION`
 */
export function releaseDefaults(talosVersion: string | undefined): ReleaseDefaults {
  const contract = contractFor(talosVersion ?? referenceTalosVersion);
  const isNewer = compareContracts(contract, contractFor(referenceTalosVersion)) > 0;
  const release = isNewer && talosVersion !== undefined ? fullVersion(talosVersion) : referenceTalosVersion;
  return { contract, installerImage: defaultInstallerImage(release), kubernetesVersion: () => defaultKubernetesFor(release) };
}

/** `1.14` as `v1.14.0`. */
function fullVersion(text: string): string {
  const version = tryParseVersion(text) === undefined ? `${contractFor(text)}.0` : text;
  parseVersion(version);
  return version.startsWith("v") ? version : `v${version}`;
}

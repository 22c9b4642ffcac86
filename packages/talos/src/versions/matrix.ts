import { ConfigError } from "../config/errors.ts";
import { parseShortVersion, parseVersion, type Version } from "./version.ts";

/** What one Talos minor works with. Kubernetes minors are of major 1, Talos minors too. */
export interface TalosMinor {
  readonly kubernetes: readonly [oldest: number, newest: number];
  /** Oldest Talos minor that may upgrade to this one. */
  readonly oldestHost: number;
  /** First Talos minor that may not come back down to this one. */
  readonly refusedHost: number;
  /** Minor of etcd 3 that this minor runs: a newer one writes data that an older one does not read. */
  readonly etcd: number;
  /** Newest patch, without `v`; absent while there is no release. Upgrades that only pass through the minor go by it. */
  readonly newest?: string;
}

/** What is known of Talos minors, by their number. */
export type TalosMinors = ReadonlyMap<number, TalosMinor>;

/** A minor that configurations are written for. */
interface BuiltInMinor extends TalosMinor {
  /** Kubernetes that the newest patch of this minor installs by default. */
  readonly defaultKubernetes: string;
}

/** From the compatibility tables and the tags of the Talos releases. */
export const talosMinors: ReadonlyMap<number, BuiltInMinor> = new Map<number, BuiltInMinor>([
  [2, { kubernetes: [23, 25], oldestHost: 0, refusedHost: 3, defaultKubernetes: "1.25.4", etcd: 5, newest: "1.2.9" }],
  [3, { kubernetes: [24, 26], oldestHost: 0, refusedHost: 5, defaultKubernetes: "1.26.3", etcd: 5, newest: "1.3.7" }],
  [4, { kubernetes: [25, 27], oldestHost: 0, refusedHost: 6, defaultKubernetes: "1.27.4", etcd: 5, newest: "1.4.8" }],
  [5, { kubernetes: [26, 28], oldestHost: 2, refusedHost: 7, defaultKubernetes: "1.28.3", etcd: 5, newest: "1.5.6" }],
  [6, { kubernetes: [24, 29], oldestHost: 3, refusedHost: 8, defaultKubernetes: "1.29.7", etcd: 5, newest: "1.6.8" }],
  [7, { kubernetes: [25, 30], oldestHost: 4, refusedHost: 9, defaultKubernetes: "1.30.5", etcd: 5, newest: "1.7.7" }],
  [8, { kubernetes: [26, 31], oldestHost: 5, refusedHost: 10, defaultKubernetes: "1.31.4", etcd: 5, newest: "1.8.4" }],
  [9, { kubernetes: [27, 32], oldestHost: 8, refusedHost: 11, defaultKubernetes: "1.32.4", etcd: 5, newest: "1.9.6" }],
  [10, { kubernetes: [28, 33], oldestHost: 8, refusedHost: 12, defaultKubernetes: "1.33.6", etcd: 5, newest: "1.10.9" }],
  [11, { kubernetes: [29, 34], oldestHost: 9, refusedHost: 13, defaultKubernetes: "1.34.1", etcd: 6, newest: "1.11.6" }],
  [12, { kubernetes: [30, 35], oldestHost: 10, refusedHost: 14, defaultKubernetes: "1.35.4", etcd: 6, newest: "1.12.11" }],
  [13, { kubernetes: [31, 36], oldestHost: 11, refusedHost: 15, defaultKubernetes: "1.36.3", etcd: 6, newest: "1.13.9" }],
  [14, { kubernetes: [32, 37], oldestHost: 12, refusedHost: 16, defaultKubernetes: "1.37.0-rc.0", etcd: 7 }],
  [15, { kubernetes: [33, 38], oldestHost: 13, refusedHost: 17, defaultKubernetes: "1.37.0-rc.1", etcd: 7 }],
]);

/** A yes, or a no with the sentence that Talos itself would give. */
export type Verdict = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/**
 * Whether a Talos version runs a Kubernetes version. Pre-releases count as their release.
 *
 * @param minors default: those that this release knows
 * @throws ConfigError `INVALID_VERSION`
 */
export function supportsKubernetes(talosVersion: string, kubernetesVersion: string, minors: TalosMinors = talosMinors): Verdict {
  const talos = parseShortVersion(talosVersion);
  const kubernetes = parseShortVersion(kubernetesVersion);
  const minor = talos.major === 1 ? minors.get(talos.minor) : undefined;
  if (minor === undefined) return no(`compatibility with version ${number(talos)} is not supported`);
  const [oldest, newest] = minor.kubernetes;
  if (kubernetes.major < 1 || (kubernetes.major === 1 && kubernetes.minor < oldest)) {
    return no(`version of Kubernetes ${number(kubernetes)} is too old to be used with Talos ${number(talos)}`);
  }
  if (kubernetes.major > 1 || kubernetes.minor > newest) {
    return no(`version of Kubernetes ${number(kubernetes)} is too new to be used with Talos ${number(talos)}`);
  }
  return { ok: true };
}

/**
 * Oldest and newest Kubernetes minors that a Talos runs, as `v1.31` and `v1.36`; `undefined` for a Talos minor that is not known.
 *
 * @throws ConfigError `INVALID_VERSION`
 */
export function kubernetesRange(talosVersion: string): { readonly oldest: string; readonly newest: string } | undefined {
  const { major, minor } = parseShortVersion(talosVersion);
  const [oldest, newest] = (major === 1 ? talosMinors.get(minor)?.kubernetes : undefined) ?? [];
  return oldest === undefined || newest === undefined ? undefined : { oldest: `v1.${oldest}`, newest: `v1.${newest}` };
}

/**
 * Whether a machine that runs `from` may install `to`: the check that the installer makes, in both directions.
 *
 * @param minors default: those that this release knows
 * @throws ConfigError `INVALID_VERSION`
 */
export function supportsTalosUpgrade(from: string, to: string, minors: TalosMinors = talosMinors): Verdict {
  const host = parseShortVersion(from);
  const target = parseShortVersion(to);
  const minor = target.major === 1 ? minors.get(target.minor) : undefined;
  if (minor === undefined) return no(`upgrades to version ${number(target)} are not supported`);
  if (host.major < 1 || (host.major === 1 && host.minor < minor.oldestHost)) {
    return no(`host version ${number(host)} is too old to upgrade to Talos ${number(target)}`);
  }
  if (host.major > 1 || host.minor >= minor.refusedHost) {
    return no(`host version ${number(host)} is too new to downgrade to Talos ${number(target)}`);
  }
  return { ok: true };
}

/**
 * Whether Kubernetes may be upgraded from one version to another in one step: within a minor, or one minor up. `path` is how the genuine tool
 * names the step.
 *
 * @throws ConfigError `INVALID_VERSION`
 */
export function kubernetesUpgradePath(from: string, to: string): { readonly path: string; readonly isSupported: boolean } {
  const a = parseVersion(from);
  const b = parseVersion(to);
  const step = b.minor - a.minor;
  const isKnown = a.major === 1 && b.major === 1 && a.minor >= oldestUpgradableKubernetes && b.minor <= newestUpgradableKubernetes;
  return { path: `${a.major}.${a.minor}->${b.major}.${b.minor}`, isSupported: isKnown && (step === 0 || step === 1) };
}

/** Minors between which the genuine tool knows the steps. */
const oldestUpgradableKubernetes = 19;
const newestUpgradableKubernetes = 37;

/** Whether this version of the library knows the Talos minor. */
export function isKnownTalos(talosVersion: string): boolean {
  const { major, minor } = parseVersion(talosVersion);
  return major === 1 && talosMinors.has(minor);
}

/**
 * The Kubernetes version that the newest patch of a Talos minor installs when nobody asks for another, without `v`.
 *
 * @throws ConfigError `INVALID_VERSION` also for a Talos minor that is not known
 */
export function defaultKubernetesFor(talosVersion: string): string {
  const talos = parseVersion(talosVersion);
  const minor = talos.major === 1 ? talosMinors.get(talos.minor) : undefined;
  if (minor === undefined) throw new ConfigError("INVALID_VERSION", `Talos ${number(talos)} is not known to this version`);
  return minor.defaultKubernetes;
}

function no(reason: string): Verdict {
  return { ok: false, reason };
}

function number({ major, minor, patch, prerelease, build }: Version): string {
  return `${major}.${minor}.${patch}${prerelease === "" ? "" : `-${prerelease}`}${build === "" ? "" : `+${build}`}`;
}

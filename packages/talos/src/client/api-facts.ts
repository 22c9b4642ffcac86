import { parseVersion } from "../versions/version.ts";

/** What the machine API of a Talos release can do, where releases differ. */
export interface MachineApiFacts {
  /**
   * How to upgrade: `in-one-call` (`upgrade`: pulls, drains, installs and reboots by itself) or `in-steps` (`imagePull`, `lifecycleUpgrade`, then drain
   * and `reboot`). From 1.13 the older call is deprecated.
   */
  readonly upgrade: "in-one-call" | "in-steps";
  /** An older upgrade without `preserve` wipes EPHEMERAL and makes a control plane leave etcd (up to 1.7). */
  readonly isUpgradeWiping: boolean;
}

/**
 * Facts of a release, by its minor; pre-releases count as their minor, versions newer than this package as the newest it knows.
 *
 * @param version `v1.13.9`
 * @throws ConfigError `INVALID_VERSION`
 */
export function machineApiFacts(version: string): MachineApiFacts {
  const { major, minor } = parseVersion(version);
  const from = (wanted: number): boolean => major > 1 || (major === 1 && minor >= wanted);
  return {
    upgrade: from(13) ? "in-steps" : "in-one-call",
    isUpgradeWiping: !from(8),
  };
}

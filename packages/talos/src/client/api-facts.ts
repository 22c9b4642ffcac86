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
  /** In maintenance mode a stranger may ask for the version, services, logs and events (from 1.13), not only for disks and resources. */
  readonly isMaintenanceReadable: boolean;
  /** Limit of a message to a machine in maintenance mode, in bytes. */
  readonly maintenanceMessageBytes: number;
  /** `applyConfiguration` in mode `auto` may reboot, and mode `reboot` exists (up to 1.13). From 1.14 every apply is live or staged. */
  readonly isApplyRebooting: boolean;
  /** Resources `Disks` and `SystemDisks` (1.8). */
  readonly hasDiskResources: boolean;
  /** `blockDeviceWipe` (1.9). */
  readonly hasBlockDeviceWipe: boolean;
  /** Resource `Versions`, and `MachineConfigs/persistent` (1.10). */
  readonly hasVersionResource: boolean;
  /** `etcdDowngrade...` (1.11). */
  readonly hasEtcdDowngrade: boolean;
  /** Resource `BootIDs`, so that `os:reader` can tell boots apart (1.14). */
  readonly hasBootIdResource: boolean;
}

const MIB = 1024 * 1024;

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
    isMaintenanceReadable: from(13),
    maintenanceMessageBytes: (from(13) ? 32 : 4) * MIB,
    isApplyRebooting: !from(14),
    hasDiskResources: from(8),
    hasBlockDeviceWipe: from(9),
    hasVersionResource: from(10),
    hasEtcdDowngrade: from(11),
    hasBootIdResource: from(14),
  };
}

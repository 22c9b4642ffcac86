import { defineKind } from "./define-kind.ts";

/** A volume that Talos manages. */
export interface VolumeStatusSpec {
  /** `ready`, `waiting`, `missing`, `failed`, ... */
  readonly phase: string;
  /** `partition`, `disk`, `directory`, `tmpfs`, ... */
  readonly type: string;
  /** `/dev/sda5` */
  readonly location: string;
  readonly sizeBytes: number;
  readonly filesystem: string;
  /** Empty while all is well. */
  readonly error: string;
}

/** What was found on a disk or partition. */
export interface DiscoveredVolumeSpec {
  /** `/dev/sda1` */
  readonly devicePath: string;
  /** `disk`, `partition` */
  readonly type: string;
  /** Of a partition: `sda`. */
  readonly parent: string;
  /** Of a partition: `/dev/sda`. */
  readonly parentDevicePath: string;
  readonly sizeBytes: number;
  /** What is on it: `gpt`, `xfs`, `ext4`, `luks`, `lvm2-pv`, ...; empty when nothing was found. */
  readonly content: string;
  readonly label: string;
  readonly partitionLabel: string;
}

/** Disks and what is on them. */
export const storageKinds = {
  /** Volumes that Talos manages (Talos 1.8); the id is the volume's name, `EPHEMERAL`. */
  volumeStatus: defineKind<VolumeStatusSpec>("VolumeStatuses.block.talos.dev", "runtime", undefined, (spec) => ({
    phase: spec.text("phase"),
    type: spec.text("type"),
    location: spec.text("location"),
    sizeBytes: spec.number("size"),
    filesystem: spec.text("filesystem"),
    error: spec.text("errorMessage"),
  })),
  /** Everything that was found on block devices, foreign data included (Talos 1.7); the id is `sda1`. */
  discoveredVolume: defineKind<DiscoveredVolumeSpec>("DiscoveredVolumes.block.talos.dev", "runtime", undefined, (spec) => ({
    devicePath: spec.text("dev_path"),
    type: spec.text("type"),
    parent: spec.text("parent"),
    parentDevicePath: spec.text("parent_dev_path"),
    sizeBytes: spec.number("size"),
    content: spec.text("name"),
    label: spec.text("label"),
    partitionLabel: spec.text("partition_label"),
  })),
} as const;

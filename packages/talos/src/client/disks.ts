import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";

import {
  BlockDeviceWipeDescriptor_Method as WipeMethod,
  BlockDeviceWipeRequestSchema,
  Disk_DiskType as DiskType,
  StorageService,
} from "../gen/storage/storage_pb.ts";
import { methodOf } from "../method-of.ts";
import { READ_TIMEOUT_MS, STREAM_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";

/** A disk as the older storage API lists it. From Talos 1.8 the resources `Disks` say more. */
export interface DiskFacts {
  /** `/dev/sda` */
  readonly deviceName: string;
  readonly sizeBytes: number;
  readonly model: string;
  readonly serial: string;
  readonly wwid: string;
  readonly uuid: string;
  readonly type: "ssd" | "hdd" | "nvme" | "sd" | "cd" | "unknown";
  readonly busPath: string;
  /** Talos is installed on it. */
  readonly isSystemDisk: boolean;
  readonly isReadonly: boolean;
}

/** A disk or partition to be wiped. */
export interface WipeTarget {
  /** Name without `/dev/`: `sdb`, `sdb1`. */
  readonly device: string;
  /** `fast` erases signatures and partition tables, `zeroes` everything. Default `fast`. */
  readonly method?: "fast" | "zeroes";
  /** Wipe although a volume of Talos uses it. Default false. */
  readonly skipVolumeCheck?: boolean;
  /** Wipe although something else (LVM, RAID) is built on it. Default false. */
  readonly skipSecondaryCheck?: boolean;
  /** Delete the partition after wiping it. Default false. */
  readonly dropPartition?: boolean;
}

export interface DiskCalls {
  /** Works in maintenance mode, also before Talos 1.13. Default deadline 10 s. Empty in container mode. */
  disks(options?: CallOptions): Promise<readonly DiskFacts[]>;
  /**
   * Destroys what is on block devices. Talos 1.9. Default deadline 600 s. Everyone may call it on a machine in maintenance mode (from 1.11).
   *
   * @throws TalosError `FAILED_PRECONDITION` for a device in use
   */
  blockDeviceWipe(targets: readonly WipeTarget[], options?: CallOptions): Promise<void>;
}

const DISKS = methodOf(StorageService.method.disks);
const WIPE = methodOf(StorageService.method.blockDeviceWipe);

const TYPES: Readonly<Partial<Record<DiskType, DiskFacts["type"]>>> = {
  [DiskType.SSD]: "ssd",
  [DiskType.HDD]: "hdd",
  [DiskType.NVME]: "nvme",
  [DiskType.SD]: "sd",
  [DiskType.CD]: "cd",
};

export function diskCalls(caller: Caller): DiskCalls {
  return {
    async disks(options) {
      const part = await caller.one(DISKS, create(EmptySchema), READ_TIMEOUT_MS, options);
      return part.disks.map((disk) => ({
        deviceName: disk.deviceName,
        sizeBytes: Number(disk.size),
        model: disk.model,
        serial: disk.serial,
        wwid: disk.wwid,
        uuid: disk.uuid,
        type: TYPES[disk.type] ?? "unknown",
        busPath: disk.busPath,
        isSystemDisk: disk.systemDisk,
        isReadonly: disk.readonly,
      }));
    },
    async blockDeviceWipe(targets, options) {
      const request = create(BlockDeviceWipeRequestSchema, {
        devices: targets.map((target) => ({
          device: target.device,
          method: target.method === "zeroes" ? WipeMethod.ZEROES : WipeMethod.FAST,
          skipVolumeCheck: target.skipVolumeCheck ?? false,
          skipSecondaryCheck: target.skipSecondaryCheck ?? false,
          dropPartition: target.dropPartition ?? false,
        })),
      });
      await caller.one(WIPE, request, STREAM_TIMEOUT_MS, options);
    },
  };
}

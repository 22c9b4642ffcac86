import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";

import { Disk_DiskType as DiskType, StorageService } from "../gen/storage/storage_pb.ts";
import { methodOf } from "../method-of.ts";
import { READ_TIMEOUT_MS } from "./call.ts";
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

export interface DiskCalls {
  /** Works in maintenance mode, also before Talos 1.13. Default deadline 10 s. Empty in container mode. */
  disks(options?: CallOptions): Promise<readonly DiskFacts[]>;
}

const DISKS = methodOf(StorageService.method.disks);

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
  };
}

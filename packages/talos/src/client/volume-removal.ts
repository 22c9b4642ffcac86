import { create } from "@bufbuild/protobuf";

import {
  LVMService,
  LVMServiceLogicalVolumeRemoveRequestSchema,
  LVMServicePhysicalVolumeRemoveRequestSchema,
  LVMServiceVolumeGroupRemoveRequestSchema,
  MDDestroyRequestSchema,
  MDService,
} from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { EFFECT_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";

/**
 * Takes down what LVM and software RAID built on disks, so that the disks can be used again. Each destroys data. Talos 1.14.
 *
 * Needs `os:admin`; on a machine in maintenance mode everyone may call them. Default deadline 30 s. The machine itself has to be dialed or named by
 * `node`: these calls are not sent to several machines.
 */
export interface VolumeRemovalCalls {
  /** @throws TalosError `NOT_FOUND` or `FAILED_PRECONDITION`, as the machine says */
  logicalVolumeRemove(input: { readonly volumeGroup: string; readonly logicalVolume: string }, options?: CallOptions): Promise<void>;
  /** With all of its logical volumes. */
  volumeGroupRemove(volumeGroup: string, options?: CallOptions): Promise<void>;
  /** @param device such as `/dev/sdb` */
  physicalVolumeRemove(device: string, options?: CallOptions): Promise<void>;
  /** Stops an array and erases its members' metadata. @param device such as `/dev/md0` */
  raidArrayDestroy(device: string, options?: CallOptions): Promise<void>;
}

const LOGICAL = methodOf(LVMService.method.logicalVolumeRemove);
const GROUP = methodOf(LVMService.method.volumeGroupRemove);
const PHYSICAL = methodOf(LVMService.method.physicalVolumeRemove);
const ARRAY = methodOf(MDService.method.destroy);

export function volumeRemovalCalls(caller: Caller): VolumeRemovalCalls {
  return {
    async logicalVolumeRemove({ volumeGroup, logicalVolume }, options) {
      const request = create(LVMServiceLogicalVolumeRemoveRequestSchema, { volumeGroup, logicalVolume });
      await caller.unary(LOGICAL, request, EFFECT_TIMEOUT_MS, options);
    },
    async volumeGroupRemove(volumeGroup, options) {
      await caller.unary(GROUP, create(LVMServiceVolumeGroupRemoveRequestSchema, { volumeGroup }), EFFECT_TIMEOUT_MS, options);
    },
    async physicalVolumeRemove(device, options) {
      await caller.unary(PHYSICAL, create(LVMServicePhysicalVolumeRemoveRequestSchema, { device }), EFFECT_TIMEOUT_MS, options);
    },
    async raidArrayDestroy(device, options) {
      await caller.unary(ARRAY, create(MDDestroyRequestSchema, { device }), EFFECT_TIMEOUT_MS, options);
    },
  };
}

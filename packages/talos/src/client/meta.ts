import { create } from "@bufbuild/protobuf";

import { MachineService, MetaDeleteRequestSchema, MetaWriteRequestSchema } from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { EFFECT_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";

/** Keys of the META partition, which survives everything but a wipe of META. @see siderolabs/talos `pkg/machinery/meta/constants.go` */
export const META_KEYS = {
  upgradeFallback: 0x06,
  stagedImage: 0x07,
  stagedInstallOptions: 0x08,
  stateEncryption: 0x09,
  /** Network config of metal machines, YAML. */
  metalNetwork: 0x0a,
  downloadCode: 0x0b,
  /** Three keys that Talos leaves to its users. */
  user1: 0x0c,
  user2: 0x0d,
  user3: 0x0e,
  /** Hardware UUID in place of the firmware's. */
  uuidOverride: 0x0f,
  uniqueMachineToken: 0x10,
  bootloader: 0x11,
} as const;

export interface MetaCalls {
  /**
   * Writes a key (0 to 255) of META. Harmless to repeat. Default deadline 30 s. Needs `os:admin` or, from Talos 1.13, `os:meta:writer`.
   *
   * @throws TalosError `RESOURCE_EXHAUSTED` when META is full, `FAILED_PRECONDITION` in container mode
   */
  metaWrite(key: number, value: string | Uint8Array, options?: CallOptions): Promise<void>;
  /** Default deadline 30 s. `NOT_FOUND` when the key is not set. */
  metaDelete(key: number, options?: CallOptions): Promise<void>;
}

const WRITE = methodOf(MachineService.method.metaWrite);
const DELETE = methodOf(MachineService.method.metaDelete);

export function metaCalls(caller: Caller): MetaCalls {
  return {
    async metaWrite(key, value, options) {
      const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
      await caller.one(WRITE, create(MetaWriteRequestSchema, { key, value: bytes }), EFFECT_TIMEOUT_MS, options);
    },
    async metaDelete(key, options) {
      await caller.one(DELETE, create(MetaDeleteRequestSchema, { key }), EFFECT_TIMEOUT_MS, options);
    },
  };
}

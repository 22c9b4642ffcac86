import { create } from "@bufbuild/protobuf";

import {
  MachineService,
  RebootRequest_Mode as RebootModeProtocol,
  RebootRequestSchema,
  ResetRequest_WipeMode as WipeModeProtocol,
  ResetRequestSchema,
} from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { EFFECT_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";

/** `default` uses kexec, `powercycle` goes through the firmware, `force` does not stop services first (newest Talos only). */
export type RebootMode = "default" | "powercycle" | "force";

/** What a reset wipes and what comes after it. Nothing of it can be taken back. */
export interface ResetInput {
  /** Drain the Kubernetes node and leave etcd first. Always given: `false` leaves a dead member behind. */
  readonly graceful: boolean;
  /** Reboot afterwards rather than power off. Always given. */
  readonly reboot: boolean;
  /** Which disks; default `all`. */
  readonly wipe?: "all" | "system-disk" | "user-disks";
  /** Labels to wipe, `STATE` and `EPHEMERAL` keep the installation. None wipes the whole system disk: the machine then needs boot media. */
  readonly systemPartitions?: readonly string[];
  /** Device paths. */
  readonly userDisks?: readonly string[];
}

/** The machine accepted it; the work goes on after the reply and its events carry this id. */
export interface AcceptedSequence {
  readonly actorId: string;
}

export interface LifecycleCalls {
  /** Default deadline 30 s. In container mode the API drops at once, nothing is wiped. */
  reset(input: ResetInput, options?: CallOptions): Promise<AcceptedSequence>;
  /** Default deadline 30 s. `FAILED_PRECONDITION` in container mode. */
  reboot(input?: { readonly mode?: RebootMode }, options?: CallOptions): Promise<AcceptedSequence>;
}

const RESET = methodOf(MachineService.method.reset);
const REBOOT = methodOf(MachineService.method.reboot);

const REBOOT_MODES: Readonly<Record<RebootMode, RebootModeProtocol>> = {
  default: RebootModeProtocol.DEFAULT,
  powercycle: RebootModeProtocol.POWERCYCLE,
  force: RebootModeProtocol.FORCE,
};

const WIPE_MODES: Readonly<Record<NonNullable<ResetInput["wipe"]>, WipeModeProtocol>> = {
  all: WipeModeProtocol.ALL,
  "system-disk": WipeModeProtocol.SYSTEM_DISK,
  "user-disks": WipeModeProtocol.USER_DISKS,
};

export function lifecycleCalls(caller: Caller): LifecycleCalls {
  return {
    async reset(input, options) {
      const request = create(ResetRequestSchema, {
        graceful: input.graceful,
        reboot: input.reboot,
        mode: WIPE_MODES[input.wipe ?? "all"],
        systemPartitionsToWipe: (input.systemPartitions ?? []).map((label) => ({ label, wipe: true })),
        userDisksToWipe: [...(input.userDisks ?? [])],
      });
      const { actorId } = await caller.one(RESET, request, EFFECT_TIMEOUT_MS, options);
      return { actorId };
    },
    async reboot(input, options) {
      const request = create(RebootRequestSchema, { mode: REBOOT_MODES[input?.mode ?? "default"] });
      const { actorId } = await caller.one(REBOOT, request, EFFECT_TIMEOUT_MS, options);
      return { actorId };
    },
  };
}

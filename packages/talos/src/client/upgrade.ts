import { create } from "@bufbuild/protobuf";

import { ContainerDriver, ContainerdNamespace } from "../gen/common/common_pb.ts";
import {
  LifecycleService,
  LifecycleServiceUpgradeRequestSchema,
  MachineService,
  RollbackRequestSchema,
  UpgradeRequest_RebootMode as RebootModeProtocol,
  UpgradeRequestSchema,
} from "../gen/machine/machine_pb.ts";
import type { LifecycleServiceInstallProgress } from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { EFFECT_TIMEOUT_MS, STREAM_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";
import { TalosError } from "./errors.ts";
import type { AcceptedSequence } from "./lifecycle.ts";

/** How the older upgrade goes about it. */
export interface UpgradeInput {
  /** Installer image, with tag or digest. */
  readonly image: string;
  /**
   * Up to Talos 1.7 `false` wipes EPHEMERAL and makes a control plane leave etcd; from 1.8 data always stay; from 1.12 `true` only skips the
   * checks of etcd. Always given.
   */
  readonly preserve: boolean;
  /** Install at the next boot rather than now. Default false. */
  readonly stage?: boolean;
  /** Skip the checks of etcd. Default false. */
  readonly force?: boolean;
  /** Default `default` (kexec). */
  readonly rebootMode?: "default" | "powercycle";
}

export interface UpgradeCalls {
  /**
   * Upgrades, drains and reboots in one go, as up to Talos 1.12 and, deprecated, to 1.17. Default deadline 600 s: the machine pulls the image before
   * it answers, and the rest follows after the reply. It is done when the machine runs the version after another boot.
   *
   * @throws TalosError `FAILED_PRECONDITION` in container mode or when not installed, `NODE_FAILED` when the image cannot be pulled or etcd is not healthy
   */
  upgrade(input: UpgradeInput, options?: CallOptions): Promise<AcceptedSequence>;
  /**
   * Writes another version into the spare boot slot. Neither drains nor reboots: both are the caller's, and so is pulling `image` into the store `system`
   * before. Talos 1.13. An installer that has begun goes on when the loop is left or the deadline is over, and holds off the next one meanwhile. Default deadline 600 s. Yields the installer's words.
   *
   * @param input.image the name that `imagePull` ended with
   * @throws TalosError `INSTALL_FAILED` when the installer ends with an exit code, `UNAVAILABLE` when the stream ends without one: whether the slot was
   *   written is unknown then; `FAILED_PRECONDITION` while another installer runs, in container mode or when not installed
   */
  lifecycleUpgrade(input: { readonly image: string }, options?: CallOptions): AsyncIterable<string>;
  /** Boots the other slot again. Default deadline 30 s. `FAILED_PRECONDITION` in container mode. */
  rollback(options?: CallOptions): Promise<void>;
}

const UPGRADE = methodOf(MachineService.method.upgrade);
const ROLLBACK = methodOf(MachineService.method.rollback);
const LIFECYCLE_UPGRADE = methodOf(LifecycleService.method.upgrade);
const SYSTEM_STORE = { driver: ContainerDriver.CRI, namespace: ContainerdNamespace.NS_SYSTEM };

const REBOOT_MODES: Readonly<Record<NonNullable<UpgradeInput["rebootMode"]>, RebootModeProtocol>> = {
  default: RebootModeProtocol.DEFAULT,
  powercycle: RebootModeProtocol.POWERCYCLE,
};

export function upgradeCalls(caller: Caller): UpgradeCalls {
  const nodeOf = (options: CallOptions | undefined): string => options?.node ?? caller.channel.target.address;
  return {
    async upgrade(input, options) {
      const request = create(UpgradeRequestSchema, {
        image: input.image,
        preserve: input.preserve,
        stage: input.stage ?? false,
        force: input.force ?? false,
        rebootMode: REBOOT_MODES[input.rebootMode ?? "default"],
      });
      const { actorId } = await caller.one(UPGRADE, request, STREAM_TIMEOUT_MS, options);
      return { actorId };
    },
    lifecycleUpgrade({ image }, options) {
      const request = create(LifecycleServiceUpgradeRequestSchema, { containerd: SYSTEM_STORE, source: { imageName: image } });
      const facts = { node: nodeOf(options), method: LIFECYCLE_UPGRADE.path };
      return installerWords(caller.stream(LIFECYCLE_UPGRADE, request, STREAM_TIMEOUT_MS, options), facts);
    },
    async rollback(options) {
      await caller.one(ROLLBACK, create(RollbackRequestSchema), EFFECT_TIMEOUT_MS, options);
    },
  };
}

/** The machine says OK to the call whatever the installer does: its exit code comes inside the stream. */
async function* installerWords(
  replies: AsyncIterable<{ readonly progress?: LifecycleServiceInstallProgress | undefined }>,
  facts: { readonly node: string; readonly method: string },
): AsyncGenerator<string, void, undefined> {
  let exitCode: number | undefined;
  for await (const { progress } of replies) {
    if (progress?.response.case === "message") yield progress.response.value;
    if (progress?.response.case === "exitCode") exitCode = progress.response.value;
  }
  if (exitCode === undefined) throw new TalosError("UNAVAILABLE", facts, "the installer's stream ended without an exit code");
  if (exitCode !== 0) throw new TalosError("INSTALL_FAILED", facts, `the installer ended with exit code ${exitCode}`);
}

import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";

import { MachineService } from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { READ_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";
import { TalosError } from "./errors.ts";

/** What a machine says about the system it runs. */
export interface VersionFacts {
  /** `v1.13.9` */
  readonly tag: string;
  readonly sha: string;
  /** `amd64`, `arm64` */
  readonly arch: string;
  readonly os: string;
  readonly goVersion: string;
  /** For example `metal` or `container`; `undefined` where the machine does not say. */
  readonly platform: { readonly name: string; readonly mode: string } | undefined;
  /** Whether roles are enforced; `undefined` in maintenance mode, where the machine does not say. */
  readonly isRbacEnabled: boolean | undefined;
}

export interface MachineFactsCalls {
  /**
   * Default deadline 10 s. Works in maintenance mode from Talos 1.13; before, a stranger gets `UNIMPLEMENTED` there.
   *
   * @see machine.MachineService/Version
   */
  version(options?: CallOptions): Promise<VersionFacts>;
}

const VERSION = methodOf(MachineService.method.version);

export function machineFactsCalls(caller: Caller): MachineFactsCalls {
  return {
    async version(options) {
      const part = await caller.one(VERSION, create(EmptySchema), READ_TIMEOUT_MS, options);
      const { version, platform, features } = part;
      if (version === undefined || version.tag === "") {
        const node = options?.node ?? caller.channel.target.address;
        throw new TalosError("MALFORMED_REPLY", { node, method: VERSION.path }, "reply has no version");
      }
      return {
        tag: version.tag,
        sha: version.sha,
        arch: version.arch,
        os: version.os,
        goVersion: version.goVersion,
        platform: platform === undefined ? undefined : { name: platform.name, mode: platform.mode },
        isRbacEnabled: features?.rbac,
      };
    },
  };
}

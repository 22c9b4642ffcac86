import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";

import { ApplyConfigurationRequest_Mode as Mode, ApplyConfigurationRequestSchema, MachineService } from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import type { Caller, CallOptions } from "./call.ts";

/**
 * When a machine config takes effect.
 *
 * - `auto`: the machine decides between `no-reboot` and `reboot` (up to 1.13; from 1.14 never a reboot)
 * - `no-reboot`: at once, or refused with `INVALID_ARGUMENT` where a reboot would be needed
 * - `reboot`: persist and reboot (up to 1.13; `UNIMPLEMENTED` from 1.14)
 * - `staged`: persist only, takes effect at the next boot
 * - `try`: at once, not persisted, taken back after `tryTimeoutMs`
 */
export type ApplyMode = "auto" | "no-reboot" | "reboot" | "staged" | "try";

/** A whole config and how it gets into force: a machine does not merge. */
export interface ApplyConfigurationInput {
  /** The whole machine config as YAML, all documents. It replaces what the machine has. */
  readonly config: string;
  /** Always given: the protocol's own default is `reboot`. */
  readonly mode: ApplyMode;
  /** Only say what would happen. Default false. */
  readonly dryRun?: boolean;
  /** For mode `try`: when the machine takes the config back. Default 60_000 on the machine. */
  readonly tryTimeoutMs?: number;
}

/** What the machine made of a config. */
export interface ApplyConfigurationResult {
  /** The mode that the machine resolved to; `undefined` when it does not say (maintenance mode up to 1.12). */
  readonly mode: ApplyMode | undefined;
  readonly warnings: readonly string[];
  /** English text of the machine. After a dry run it holds a diff of the machine config, secrets included: never log it. */
  readonly details: string;
}

export interface ConfigurationCalls {
  /**
   * Sends a machine config. Default deadline 60 s. Applying the same config again is harmless.
   *
   * @throws TalosError `INVALID_ARGUMENT` for a config that the machine refuses; its text has values and diffs left out
   * @see machine.MachineService/ApplyConfiguration
   */
  applyConfiguration(input: ApplyConfigurationInput, options?: CallOptions): Promise<ApplyConfigurationResult>;
}

const APPLY = methodOf(MachineService.method.applyConfiguration);
/** The machine validates and, for mode `try` and `auto`, compares before it answers. */
const APPLY_TIMEOUT_MS = 60_000;

const MODE_TO_PROTOCOL: Readonly<Record<ApplyMode, Mode>> = {
  auto: Mode.AUTO,
  "no-reboot": Mode.NO_REBOOT,
  reboot: Mode.REBOOT,
  staged: Mode.STAGED,
  try: Mode.TRY,
};

const MODE_FROM_PROTOCOL = new Map<Mode, ApplyMode>(
  (Object.keys(MODE_TO_PROTOCOL) as ApplyMode[]).map((mode) => [MODE_TO_PROTOCOL[mode], mode]),
);

export function configurationCalls(caller: Caller): ConfigurationCalls {
  return {
    async applyConfiguration(input, options) {
      const request = create(ApplyConfigurationRequestSchema, {
        data: new TextEncoder().encode(input.config),
        mode: MODE_TO_PROTOCOL[input.mode],
        dryRun: input.dryRun ?? false,
        ...(input.tryTimeoutMs === undefined ? {} : { tryModeTimeout: durationFromMs(input.tryTimeoutMs) }),
      });
      const part = await caller.one(APPLY, request, APPLY_TIMEOUT_MS, options);
      // Maintenance mode up to 1.12 answers without mode and details, and an absent mode reads as 0, which is REBOOT.
      const isSilent = part.mode === Mode.REBOOT && part.modeDetails === "";
      return {
        mode: isSilent ? undefined : MODE_FROM_PROTOCOL.get(part.mode),
        warnings: part.warnings,
        details: part.modeDetails,
      };
    },
  };
}

import { create } from "@bufbuild/protobuf";
import { machine } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import { configFactsOf } from "../node/config-facts.ts";
import type { ApplyHow } from "../node/inputs.ts";
import { isAtLeast } from "../node/version.ts";
import { checkConfig, needsReboot, rebootDiff } from "./check-config.ts";
import type { HandlerContext } from "./context.ts";
import { unifiedDiff } from "./diff.ts";

const Mode = machine.ApplyConfigurationRequest_Mode;
type Mode = machine.ApplyConfigurationRequest_Mode;

const defaultTryMs = 60_000;

/** How a request turns out: what the machine does, and the words for it. */
interface Outcome {
  readonly how: ApplyHow;
  readonly mode: Mode;
  readonly words: string;
}

const withoutReboot = "Applied configuration without a reboot";
const withReboot = "Applied configuration with a reboot";
const stagedWords = "Staged configuration to be applied after the next reboot";

/**
 * MachineService/ApplyConfiguration.
 *
 * Up to 1.13 the difference decides between a live change and a reboot; from 1.14 every change is live and REBOOT is gone.
 * A caller who forgets the mode sends 0, which is REBOOT.
 */
export function applyConfiguration(
  context: HandlerContext,
  request: machine.ApplyConfigurationRequest,
): machine.ApplyConfigurationResponse {
  const { cell, isMaintenance, roles } = context;
  if (!isMaintenance && !roles.has("os:admin")) throw new RpcError(grpcStatus.permissionDenied, "not authorized");
  const { hardware, config } = cell.state;
  if (config.isRebootOrdered) {
    throw new RpcError(
      grpcStatus.failedPrecondition,
      "configuration was already applied and node is rebooting, cannot apply more configuration changes until next reboot",
    );
  }
  // As in Talos before anything is checked: a dry run, or a text that is refused, leaves what is tried in force, too.
  if (request.mode !== Mode.TRY && config.revertTo !== undefined) cell.dispatch({ kind: "try-ends" });
  const text = Buffer.from(request.data).toString("utf8");
  checkConfig(text, hardware, isMaintenance);
  if (!isMaintenance && !configFactsOf(text).isComplete) {
    throw new RpcError(
      grpcStatus.invalidArgument,
      "the applied machine configuration doesn't contain v1alpha1 config, did you mean to patch the machine config instead?",
    );
  }
  const isLegacyMaintenance = isMaintenance && !isAtLeast(hardware.talosVersion, "1.13");
  const outcome = outcomeOf(request.mode, context, text);
  const tryMs = durationMs(request.tryModeTimeout);
  if (request.dryRun) return dryRun(context, outcome, text, isLegacyMaintenance);
  cell.dispatch({ kind: "apply", text, how: outcome.how, tryMs });
  if (isLegacyMaintenance) return create(machine.ApplyConfigurationResponseSchema, { messages: [{}] });
  const note =
    outcome.how === "try" ? `\nThe config is applied in 'try' mode and will be automatically reverted back in ${printDuration(tryMs)}` : "";
  return create(machine.ApplyConfigurationResponseSchema, { messages: [{ mode: outcome.mode, modeDetails: `${outcome.words}${note}` }] });
}

function outcomeOf(mode: Mode, { cell, isMaintenance }: HandlerContext, text: string): Outcome {
  const { hardware, config } = cell.state;
  const live: Outcome = { how: "live", mode: Mode.NO_REBOOT, words: withoutReboot };
  const isNew = isAtLeast(hardware.talosVersion, "1.14");
  if (isMaintenance && !isAtLeast(hardware.talosVersion, "1.13") && (mode === Mode.STAGED || mode === Mode.NO_REBOOT)) {
    throw new RpcError(
      grpcStatus.unimplemented,
      `apply configuration ${mode === Mode.STAGED ? "--mode=staged" : "--mode=no-reboot"} is not supported in maintenance mode`,
    );
  }
  const rebootNeeded = !isMaintenance && !isNew && config.active !== undefined && needsReboot(config.active, text);
  switch (mode) {
    case Mode.REBOOT:
      if (isMaintenance) return live;
      if (isNew) throw new RpcError(grpcStatus.unimplemented, "apply configuration with mode reboot is not supported");
      return { how: "reboot", mode: Mode.REBOOT, words: withReboot };
    case Mode.AUTO:
      return rebootNeeded ? { how: "reboot", mode: Mode.REBOOT, words: withReboot } : live;
    case Mode.STAGED:
      return { how: "staged", mode: Mode.STAGED, words: stagedWords };
    case Mode.NO_REBOOT:
    case Mode.TRY:
      if (rebootNeeded) {
        throw new RpcError(
          grpcStatus.invalidArgument,
          `this config change can't be applied in immediate mode\ndiff:\n${rebootDiff(config.active ?? "", text)}`,
        );
      }
      return mode === Mode.TRY ? { how: "try", mode: Mode.TRY, words: withoutReboot } : live;
    default:
      throw new RpcError(grpcStatus.unknown, `incorrect mode '${String(mode)}' specified for the apply config call`);
  }
}

function dryRun(
  { cell }: HandlerContext,
  outcome: Outcome,
  text: string,
  isLegacyMaintenance: boolean,
): machine.ApplyConfigurationResponse {
  if (isLegacyMaintenance) {
    return create(machine.ApplyConfigurationResponseSchema, {
      messages: [{ modeDetails: "Dry run summary:\nNode is running in maintenance mode and does not have a config yet" }],
    });
  }
  const diff = unifiedDiff(cell.state.config.active ?? "", text);
  const modeDetails = `Dry run summary:\n${outcome.words} (skipped in dry-run).\nConfig diff:\n\n${diff === "" ? "No changes." : diff}`;
  return create(machine.ApplyConfigurationResponseSchema, { messages: [{ mode: outcome.mode, modeDetails }] });
}

function durationMs(duration: machine.ApplyConfigurationRequest["tryModeTimeout"]): number {
  return duration === undefined ? defaultTryMs : Number(duration.seconds) * 1000 + Math.floor(duration.nanos / 1_000_000);
}

/** As Go prints durations: `1m0s`, `5s`. */
function printDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return `${hours > 0 ? `${hours}h` : ""}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${seconds % 60}s`;
}

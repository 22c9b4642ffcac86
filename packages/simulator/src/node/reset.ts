import { loseState, startBoot } from "./boot.ts";
import { configFactsOf } from "./config-facts.ts";
import type { VolumeKeys } from "./disk-encryption.ts";
import type { MachineInput } from "./inputs.ts";
import { emptyConfig } from "./machine.ts";
import type { Machine } from "./machine.ts";
import type { Run } from "./run.ts";

/** A member that etcd calls unhealthy asks again every ten seconds, for five minutes. */
const leaveAgainMs = 10_000;
const leaveGivesUpMs = 5 * 60_000;
/** It waits so long for the machine to show a member as its own, and looks as often as this. */
const memberWaitMs = 3 * 60_000;
const memberLookMs = 1_000;

/** Where a reset in progress keeps its plan; not a META key that callers can write (those are 0-255). */
const resetPlanKey = "reset-plan";

/**
 * A reset begins: it leaves etcd first when it is graceful, then wipes.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/machined/pkg/runtime/v1alpha1/v1alpha1_sequencer.go` Reset, of its own for ModeContainer
 */
export function startReset(run: Run, input: Extract<MachineInput, { kind: "reset" }>): void {
  const { machine } = run;
  // A sequence that is under way is not begun a second time.
  if (run.has("leave") || run.has("wipe")) return;
  run.event({ kind: "sequence", sequence: "reset", action: "START" }, input.actorId);
  run.stage("resetting");
  run.set({ meta: { ...machine.meta, [resetPlanKey]: JSON.stringify({ wipe: input.wipe, afterwards: input.afterwards, at: run.now }) } });
  const etcd = machine.services["etcd"]?.state;
  const hasToLeave = machine.etcd.data !== undefined && (etcd === "Running" || etcd === "Stopping" || etcd === "Failed");
  // A container stops its services and ends, graceful or not: it leaves nothing, wipes nothing, and stays off.
  if (machine.hardware.platform === "container") {
    // Its API is the first that goes: the answer still leaves.
    run.after("api-down", run.timings.callMs);
    return run.after("wipe", run.timings.shutdownMs);
  }
  if (input.isGraceful && hasToLeave) return run.after("leave", run.timings.shutdownMs);
  run.after("wipe", run.timings.shutdownMs + run.timings.wipeMs);
}

/**
 * @see siderolabs/talos `internal/app/machined/pkg/runtime/v1alpha1/v1alpha1_sequencer_tasks.go` LeaveEtcd: what etcd refuses ends the sequence, and the
 * machine goes on as it is, in the stage of the sequence
 */
export function endLeave(run: Run, input: Extract<MachineInput, { kind: "etcd-leave-ended" }>): void {
  const plan = JSON.parse(run.machine.meta[resetPlanKey] ?? "{}") as { readonly at?: number };
  if (input.outcome === "left") return run.after("wipe", run.timings.wipeMs);
  if (input.outcome === "unshown" && run.now - (plan.at ?? run.now) < memberWaitMs) return run.after("leave", memberLookMs);
  if (input.outcome === "not-yet" && run.now - (plan.at ?? run.now) < leaveGivesUpMs) return run.after("leave", leaveAgainMs);
  run.event({ kind: "sequence", sequence: "reset", action: "STOP" });
}

/** What was asked to be wiped is gone, and the machine boots or is off. */
export function finishWipe(run: Run): void {
  const { machine } = run;
  const { [resetPlanKey]: plan, ...meta } = machine.meta;
  const { wipe, afterwards } = JSON.parse(plan ?? '{"wipe":{},"afterwards":"reboot"}') as Pick<
    Extract<MachineInput, { kind: "reset" }>,
    "wipe" | "afterwards"
  >;
  loseState(run, afterwards === "shutdown" ? { power: "off", goneSince: run.now } : {});
  const after = run.machine;
  run.set({
    meta: wipe.meta ? {} : meta,
    isInstalled: machine.hardware.platform === "container" || (after.isInstalled && !wipe.system),
    wipes: after.wipes + (wipe.state ? 1 : 0),
    config: wipe.state ? emptyConfig : after.config,
    volumes: wipe.state ? undefined : wipe.ephemeral ? withNewEphemeral(after) : after.volumes,
    images: wipe.ephemeral ? [] : (after.images ?? []),
    etcd: wipe.ephemeral ? { data: undefined, isBootstrapRequested: false, isChecked: false } : after.etcd,
    kubernetes: {
      ...after.kubernetes,
      isNodeRegistered: wipe.state || wipe.ephemeral ? false : after.kubernetes.isNodeRegistered,
      hasForeignNetwork: after.kubernetes.hasForeignNetwork === true && !wipe.ephemeral,
    },
  });
  if (afterwards === "reboot") startBoot(run);
}

/** EPHEMERAL is made again as the configuration on the disk asks. */
function withNewEphemeral({ volumes, config }: Machine): VolumeKeys | undefined {
  if (volumes === undefined || config.persisted === undefined) return undefined;
  return { ...volumes, EPHEMERAL: configFactsOf(config.persisted).volumeKeys.EPHEMERAL };
}

/** What only the old disk knew is gone. */
export function replaceDisk(run: Run): void {
  const { machine } = run;
  if (machine.power === "on") return;
  const [system, ...others] = machine.hardware.disks;
  const talosVersion = machine.system?.media ?? machine.hardware.talosVersion;
  const disks = system === undefined ? others : [{ ...system, serial: `${system.serial}-${machine.wipes + 1}` }, ...others];
  run.set({
    hardware: { ...machine.hardware, talosVersion, disks },
    isInstalled: machine.hardware.platform === "container",
    system: undefined,
    wipes: machine.wipes + 1,
    config: emptyConfig,
    volumes: undefined,
    images: [],
    meta: {},
    etcd: { data: undefined, isBootstrapRequested: false, isChecked: false },
    kubernetes: { ...machine.kubernetes, isNodeRegistered: false, hasForeignNetwork: false },
  });
}

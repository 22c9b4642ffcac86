import { activeFacts, isControlPlane } from "./identity.ts";
import { configFactsOf } from "./config-facts.ts";
import { opens, type VolumeKeys } from "./disk-encryption.ts";
import type { MachineInput } from "./inputs.ts";
import { bootIdOf, emptyConfig } from "./machine.ts";
import type { Machine } from "./machine.ts";
import type { Run } from "./run.ts";
import { failSequence, installStaged, takeStaged } from "./upgrade.ts";

/** The boot begins; what it boots is read when the firmware is done. */
export function startBoot(run: Run): void {
  const { machine } = run;
  const bootCount = machine.bootCount + 1;
  run.set({ bootCount, bootId: bootIdOf(machine.nonce, bootCount), bootedAt: run.now, stage: "booting" });
  run.after("boot", run.timings.bootMs);
}

/** The slot that is next boots, with the configuration of the disk or waiting for one. */
export function boot(run: Run): void {
  const { config, hardware, system, isInstalled } = run.machine;
  const talosVersion = system === undefined ? hardware.talosVersion : isInstalled ? system.next : system.media;
  const schematic = isInstalled ? system?.schematics?.next : undefined;
  if (isInstalled && run.faultOf(talosVersion, schematic)?.boot === "fails") return failSequence(run);
  if (talosVersion !== hardware.talosVersion) run.set({ hardware: { ...hardware, talosVersion } });
  if (schematic !== run.machine.schematic) run.set({ schematic });
  const kernelArguments = isInstalled ? system?.kernelArguments?.next : undefined;
  if (kernelArguments !== run.machine.kernelArguments) run.set({ kernelArguments });
  const text = config.persisted;
  const isComplete = text !== undefined && configFactsOf(text).isComplete;
  if (isInstalled && isComplete && hardware.platform === "metal" && !openVolumes(run, configFactsOf(text).volumeKeys).STATE)
    // Its configuration lies on a volume that does not open: it waits for ever, and answers nobody.
    return run.stage("booting");
  run.set({
    config: {
      ...emptyConfig,
      active: text,
      persisted: text,
      ...(text === undefined
        ? {}
        : {
            activeVersion: 1,
            persistedVersion: 1,
            activeCreated: run.now,
            activeUpdated: run.now,
            persistedCreated: run.now,
            persistedUpdated: run.now,
          }),
    },
  });
  const staged = isComplete ? takeStaged(run) : undefined;
  if (staged !== undefined) return installStaged(run, staged);
  run.play(isComplete ? "boot-configured" : "boot-maintenance");
  if (isComplete && lacksEphemeral(run.machine)) run.cancel("cri");
  run.output("issue-identity", isComplete ? "configured" : "maintenance");
}

/** Volumes are made at the first boot with a configuration, and unlocked at each later one; keys are brought to what is asked. Which of them opened. */
function openVolumes(run: Run, asked: VolumeKeys): { readonly STATE: boolean; readonly EPHEMERAL: boolean } {
  const made = run.machine.volumes ?? asked;
  const STATE = opens(made.STATE, asked.STATE);
  const EPHEMERAL = opens(made.EPHEMERAL, asked.EPHEMERAL);
  run.set({ volumes: { STATE: STATE ? asked.STATE : made.STATE, EPHEMERAL: EPHEMERAL ? asked.EPHEMERAL : made.EPHEMERAL } });
  return { STATE, EPHEMERAL };
}

/** EPHEMERAL does not open with the configuration in force: what needs it waits for ever. */
export function lacksEphemeral({ volumes, config }: Machine): boolean {
  if (volumes === undefined || config.active === undefined) return false;
  return !opens(volumes.EPHEMERAL, configFactsOf(config.active).volumeKeys.EPHEMERAL);
}

/** Power, memory and connections are gone; disks stay. */
export function loseState(run: Run, change: Partial<Machine>): void {
  const { machine } = run;
  const isKept = machine.isInstalled;
  run.dropConnections();
  run.set({
    api: { kind: "down", epoch: run.machine.api.epoch },
    services: {},
    timers: [],
    events: [],
    ...(machine.installer === undefined ? {} : { installer: undefined }),
    etcd: { data: isKept ? machine.etcd.data : undefined, isBootstrapRequested: false, isChecked: false },
    kubernetes: { ...machine.kubernetes, hasStaticPods: false, isNodeReady: false },
    config: { ...emptyConfig, persisted: isKept ? machine.config.persisted : undefined },
    ...change,
  });
  run.output("etcd-changed");
  if (machine.kubernetes.hasStaticPods) run.output("kubernetes-down");
  if (machine.kubernetes.isNodeRegistered) run.output("node-lost");
}

/** The API of a boot opens when it has a certificate. */
export function openApi(run: Run, input: Extract<MachineInput, { kind: "identity" }>): void {
  const { machine } = run;
  const wanted = activeFacts(machine) === undefined ? "maintenance" : "configured";
  // The machine went on meanwhile: a certificate for its earlier state is of no use.
  if (machine.power === "off" || wanted !== input.which || machine.services["apid"] === undefined) return;
  const epoch = machine.api.epoch + 1;
  // A copy is plain data: key pairs hide their key in JSON, and a machine's state is its disk, which must keep it.
  const identity = { ...input.identity };
  run.set({
    api:
      input.which === "maintenance"
        ? { kind: "maintenance", epoch, identity }
        : { kind: "configured", epoch, identity, names: input.names },
  });
  if (machine.services["apid"].state !== "Running") run.service("apid", "Running", "Started task apid for container apid", true);
  run.output("etcd-changed");
}

/** `running` shows when the boot sequence has ended: every service of the machine is up. */
export function finishBoot(run: Run): void {
  const { machine } = run;
  if (machine.stage !== "booting" || activeFacts(machine) === undefined) return;
  const needed = isControlPlane(machine) ? ["apid", "cri", "kubelet", "etcd", "trustd"] : ["apid", "cri", "kubelet"];
  // The sequence waits until each is up, which a service that has finished is, too.
  if (!needed.every((id) => ["Running", "Finished"].includes(machine.services[id]?.state ?? ""))) return;
  run.event({ kind: "sequence", sequence: "boot", action: "STOP" });
  run.stage("running");
}

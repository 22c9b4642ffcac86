import { withoutProcess } from "./etcd-service.ts";
import { activeFacts } from "./identity.ts";
import { talosVersionOfImage } from "./image-version.ts";
import type { MachineInput } from "./inputs.ts";
import type { InstalledSystem, Installer, Machine, TimerName } from "./machine.ts";
import type { Run } from "./run.ts";

/**
 * Two boot slots, the installer that writes one of them, and the ways back.
 *
 * ```
 *   runs A, next A ──installer──► other slot empty ──done──► runs A, next B, other A ──reboot──► runs B
 *         ▲                             │ power lost, or exit code        ▲                        │
 *         │                             ▼                                 │ Rollback               │ boot fails and META 6 is there
 *         └──────────────── runs A, next A, other slot empty              └────────────────────────┴──► runs A, next A, other B
 * ```
 * A second installation before the reboot goes over what runs: the slot that is kept is that of the boot loader, not that of the running Talos.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/machined/pkg/runtime/v1alpha1/bootloader/sdboot/sdboot.go` Upgrade, revert; `.../grub/upgrade.go`
 */

/** META keys, `pkg/machinery/meta/constants.go`. */
const metaKeys = { upgrade: "6", stagedImage: "7", stagedOptions: "8" } as const;

/** machined counts from ten to nought before it reboots after a failure: `internal/app/machined/main.go` handle. */
const rebootAfterFailureMs = 11_000;

function systemOf({ system, hardware: { talosVersion } }: Machine): InstalledSystem {
  return system ?? { media: talosVersion, next: talosVersion, other: undefined };
}

/** The installer that somebody asked for. */
export function installerOf({ version, schematic, exitCode, first }: Omit<Installer, "of">, of: Installer["of"]): Installer {
  return { version, ...(schematic === undefined ? {} : { schematic }), exitCode, of, ...(first === true ? { first } : {}) };
}

/**
 * A machine that was configured installs the Talos of the image that its configuration names; one that names no image of a Talos installs what it was booted from.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/machined/pkg/runtime/v1alpha1/v1alpha1_sequencer_tasks.go` Install
 */
export function installFirst(run: Run): void {
  const { talosVersion: media } = run.machine.hardware;
  const image = activeFacts(run.machine)?.installImage ?? "";
  const next = talosVersionOfImage(image) ?? media;
  const written = { schematic: schematicOfImage(image), kernelArguments: argumentsWritten(run.machine, "sequence") };
  run.set({ isInstalled: true, system: slots({ media, next, other: undefined }, written, {}) });
}

/** What a slot holds besides its version. */
interface SlotContent {
  readonly schematic?: string | undefined;
  readonly kernelArguments?: readonly string[] | undefined;
}

function slots({ media, next, other }: InstalledSystem, first: SlotContent, second: SlotContent): InstalledSystem {
  const schematics = { next: first.schematic, other: second.schematic };
  const kernelArguments = { next: first.kernelArguments, other: second.kernelArguments };
  const isSaid = (of: { readonly next: unknown; readonly other: unknown }): boolean => of.next !== undefined || of.other !== undefined;
  return { media, next, other, ...(isSaid(schematics) ? { schematics } : {}), ...(isSaid(kernelArguments) ? { kernelArguments } : {}) };
}

function contentOf({ schematics, kernelArguments }: InstalledSystem, slot: "next" | "other"): SlotContent {
  return { schematic: schematics?.[slot], kernelArguments: kernelArguments?.[slot] };
}

/** Arguments that an installer takes over from what runs, whoever called it. */
const preserved: ReadonlySet<string> = new Set([
  "siderolink.api",
  "talos.events.sink",
  "talos.logging.kernel",
  "talos.auditd.disabled",
  "talos.dashboard.disabled",
  "net.ifnames",
]);

/**
 * Kernel arguments that an installer writes for GRUB; `undefined` = those of the image. Sequences give it those of the configuration, and LifecycleService gives it
 * none: with GRUB an upgrade by that call loses them.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/lifecycle/lifecycle.go` Upgrade beside `internal/pkg/install/install.go` OptionsFromUpgradeRequest; issue 13967
 */
function argumentsWritten(machine: Machine, of: Installer["of"]): readonly string[] | undefined {
  const asked = activeFacts(machine)?.kernelArguments;
  if (machine.hardware.hasGrub !== true || asked === undefined) return undefined;
  const taken = (machine.kernelArguments ?? []).filter((argument) => preserved.has(argument.split("=")[0] ?? ""));
  return [...new Set([...(of === "sequence" ? asked : []), ...taken])];
}

/** The other slot starts next. */
function swapped(system: InstalledSystem, next: string): InstalledSystem {
  return slots({ ...system, next, other: system.next }, contentOf(system, "other"), contentOf(system, "next"));
}

/** Id of the schematic in the name of an image of the Image Factory. */
export function schematicOfImage(image: string): string | undefined {
  return /\/([0-9a-f]{64})(?:[:@]|$)/.exec(image)?.[1];
}

/** The installer clears the slot that does not start next before it writes it. */
export function beginInstaller(run: Run, installer: Installer): void {
  run.set(installer.first === true ? { installer } : { system: { ...systemOf(run.machine), other: undefined }, installer });
  run.after("installer", run.timings.installMs);
}

/**
 * The new version starts next, and META names the one before, by which a failing boot finds its way back.
 *
 * @see `cmd/installer/pkg/install/install.go` handleMeta
 */
export function endInstaller(run: Run): void {
  const { installer, meta } = run.machine;
  if (installer === undefined) return;
  const kernelArguments = argumentsWritten(run.machine, installer.of);
  run.set({ installer: undefined });
  if (installer.exitCode === 0 && installer.first === true) {
    const { talosVersion: media } = run.machine.hardware;
    // That call installs the arguments of the image, whatever the configuration says.
    run.set({
      isInstalled: true,
      system: slots({ media, next: installer.version, other: undefined }, { schematic: installer.schematic }, {}),
    });
  } else if (installer.exitCode === 0) {
    const system = systemOf(run.machine);
    run.set({
      system: slots(
        { ...system, next: installer.version, other: system.next },
        { schematic: installer.schematic, kernelArguments },
        contentOf(system, "next"),
      ),
      meta: { ...meta, [metaKeys.upgrade]: `Talos-${system.next}.efi` },
    });
  }
  if (installer.of === "caller") return;
  if (installer.exitCode === 0) run.after("down", 0);
  else failSequence(run);
}

/**
 * The sequence of MachineService/Upgrade: it drains its own Node, stops services, installs, reboots; an installer that fails ends it, and the machine boots what it ran.
 *
 * @see `.../v1alpha1/v1alpha1_sequencer.go` Upgrade; `v1alpha1_sequencer_tasks.go` CordonAndDrainNode: a machine that has never had a Node does not drain
 */
export function startUpgrade(run: Run, { actorId, ...asked }: Extract<MachineInput, { kind: "upgrade" }>): void {
  // Another sequence holds the lock for longer than this one waits for it.
  if (run.has("down") || run.has("stop-services") || run.has("off") || run.has("leave") || run.has("wipe") || isDraining(run)) return;
  run.event({ kind: "sequence", sequence: "upgrade", action: "START" }, actorId);
  run.stage("upgrading");
  run.cancel("installer");
  run.set({ installer: installerOf(asked, "sequence") });
  if (run.machine.kubernetes.isNodeRegistered) run.output("drain-node");
  else run.after("stop-services", run.timings.shutdownMs);
}

/** The sequence has begun, and nothing of what follows the drain. */
function isDraining(run: Run): boolean {
  const { installer, stage } = run.machine;
  return installer?.of === "sequence" && stage === "upgrading" && !afterDrain.some((timer) => run.has(timer));
}

const afterDrain: readonly TimerName[] = ["stop-services", "installer", "down"];

/** What its drain was about is asked for again. */
export function resumeDrain(run: Run): void {
  if (isDraining(run)) run.output("drain-node");
}

/**
 * A Node that nobody cordons within a minute ends the sequence, and the machine reboots. Pods that would not go do not: their time is over.
 *
 * @see `.../v1alpha1_sequencer_tasks.go` waitForNodeCordoned, `pkg/kubernetes/kubernetes.go` Drain
 */
export function goOnDrained(run: Run, isCordoned: boolean): void {
  if (!isDraining(run)) return;
  if (isCordoned) {
    run.set({ kubernetes: { ...run.machine.kubernetes, isCordoned: true } });
    return run.after("stop-services", run.timings.shutdownMs);
  }
  run.set({ installer: undefined });
  failSequence(run);
}

/** What services were about to do. */
const ahead: readonly TimerName[] = [
  "cri",
  "kubelet",
  "kubelet-restart",
  "etcd-preparing",
  "etcd-pull",
  "etcd-join",
  "etcd-start",
  "etcd-healthy",
  "etcd-promote",
  "etcd-defragment",
  "etcd-hung",
  "etcd-again",
  "etcd-ends",
  "static-pods",
  "node-register",
  "node-ready",
];

/** `stopServices` of the sequence: what needs EPHEMERAL ends, the machine's own API stays. */
export function stopServices(run: Run): void {
  const { machine } = run;
  const { installer, kubernetes } = machine;
  for (const timer of ahead) run.cancel(timer);
  for (const id of ["kubelet", "etcd", "trustd", "cri"])
    if (machine.services[id] !== undefined) run.service(id, "Finished", "Service finished successfully");
  run.set({
    etcd: { ...withoutProcess(run.machine.etcd), isBootstrapRequested: false, isChecked: false },
    kubernetes: { ...kubernetes, hasStaticPods: false, isNodeReady: false },
  });
  run.output("etcd-changed");
  if (kubernetes.hasStaticPods) run.output("kubernetes-down");
  if (kubernetes.isNodeRegistered) run.output("node-lost");
  if (installer !== undefined) beginOrRefuse(run, installer);
}

/** Pre-flight checks refuse before anything is written. */
function beginOrRefuse(run: Run, installer: Installer): void {
  if (installer.exitCode !== REFUSED) return beginInstaller(run, installer);
  run.set({ installer: undefined });
  failSequence(run);
}

/** Stands for the exit code of an installer that wrote nothing. */
export const REFUSED = -1;

/** The image is named in META, and the next boot installs it before anything else. */
export function stageUpgrade(run: Run, { actorId, image, ...asked }: Extract<MachineInput, { kind: "stage-upgrade" }>): void {
  run.set({
    meta: { ...run.machine.meta, [metaKeys.stagedImage]: image, [metaKeys.stagedOptions]: JSON.stringify({ upgrade: true }) },
    staged: installerOf(asked, "sequence"),
  });
  run.event({ kind: "sequence", sequence: "stageUpgrade", action: "START" }, actorId);
  run.stage("rebooting");
  run.after("down", run.timings.shutdownMs);
}

/**
 * What was staged, taken out of META: it is tried once.
 *
 * @see `internal/app/machined/pkg/runtime/v1alpha1/v1alpha1_state.go`
 */
export function takeStaged(run: Run): Installer | undefined {
  const { staged } = run.machine;
  if (staged === undefined) return undefined;
  const { [metaKeys.stagedImage]: image, [metaKeys.stagedOptions]: options, ...meta } = run.machine.meta;
  run.set({ staged: undefined, meta });
  return image === undefined || options === undefined ? undefined : staged;
}

/** The boot installs what was staged, and reboots. */
export function installStaged(run: Run, installer: Installer): void {
  run.event({ kind: "sequence", sequence: "install", action: "START" });
  run.stage("installing");
  beginOrRefuse(run, installer);
}

/** etcd does not read data of a newer one: it ends, is started again for ever, and what it served is gone. */
export function endOldEtcd(run: Run): void {
  for (const timer of ["etcd-healthy", "etcd-promote", "etcd-defragment", "etcd-hung", "static-pods"] as const) run.cancel(timer);
  run.service("etcd", "Waiting", 'Error running Containerd(etcd), going to restart forever: task "etcd" failed: exit code 1');
  run.set({
    etcd: { ...withoutProcess(run.machine.etcd), isChecked: false },
    kubernetes: { ...run.machine.kubernetes, hasStaticPods: false },
  });
  run.output("kubernetes-down");
  run.output("etcd-changed");
}

/** The other slot starts next; nothing where it is empty. */
export function rollBack(run: Run): void {
  const { system } = run.machine;
  if (system?.other === undefined) return;
  run.set({ system: swapped(system, system.other) });
  run.stage("rebooting");
  run.after("down", run.timings.shutdownMs);
}

/**
 * A sequence ends with an error, and the machine reboots: what was upgraded and was never well since goes back to the slot before, anything else boots the same again.
 *
 * @see `internal/app/machined/revert.go`, called by `main.go` handle
 */
export function failSequence(run: Run): void {
  const { [metaKeys.upgrade]: label, ...meta } = run.machine.meta;
  const { system } = run.machine;
  if (label !== undefined) run.set({ meta });
  if (label !== undefined && system?.other !== undefined) run.set({ system: swapped(system, system.other) });
  run.after("down", rebootAfterFailureMs);
}

/**
 * Once a machine runs and is ready its version is the good one. The controller ends with that: what is installed afterwards keeps its way back until the boot
 * after it has come so far.
 *
 * @see `.../controllers/runtime/drop_upgrade_fallback.go`
 */
export function dropFallback(run: Run, isReady: boolean): void {
  const { machine } = run;
  if (!isReady || machine.stage !== "running" || machine.isGoodSince === machine.bootId) return;
  const { [metaKeys.upgrade]: label, ...meta } = machine.meta;
  run.set({ isGoodSince: machine.bootId, ...(label === undefined ? {} : { meta }) });
}

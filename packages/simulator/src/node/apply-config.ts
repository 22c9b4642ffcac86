import { classifyConfigEffects } from "@talos-operator/talos";
import { configFactsOf } from "./config-facts.ts";
import { lacksEphemeral } from "./boot.ts";
import { activeFacts, apiServerRefusal, nodenameOf } from "./identity.ts";
import type { MachineInput } from "./inputs.ts";
import type { ConfigState } from "./machine.ts";
import type { Run } from "./run.ts";

type Apply = Extract<MachineInput, { kind: "apply" }>;

/**
 * A configuration that was checked and accepted takes effect.
 *
 * As recorded from genuine nodes: the same text again still raises the resource version; STAGED changes only the persisted text;
 * a TRY during a TRY comes back to the first tried text, not to the original; a call of any other mode, dry runs and refused ones too, ends a pending TRY
 * before the text is read: `try-ends`.
 */
export function applyConfig(run: Run, input: Apply): void {
  const wasComplete = activeFacts(run.machine) !== undefined;
  const { config } = run.machine;
  switch (input.how) {
    case "staged":
      return run.set({ config: persist(config, input.text, run.now) });
    case "reboot":
      run.set({ config: { ...persist(config, input.text, run.now), isRebootOrdered: true } });
      run.stage("rebooting");
      return run.after("down", run.timings.shutdownMs);
    case "try":
      run.set({ config: { ...activate(config, input.text, run.now), revertTo: config.active } });
      run.after("try-revert", input.tryMs);
      break;
    case "live":
      endTry(run);
      run.set({ config: activate(persist(run.machine.config, input.text, run.now), input.text, run.now) });
      break;
  }
  if (!wasComplete && activeFacts(run.machine) !== undefined) leaveMaintenance(run);
  else if (wasComplete && config.active !== undefined) restartServices(run, config.active, input.text);
}

/** Nothing reverts what is tried; only the boot does, which reads the disk. */
export function endTry(run: Run): void {
  run.cancel("try-revert");
  if (run.machine.config.revertTo !== undefined) run.set({ config: { ...run.machine.config, revertTo: undefined } });
}

/** The time of a TRY is up. */
export function revertTry(run: Run): void {
  const { config } = run.machine;
  if (config.revertTo === undefined) return;
  run.set({ config: { ...activate(config, config.revertTo, run.now), revertTo: undefined } });
  if (config.active !== undefined) restartServices(run, config.active, config.revertTo);
}

/** Services read their part of the configuration when they start: Talos restarts those whose part changed. */
function restartServices(run: Run, from: string, to: string): void {
  if (from === to) return;
  const { machine } = run;
  leaveNode(run, nodenameOf({ ...machine, config: { ...machine.config, active: from } }));
  restartApiServer(run);
  // The certificate of kube-apiserver is made again for other names, while it runs.
  if (certificateNames(from) !== certificateNames(to)) run.output("kubernetes-up");
  // A volume that did not open is tried again with what is asked now.
  if (run.machine.services["cri"]?.state === "Waiting" && !lacksEphemeral(run.machine) && !run.has("cri"))
    return run.after("cri", run.timings.criMs);
  if (configFactsOf(from).refusals.kubelet && run.machine.services["kubelet"]?.state === "Waiting")
    return run.after("kubelet-restart", run.timings.kubeletMs);
  if (run.machine.services["kubelet"]?.state !== "Running") return;
  if (classifyConfigEffects(from, to, run.machine.hardware.talosVersion).services.includes("kubelet")) restartKubelet(run);
}

function certificateNames(text: string): string {
  const { endpoint, apiServerCertSans } = configFactsOf(text);
  return [endpoint, ...apiServerCertSans].join();
}

/** Other network settings in META may give it another host name. */
export function setMeta(run: Run, { key, value }: Extract<MachineInput, { kind: "meta" }>): void {
  const { [key]: _old, ...rest } = run.machine.meta;
  const before = nodenameOf(run.machine);
  run.set({ meta: value === undefined ? rest : { ...rest, [key]: value } });
  const isRenamed = activeFacts(run.machine) !== undefined && nodenameOf(run.machine) !== before;
  leaveNode(run, before);
  if (isRenamed && run.machine.services["kubelet"]?.state === "Running") restartKubelet(run);
}

/** Under another host name the kubelet registers another Node. Nobody reports for the one before any more: it stays, with its pods. */
function leaveNode(run: Run, before: string): void {
  const { kubernetes } = run.machine;
  if (before === nodenameOf(run.machine)) return;
  for (const timer of ["node-register", "node-ready"] as const) run.cancel(timer);
  if (kubernetes.isNodeRegistered) run.output("node-lost");
  run.set({ kubernetes: { ...kubernetes, isNodeRegistered: false, isNodeReady: false } });
}

/** kube-apiserver starts anew with what changed: one that refuses it is away, and one that no longer does comes up. */
function restartApiServer(run: Run): void {
  const { kubernetes, services } = run.machine;
  const isRefused = apiServerRefusal(run.machine) !== undefined;
  if (isRefused && kubernetes.hasStaticPods) {
    run.set({ kubernetes: { ...kubernetes, hasStaticPods: false } });
    run.output("kubernetes-down");
  }
  if (!isRefused && !kubernetes.hasStaticPods && services["etcd"]?.isHealthy === true && !run.has("static-pods"))
    run.after("static-pods", run.timings.staticPodsMs);
}

/** Stops the kubelet; it runs again after its time. */
export function restartKubelet(run: Run): void {
  run.service("kubelet", "Stopping", "Sending SIGTERM to task");
  run.service("kubelet", "Finished", "Service finished successfully");
  run.after("kubelet-restart", run.timings.kubeletMs);
}

function activate(config: ConfigState, text: string, now: number): ConfigState {
  return {
    ...config,
    active: text,
    activeVersion: config.activeVersion + 1,
    activeCreated: config.active === undefined ? now : config.activeCreated,
    activeUpdated: now,
  };
}

function persist(config: ConfigState, text: string, now: number): ConfigState {
  return {
    ...config,
    persisted: text,
    persistedVersion: config.persistedVersion + 1,
    persistedCreated: config.persisted === undefined ? now : config.persistedCreated,
    persistedUpdated: now,
  };
}

/** From maintenance into the boot sequence; on metal without Talos on the disk, through an installation and a reboot. */
function leaveMaintenance(run: Run): void {
  const { machine, timings } = run;
  const disk = machine.config.active === undefined ? "" : configFactsOf(machine.config.active).installDisk;
  // Connections drop once the answer to the apply, which is on its way, has arrived.
  const isInstalling = machine.hardware.platform === "metal" && !machine.isInstalled && disk !== "";
  if (isInstalling) {
    run.stage("installing");
    run.event({ kind: "sequence", sequence: "install", action: "START" });
    run.after("switch", timings.callMs);
    return run.after("install", timings.switchMs + timings.installMs);
  }
  run.play("first-config");
  run.after("switch", timings.callMs);
}

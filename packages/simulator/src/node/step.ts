import { activeFacts, apiServerRefusal, hasEtcdAddress, isControlPlane } from "./identity.ts";
import type { MachineInput, MachineOutput } from "./inputs.ts";
import type { Machine, TimerName } from "./machine.ts";
import { applyConfig, endTry, restartKubelet, revertTry, setMeta } from "./apply-config.ts";
import { boot, finishBoot, loseState, openApi, startBoot } from "./boot.ts";
import {
  cannotReadFlags,
  endByCheck,
  endDefragment,
  endEtcd,
  failEtcd,
  goOnWithImage,
  isDefragmenting,
  prepareEtcd,
  startBootstrapping,
  startDefragment,
  startedProcess,
  stopEtcd,
  withoutProcess,
} from "./etcd-service.ts";
import { endLeave, finishWipe, replaceDisk, startReset } from "./reset.ts";
import { endRemoved, startRemoved } from "./removed-member.ts";
import { Run } from "./run.ts";
import type { StepContext } from "./run.ts";
import { machineStatusOf } from "./status.ts";
import {
  beginInstaller,
  dropFallback,
  endInstaller,
  endOldEtcd,
  goOnDrained,
  installerOf,
  installFirst,
  resumeDrain,
  rollBack,
  stageUpgrade,
  startUpgrade,
  stopServices,
} from "./upgrade.ts";
import { isAtLeast } from "./version.ts";

export type { StepContext } from "./run.ts";

/** Result of one step. */
export interface StepResult {
  readonly machine: Machine;
  readonly outputs: readonly MachineOutput[];
}

/**
 * The next value of a machine after one input. Total, synchronous, without chance: the same arguments give the same result.
 *
 * @param context time of the step and the timings in force
 */
export function step(machine: Machine, input: MachineInput, context: StepContext): StepResult {
  const run = new Run(machine, context);
  handle(run, input);
  // A firewall cuts connections a moment after the configuration was answered.
  if (isReachable(run.machine) !== run.machine.isConnected && !run.has("firewall")) run.after("firewall", run.timings.callMs);
  finishBoot(run);
  recordStatus(run, machine);
  return { machine: run.machine, outputs: run.outputs };
}

/** When the machine must be stepped with `timers` at the latest; `undefined` when nothing is pending. */
export function nextDue(machine: Machine): number | undefined {
  if (machine.timers.length === 0) return undefined;
  return Math.min(...machine.timers.map((timer) => timer.at));
}

/** A kubelet without a network plugin says "cni plugin not initialized" for as long as there is none. */
function becomeReady(run: Run): void {
  if (hasNetwork(run.machine)) run.after("node-ready", run.timings.nodeReadyMs);
}

/** Pods of this machine get a network: Talos brings one, or a plugin was installed. */
export function hasNetwork({ kubernetes }: Machine): boolean {
  return kubernetes.lacksNetwork !== true || kubernetes.hasForeignNetwork === true;
}

function handle(run: Run, input: MachineInput): void {
  const { machine } = run;
  switch (input.kind) {
    case "power-on":
      if (machine.power === "on") return;
      run.set({ power: "on", goneSince: machine.isConnected ? undefined : machine.goneSince });
      return startBoot(run);
    case "resume":
      return resume(run);
    case "power-off":
      if (machine.power === "off") return;
      return loseState(run, { power: "off", goneSince: machine.goneSince ?? run.now });
    case "connect":
      run.set({ isUnplugged: !input.isConnected });
      return connect(run, isReachable(run.machine));
    case "etcd-behind":
      run.set({ isEtcdBehind: input.isBehind });
      return run.output("etcd-changed");
    case "disk-replaced":
      return replaceDisk(run);
    case "card-replaced":
      if (machine.power === "off") run.set({ hardware: { ...machine.hardware, mac: input.mac } });
      return;
    case "etcd-defragment-time":
      return run.set({ etcdDefragmentTime: input.takes });
    case "defragment":
      return startDefragment(run, input.takes);
    case "etcd-differs":
      return endByCheck(run);
    case "timers":
      return fireTimers(run);
    case "identity":
      return openApi(run, input);
    case "identity-refused":
      return run.service("apid", "Waiting", "Waiting for api certificates");
    case "try-ends":
      return endTry(run);
    case "apply":
      return applyConfig(run, input);
    case "stop-etcd":
      return stopEtcd(run);
    case "bootstrap":
      return startBootstrapping(run);
    case "etcd-founded":
    case "etcd-joined":
      return becomeMember(run, input);
    case "etcd-available":
      if (canJoin(run.machine) && !run.has("etcd-join")) run.after("etcd-join", run.timings.etcdJoinPollMs);
      return;
    case "etcd-health":
      return setEtcdHealth(run, input);
    case "etcd-left":
      return leaveEtcd(run, input.how);
    case "etcd-too-old":
      return endOldEtcd(run);
    case "etcd-promoted":
      awaitCheck(run);
      return run.output("etcd-changed");
    case "kubernetes-reachable":
      return reachKubernetes(run);
    case "node-registered":
      run.set({ kubernetes: { ...machine.kubernetes, isNodeRegistered: true, lacksNetwork: input.lacksNetwork } });
      return becomeReady(run);
    case "network-installed":
      return installNetwork(run);
    case "node-forgotten":
      run.cancel("node-ready");
      return run.set({ kubernetes: { ...machine.kubernetes, isNodeRegistered: false, isNodeReady: false } });
    case "reboot":
    case "shutdown":
      return startShutdown(run, input);
    case "reset":
      return startReset(run, input);
    case "etcd-leave-ended":
      return endLeave(run, input);
    case "installer":
      return beginInstaller(run, installerOf(input, "caller"));
    case "upgrade":
      return startUpgrade(run, input);
    case "stage-upgrade":
      return stageUpgrade(run, input);
    case "drained":
      return goOnDrained(run, input.isCordoned);
    case "uncordoned":
      return run.set({ kubernetes: { ...machine.kubernetes, isCordoned: false } });
    case "rollback":
      return rollBack(run);
    case "image":
      return keepImage(run, input);
    case "restart-service":
      return restartKubelet(run);
    case "meta":
      return setMeta(run, input);
  }
}

function becomeMember(run: Run, { kind, cluster, memberId }: Extract<MachineInput, { kind: "etcd-founded" | "etcd-joined" }>): void {
  run.set({ etcd: { data: { cluster, memberId }, isBootstrapRequested: false, isChecked: false } });
  if (kind === "etcd-joined") run.after("etcd-start", run.timings.etcdStartMs);
  else startEtcd(run);
}

/** The API of the cluster answers: the kubelet registers its Node there, or turns it ready again. */
function reachKubernetes(run: Run): void {
  if (!kubeletRuns(run.machine)) return;
  const { isNodeRegistered } = run.machine.kubernetes;
  if (!isNodeRegistered && !run.has("node-register")) run.after("node-register", run.timings.nodeRegisterMs);
  if (isNodeRegistered && !run.has("node-ready")) becomeReady(run);
}

function installNetwork(run: Run): void {
  const { kubernetes } = run.machine;
  if (kubernetes.hasForeignNetwork === true) return;
  run.set({ kubernetes: { ...kubernetes, hasForeignNetwork: true } });
  if (kubeletRuns(run.machine) && kubernetes.isNodeRegistered && !kubernetes.isNodeReady) becomeReady(run);
}

function startShutdown(run: Run, { kind, actorId }: Extract<MachineInput, { kind: "reboot" | "shutdown" }>): void {
  run.event({ kind: "sequence", sequence: kind, action: "START" }, actorId);
  run.stage(kind === "reboot" ? "rebooting" : "shutting down");
  run.after(kind === "reboot" ? "down" : "off", run.timings.shutdownMs);
}

/** An image was pulled, or removed. */
function keepImage(run: Run, { store, name, talosVersion, schematic, isThere }: Extract<MachineInput, { kind: "image" }>): void {
  const others = (run.machine.images ?? []).filter((one) => one.store !== store || one.name !== name);
  const installs = talosVersion === undefined ? {} : { talosVersion, ...(schematic === undefined ? {} : { schematic }) };
  run.set({ images: isThere ? [...others, { store, name, ...installs, pulledAt: run.now }] : others });
}

/** What a machine was about to do when its last value was written down: everything that has no timer of its own. */
function resume(run: Run): void {
  const { machine, timings } = run;
  if (machine.power === "off" || machine.services["machined"] === undefined) return;
  const moving = ["boot", "switch", "certificate", "install", "wipe", "down", "off", "installer"] as const;
  if (machine.api.kind === "down" && !moving.some((name) => run.has(name)))
    run.output("issue-identity", activeFacts(machine) === undefined ? "maintenance" : "configured");
  const etcd = machine.services["etcd"];
  const isWaiting = etcd?.state === "Preparing";
  const isPending = run.has("etcd-start") || run.has("etcd-pull") || run.has("etcd-stop");
  if (isWaiting && (machine.etcd.isBootstrapRequested || machine.etcd.data !== undefined) && !isPending)
    run.after("etcd-start", timings.etcdStartMs);
  if (canJoin(machine)) run.output("join-etcd");
  if (etcd?.state === "Running" && !run.has("etcd-ends")) {
    if (!machine.etcd.isChecked && !run.has("etcd-healthy")) run.after("etcd-healthy", timings.etcdHealthyMs);
    if (machine.etcd.isChecked && !run.has("etcd-promote")) run.after("etcd-promote", timings.etcdPromoteMs);
    if (etcd.isHealthy === true && !machine.kubernetes.hasStaticPods && !run.has("static-pods"))
      run.after("static-pods", timings.staticPodsMs);
  }
  if (kubeletRuns(machine)) run.output("kubelet-up");
  resumeDrain(run);
}

function fireTimers(run: Run): void {
  // One at a time: what fires may schedule what is due at once.
  for (let guard = 0; guard < 1_000; guard += 1) {
    const due = run.machine.timers.filter((timer) => timer.at <= run.now).toSorted((a, b) => a.at - b.at)[0];
    if (due === undefined) return;
    run.cancel(due.name);
    fire(run, due.name);
  }
}

function fire(run: Run, name: TimerName): void {
  const { machine } = run;
  switch (name) {
    case "boot":
      return boot(run);
    case "switch":
      run.closeApi();
      // Up to 1.12 the maintenance server ends here during an installation and apid comes with the next boot.
      if (machine.stage !== "installing" || isAtLeast(machine.hardware.talosVersion, "1.13"))
        run.after("certificate", run.timings.switchMs);
      return;
    case "api-down":
      return run.closeApi();
    case "certificate":
      return run.output("issue-identity", "configured");
    case "install":
      installFirst(run);
      return run.play("install");
    case "installer":
      return endInstaller(run);
    case "stop-services":
      return stopServices(run);
    case "leave":
      return run.output("leave-etcd");
    case "wipe":
      return finishWipe(run);
    case "down":
      loseState(run, {});
      return startBoot(run);
    case "off":
      return loseState(run, { power: "off", goneSince: run.now });
    case "cri":
      run.play("cri");
      if (isControlPlane(run.machine)) run.output("trustd-up");
      return;
    case "kubelet":
      if (refusesKubelet(run)) return;
      if (run.faultOf(machine.hardware.talosVersion, machine.schematic)?.boot === "never-healthy")
        return run.service(
          "kubelet",
          "Waiting",
          'Error running Containerd(kubelet), going to restart forever: task "kubelet" failed: exit code 1',
        );
      run.play("kubelet");
      return run.output("kubelet-up");
    case "kubelet-restart":
      if (refusesKubelet(run)) return;
      run.service("kubelet", "Starting", "Starting service");
      run.play("kubelet");
      return run.output("kubelet-up");
    case "etcd-preparing":
      return prepareEtcd(run);
    case "etcd-pull":
      return goOnWithImage(run);
    case "etcd-stop":
      return endEtcd(run);
    case "etcd-join":
      if (canJoin(machine)) run.output("join-etcd");
      return;
    case "etcd-start":
      if (run.faultOf(machine.hardware.talosVersion, machine.schematic)?.boot === "etcd-fails") return failEtcd(run, 1);
      if (cannotReadFlags(machine)) return failEtcd(run, 2);
      if (machine.etcd.data !== undefined) return startEtcd(run);
      if (machine.etcd.isBootstrapRequested) run.output("found-etcd");
      return;
    case "etcd-healthy":
      run.set({ etcd: { ...machine.etcd, isChecked: true } });
      run.output("etcd-changed");
      return run.after("etcd-promote", run.timings.etcdPromoteMs);
    case "etcd-promote":
      return run.output("promote-etcd");
    case "etcd-defragment":
      return endDefragment(run);
    case "etcd-hung":
      return run.health("etcd", false, "context deadline exceeded");
    case "etcd-again":
      return startRemoved(run);
    case "etcd-ends":
      return endRemoved(run);
    case "static-pods":
      // It ends and is started again for ever, until another configuration comes.
      if (apiServerRefusal(machine) !== undefined) return;
      run.set({ kubernetes: { ...machine.kubernetes, hasStaticPods: true } });
      return run.output("kubernetes-up");
    case "node-register":
      return run.output("register-node");
    case "node-ready":
      run.set({ kubernetes: { ...machine.kubernetes, isNodeReady: true } });
      return run.output("node-ready");
    case "try-revert":
      return revertTry(run);
    case "firewall":
      return connect(run, isReachable(run.machine));
  }
}

/** A kubelet that ends by its arguments is started again for ever, until other ones come. */
function refusesKubelet(run: Run): boolean {
  if (activeFacts(run.machine)?.refusals.kubelet !== true) return false;
  run.service("kubelet", "Waiting", 'Error running Containerd(kubelet), going to restart forever: task "kubelet" failed: exit code 1');
  return true;
}

/** The cable is in, and the firewall of the configuration in force lets callers in. */
function isReachable(machine: Machine): boolean {
  return machine.isUnplugged !== true && activeFacts(machine)?.blocksApi !== true;
}

function connect(run: Run, isConnected: boolean): void {
  const { machine } = run;
  if (machine.isConnected === isConnected) return;
  run.set({ isConnected, goneSince: isConnected && machine.power === "on" ? undefined : (machine.goneSince ?? run.now) });
  run.dropConnections();
  run.output("etcd-changed");
  if (isConnected) comeBack(run);
  if (!isConnected && machine.kubernetes.isNodeRegistered) run.output("node-lost");
  run.output(isConnected && machine.kubernetes.hasStaticPods ? "kubernetes-up" : "kubernetes-down");
}

function startEtcd(run: Run): void {
  run.cancel("etcd-start");
  run.set({ etcd: startedProcess(run.machine) });
  run.play("etcd-start");
  run.output("etcd-started");
  run.output("etcd-changed");
}

/**
 * A voter is healthy with the next check, seconds after its promotion.
 *
 * @see siderolabs/talos `internal/app/machined/pkg/system/services/etcd.go` HealthSettings: after 5 s, then every 20 s
 */
function awaitCheck(run: Run): void {
  const { etcdCheckMs, etcdPromoteMs } = run.timings;
  if (etcdCheckMs === 0) return;
  run.set({ etcd: { ...run.machine.etcd, isChecked: false } });
  run.after("etcd-healthy", etcdCheckMs - (etcdPromoteMs % etcdCheckMs));
}

function setEtcdHealth(run: Run, health: Extract<MachineInput, { kind: "etcd-health" }>): void {
  const { machine } = run;
  const isLearner = health.isLearner === true;
  const isHealthy = health.isHealthy && !isLearner;
  const etcd = machine.services["etcd"];
  if (etcd?.state !== "Running" || !machine.etcd.isChecked) return;
  // Its health check asks it for a key, and hears nothing.
  if (isHealthy && etcd.isHealthy === false && isDefragmenting(machine)) return;
  if (etcd.isHealthy !== isHealthy) run.health("etcd", isHealthy, isHealthy ? "" : failedCheck(isLearner));
  if (isHealthy && !machine.kubernetes.hasStaticPods && !run.has("static-pods")) run.after("static-pods", run.timings.staticPodsMs);
}

/** The check asks for a key. */
function failedCheck(isLearner: boolean): string {
  return isLearner ? "etcdserver: rpc not supported for learner" : "context deadline exceeded";
}

/** A removed member finds out and ends; its data is of no use any more. */
function leaveEtcd(run: Run, how: Extract<MachineInput, { kind: "etcd-left" }>["how"]): void {
  const { machine } = run;
  for (const timer of ["etcd-start", "etcd-healthy", "etcd-promote", "etcd-defragment", "etcd-hung", "etcd-ends", "static-pods"] as const)
    run.cancel(timer);
  const isRemoved = how === "removed";
  run.set({
    etcd: {
      ...withoutProcess(machine.etcd),
      ...(how === "emptied" ? { data: undefined, isBootstrapRequested: false } : {}),
      isChecked: false,
    },
  });
  if (isRemoved) endRemoved(run);
  else {
    run.cancel("etcd-again");
    run.service("etcd", "Finished", "Service finished successfully");
  }
  run.set({ kubernetes: { ...run.machine.kubernetes, hasStaticPods: false } });
  run.output("kubernetes-down");
  run.output("etcd-changed");
}

function recordStatus(run: Run, before: Machine): void {
  const old = machineStatusOf(before);
  const now = machineStatusOf(run.machine);
  dropFallback(run, now.isReady);
  if (old.stage === now.stage && JSON.stringify(old.unmet) === JSON.stringify(now.unmet)) return;
  run.set({ statusChanges: (run.machine.statusChanges ?? 0) + 1 });
  run.event({ kind: "machine-status", stage: now.stage, isReady: now.isReady, unmet: now.unmet });
}

/** What a machine tries again once the network is back: nobody told it meanwhile that its cluster came up. */
function comeBack(run: Run): void {
  const { machine } = run;
  run.output("trustd-up");
  if (canJoin(machine) && !run.has("etcd-join")) run.after("etcd-join", run.timings.etcdJoinPollMs);
  if (kubeletRuns(machine)) run.output("kubelet-up");
}

/** Runs, waits for a member to be added, and may use its address. */
export function canJoin(machine: Machine): boolean {
  return (
    machine.power === "on" &&
    machine.isConnected &&
    machine.services["etcd"]?.state === "Preparing" &&
    !machine.timers.some(({ name }) => name === "etcd-pull" || name === "etcd-stop") &&
    machine.etcd.data === undefined &&
    !machine.etcd.isBootstrapRequested &&
    hasEtcdAddress(machine)
  );
}

/** The etcd process of this machine runs and reaches the network. */
export function etcdRuns(machine: Machine): boolean {
  const { power, isConnected, services, etcd, timers } = machine;
  // A removed member ends before it serves.
  const isRemoved = timers.some(({ name }) => name === "etcd-ends");
  return power === "on" && isConnected && services["etcd"]?.state === "Running" && etcd.data !== undefined && !isRemoved;
}

/** The kubelet of this machine runs and reaches the network. */
export function kubeletRuns(machine: Machine): boolean {
  return machine.power === "on" && machine.isConnected && machine.services["kubelet"]?.state === "Running";
}

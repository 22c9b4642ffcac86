import { etcdFlagNumber } from "@talos-operator/talos/client";
import { activeFacts, hasEtcdAddress } from "./identity.ts";
import type { DefragmentTime, EtcdState, Machine, TimerName } from "./machine.ts";
import type { Run } from "./run.ts";
import { etcdVersionOf, isAtLeast, isAtLeastRelease } from "./version.ts";

/**
 * The service `etcd` of a control plane until its process runs, as machined's service runner takes it there.
 *
 * ```
 *   Waiting ──► Preparing: pulls the image ──► Preparing: looks for a member to join ──► Running
 *      ▲              └─────────────┬─────────────────────┘   or, bootstrapped, begins a new etcd
 *      │                            │ stop
 *      └──── bootstrap ──── Finished | Failed     (nothing else starts it again but a boot)
 * ```
 * @see siderolabs/talos `internal/app/machined/pkg/system/services/etcd.go` PreFunc and BootstrapEtcd, `.../system/service_runner.go` Run
 */

/** What the service is about to do by itself while it does not run. */
const ahead: readonly TimerName[] = ["etcd-preparing", "etcd-pull", "etcd-join", "etcd-start", "etcd-again", "etcd-ends"];
const whileRunning: readonly TimerName[] = ["etcd-healthy", "etcd-promote", "etcd-defragment", "etcd-hung", "static-pods"];

/** The service runner is told to stop: what it was about to do it does not do, and after a while it has ended. */
export function stopEtcd(run: Run): void {
  const etcd = run.machine.services["etcd"];
  if (etcd === undefined || hasEnded(run.machine) || run.has("etcd-stop")) return;
  for (const timer of [...ahead, ...whileRunning]) run.cancel(timer);
  if (run.timings.etcdStopMs === 0) endEtcd(run);
  else run.after("etcd-stop", run.timings.etcdStopMs);
}

/** The runner has ended. Before 1.13.6 one that was told to stop while it prepared says that it failed. */
export function endEtcd(run: Run): void {
  const { machine } = run;
  const wasRunning = machine.services["etcd"]?.state === "Running";
  run.set({ etcd: { ...withoutProcess(machine.etcd), isBootstrapRequested: false, isChecked: false } });
  if (wasRunning || isAtLeastRelease(machine.hardware.talosVersion, "1.13.6"))
    run.service("etcd", "Finished", "Service finished successfully");
  else
    run.service(
      "etcd",
      "Failed",
      machine.services["etcd"]?.state === "Preparing"
        ? "Failed to run pre stage: failed to build initial etcd cluster: failed to build cluster arguments: context canceled"
        : "Condition failed: context canceled",
    );
  if (!wasRunning) return;
  run.set({ kubernetes: { ...run.machine.kubernetes, hasStaticPods: false } });
  run.output("kubernetes-down");
  run.output("etcd-changed");
}

/** No runner of the service is left, and none is started by itself. */
export function hasEnded(machine: Machine): boolean {
  const state = machine.services["etcd"]?.state;
  return state === "Finished" || state === "Failed" || state === "Skipped";
}

/** Another runner takes the place of the one that has ended; it begins a new etcd where it finds no data. */
export function startBootstrapping(run: Run): void {
  const { machine } = run;
  const { etcd: before, ...others } = machine.services;
  for (const timer of [...ahead, "etcd-stop" as const]) run.cancel(timer);
  run.set({ etcd: { ...machine.etcd, isBootstrapRequested: true } });
  if (before === undefined) return;
  run.set({ services: others });
  run.service(
    "etcd",
    "Waiting",
    'Waiting for volumes /var/lib, ETCD to be mounted, service "cri" to be "up", time sync, network, etcd spec',
  );
  if (others["cri"]?.state === "Running" && hasEtcdAddress(machine)) prepareEtcd(run);
}

/** What the runner waited for is there: it pulls the image, if it is not there yet. */
export function prepareEtcd(run: Run): void {
  run.play("etcd-preparing");
  const { etcdPullMs } = run.timings;
  if (etcdPullMs > 0 && !hasEtcdImage(run.machine)) return run.after("etcd-pull", etcdPullMs);
  goOnWithImage(run);
}

/** The image is there: with data etcd starts, bootstrapped it begins one, else it looks for somebody to join. */
export function goOnWithImage(run: Run): void {
  const { machine } = run;
  if (!hasEtcdImage(machine))
    run.set({ images: [...(machine.images ?? []), { store: "system", name: etcdImageOf(machine), pulledAt: run.now }] });
  if (machine.etcd.data !== undefined || machine.etcd.isBootstrapRequested) return run.after("etcd-start", run.timings.etcdStartMs);
  run.output("join-etcd");
}

function hasEtcdImage(machine: Machine): boolean {
  const name = etcdImageOf(machine);
  return (machine.images ?? []).some((image) => image.store === "system" && image.name === name);
}

/** The image that the configuration names, else the one of this Talos release. */
export function etcdImageOf(machine: Machine): string {
  const { talosVersion } = machine.hardware;
  const registry = isAtLeast(talosVersion, "1.12") ? "registry.k8s.io" : "gcr.io/etcd-development";
  return activeFacts(machine)?.etcdImage || `${registry}/etcd:v${etcdVersionOf(talosVersion)}`;
}

/** What of the state is lost when the process ends: a defragmentation in its middle leaves the file as it was. */
export function withoutProcess({
  quotaBytes: _quota,
  comparesWithLeader: _compares,
  defragments: _defragments,
  ...rest
}: EtcdState): EtcdState {
  return rest;
}

/** etcd reads its arguments when it starts, and Talos never restarts it for another configuration. */
export function startedProcess(machine: Machine): EtcdState {
  const given = activeFacts(machine)?.etcdArguments ?? {};
  const quotaBytes = etcdFlagNumber(given["quota-backend-bytes"]?.at(-1) ?? "0") ?? 0;
  const every = (given["corrupt-check-time"] ?? given["experimental-corrupt-check-time"])?.at(-1) ?? "0s";
  const etcd: EtcdState = { ...withoutProcess(machine.etcd), ...(/^0[a-z]*$/.test(every) ? {} : { comparesWithLeader: true }) };
  return quotaBytes === 0 ? etcd : { ...etcd, quotaBytes };
}

/** It ends with exit code 2 for a flag that it cannot read, and is started again and again. @see etcd v3.6.14 `server/etcdmain/config.go` parse */
export function cannotReadFlags(machine: Machine): boolean {
  const quotas = activeFacts(machine)?.etcdArguments["quota-backend-bytes"] ?? [];
  return quotas.some((text) => etcdFlagNumber(text) === undefined);
}

/** After as long the health check of the service gives up: it asks for a key, and a member that defragments answers nothing. */
const healthTimeoutMs = 15_000;

/** While a member defragments it answers nothing that needs its database. */
export function isDefragmenting({ etcd }: Machine): boolean {
  return (etcd.defragments?.queue.length ?? 0) > 0;
}

/**
 * etcd defragments whoever asked and whether he still waits: its handler does not look at the call. A second one waits for the lock, and then does it again.
 *
 * @see etcd v3.6.14 `server/etcdserver/server.go` Defragment, `server/storage/backend/backend.go` defrag
 */
export function startDefragment(run: Run, takes: DefragmentTime): void {
  const { etcd } = run.machine;
  const { ended = 0, queue = [] } = etcd.defragments ?? {};
  run.set({ etcd: { ...etcd, defragments: { ended, queue: [...queue, takes] } } });
  if (queue.length === 0) goOnDefragmenting(run, takes);
}

function goOnDefragmenting(run: Run, takes: DefragmentTime): void {
  if (takes === 0) return endDefragment(run);
  if (takes !== "never") run.after("etcd-defragment", takes);
  if ((takes === "never" || takes > healthTimeoutMs) && !run.has("etcd-hung")) run.after("etcd-hung", healthTimeoutMs);
}

/** One is done; the next that waits begins. */
export function endDefragment(run: Run): void {
  const { etcd } = run.machine;
  const { ended = 0, queue = [] } = etcd.defragments ?? {};
  const [, ...waiting] = queue;
  run.set({ etcd: { ...etcd, defragments: { ended: ended + 1, queue: waiting } } });
  run.output("etcd-defragmented");
  const [next] = waiting;
  if (next !== undefined) return goOnDefragmenting(run, next);
  run.cancel("etcd-hung");
  run.output("etcd-changed");
}

/** The process ends with an error, and is started again and again. */
const restartMs = 5_000;

/** The process ends with an error before it answers anybody. */
export function failEtcd(run: Run, exitCode: 1 | 2): void {
  run.service("etcd", "Waiting", `Error running Containerd(etcd), going to restart forever: task "etcd" failed: exit code ${exitCode}`);
}

/** @see siderolabs/talos v1.13.9 `internal/app/machined/pkg/system/services/etcd.go` `experimental-initial-corrupt-check` */
export function endByCheck(run: Run): void {
  if (run.machine.services["etcd"]?.state !== "Running") return;
  for (const timer of whileRunning) run.cancel(timer);
  run.set({ etcd: { ...withoutProcess(run.machine.etcd), isChecked: false } });
  run.service("etcd", "Waiting", 'Error running Containerd(etcd), going to restart forever: task "etcd" failed: exit code 1');
  run.set({ kubernetes: { ...run.machine.kubernetes, hasStaticPods: false } });
  run.after("etcd-start", restartMs);
  run.output("kubernetes-down");
  run.output("etcd-changed");
}

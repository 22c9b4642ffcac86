import type { Service, Stage, TimerName } from "./machine.ts";
import type { Timings } from "./timings.ts";

/**
 * What a machine does by itself, as data: at each named moment which services change, which stage shows, and what follows when.
 * `step.ts` plays it; what cannot be said in a table (which configuration counts, who bootstraps etcd) is there.
 */
export interface StageRule {
  readonly stage?: Stage;
  /** Boot sequence and phase names as the event stream shows them. */
  readonly sequence?: { readonly name: string; readonly action: "START" | "STOP" };
  readonly services?: readonly ServiceRule[];
  readonly next?: readonly FollowUp[];
}

interface ServiceRule {
  readonly id: string;
  readonly state: Service["state"];
  readonly message: string;
  /** Sets the health and adds the event "Health check successful" when `true`. */
  readonly isHealthy?: boolean;
  readonly when?: Condition;
}

interface FollowUp {
  readonly timer: TimerName;
  readonly after: keyof Timings;
  readonly when?: Condition;
}

/** Facts that rules may depend on. */
export type Condition = "control-plane" | "metal" | "etcd-possible" | "etcd-impossible";

/** Moments with a rule; `boot` splits by what the machine finds on its disk. */
export type Moment =
  | "boot-maintenance"
  | "boot-configured"
  | "first-config"
  | "cri"
  | "kubelet"
  | "etcd-preparing"
  | "etcd-start"
  | "etcd-healthy"
  | "install"
  | "down";

const volumes =
  "volumes /var/lib, /var/lib/kubelet, /var/log, /var/log/audit, /var/log/containers, /var/log/pods, /var/lib/kubelet/seccomp, /var/lib/kubelet/seccomp/profiles, /var/log/audit/kube, /var/mnt to be mounted";

const base: readonly ServiceRule[] = [
  { id: "machined", state: "Running", message: "Service started as goroutine", isHealthy: true },
  { id: "containerd", state: "Running", message: "Process started", isHealthy: true },
  { id: "auditd", state: "Running", message: "Service started as goroutine", isHealthy: true, when: "metal" },
  { id: "syslogd", state: "Running", message: "Service started as goroutine", isHealthy: true, when: "metal" },
  { id: "udevd", state: "Running", message: "Process started", isHealthy: true, when: "metal" },
];

const configured: readonly ServiceRule[] = [
  {
    id: "cri",
    state: "Waiting",
    message: "Waiting for volumes /var/lib, /var/lib/cni, /var/lib/containerd, /var/run, /var/run/lock to be mounted, network",
  },
  { id: "kubelet", state: "Waiting", message: `Waiting for ${volumes}, service "cri" to be "up", time sync, network` },
  { id: "trustd", state: "Waiting", message: 'Waiting for service "containerd" to be "up", time sync, network', when: "control-plane" },
  {
    id: "etcd",
    state: "Waiting",
    message: 'Waiting for volumes /var/lib, ETCD to be mounted, service "cri" to be "up", time sync, network, etcd spec',
    when: "control-plane",
  },
];

export const stages: Readonly<Record<Moment, StageRule>> = {
  "boot-maintenance": {
    stage: "maintenance",
    services: [...base, { id: "apid", state: "Running", message: "Started task apid for container apid", isHealthy: true }],
  },
  "boot-configured": {
    stage: "booting",
    sequence: { name: "boot", action: "START" },
    services: [
      ...base,
      { id: "apid", state: "Waiting", message: "Waiting for api certificates" },
      { id: "dashboard", state: "Running", message: "Process started", isHealthy: true, when: "metal" },
      ...configured,
    ],
    next: [{ timer: "cri", after: "criMs" }],
  },
  "first-config": {
    stage: "booting",
    sequence: { name: "boot", action: "START" },
    services: [{ id: "dashboard", state: "Running", message: "Process started", isHealthy: true, when: "metal" }, ...configured],
    next: [{ timer: "cri", after: "criMs" }],
  },
  cri: {
    services: [
      { id: "cri", state: "Running", message: "Process started", isHealthy: true },
      { id: "trustd", state: "Running", message: "Started task trustd for container trustd", isHealthy: true, when: "control-plane" },
      { id: "kubelet", state: "Preparing", message: "Running pre state" },
      { id: "etcd", state: "Waiting", message: "Waiting for etcd spec", when: "etcd-impossible" },
    ],
    next: [
      { timer: "kubelet", after: "kubeletMs" },
      { timer: "etcd-preparing", after: "etcdPreparingMs", when: "etcd-possible" },
    ],
  },
  kubelet: {
    services: [{ id: "kubelet", state: "Running", message: "Started task kubelet for container kubelet", isHealthy: true }],
  },
  "etcd-preparing": {
    services: [{ id: "etcd", state: "Preparing", message: "Running pre state" }],
  },
  "etcd-start": {
    services: [
      { id: "etcd", state: "Preparing", message: "Creating service runner" },
      { id: "etcd", state: "Running", message: "Started task etcd for container etcd" },
    ],
    next: [{ timer: "etcd-healthy", after: "etcdHealthyMs" }],
  },
  "etcd-healthy": {},
  install: { stage: "rebooting", next: [{ timer: "down", after: "shutdownMs" }] },
  down: {},
};

/** Services that a person may start, stop or restart by API. */
export const restartable: Readonly<Record<string, readonly ("start" | "stop" | "restart")[]>> = { kubelet: ["restart"] };

/**
 * How far the drain of one machine's Node is, as the drain that runs beside the passes last told it. Plain data: rules are functions of it.
 */
export type DrainState =
  | Evicting
  /** The pods are gone that had to leave, and volumes of theirs are still attached: the first five, by name. */
  | { readonly kind: "detaching"; readonly volumesLeft: number; readonly volumes: readonly string[] }
  /**
   * Cordoned, and every pod that has to leave is gone, with its volumes. `at` is when that was last seen; `volumesUnknown` why nobody could say whether volumes are
   * still attached.
   */
  | { readonly kind: "drained"; readonly at: number; readonly volumesUnknown?: string }
  /** The cluster has no Node of this machine. */
  | { readonly kind: "no-node" }
  /** No control plane's Kubernetes API answers. */
  | { readonly kind: "unreachable"; readonly detail: string }
  /** The API answers and does not let us, or what stands under the Node's name is another machine. A person has to look. */
  | { readonly kind: "refused"; readonly detail: string };

/** A drain with its times. */
export interface SeenDrain {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** When a rule last wanted it: a drain that nobody wants any more is given up, and its cordon is taken off again. */
  readonly askedAt: number;
  /** How long it has run, by timers: clocks jump. */
  readonly ranMs: number;
  /** For how much of that, up to now, the API has not answered. 0 while it does. */
  readonly unreachableMs: number;
  /** `undefined` = it has just begun. */
  readonly state: DrainState | undefined;
}

/** Pods are being evicted. */
export interface Evicting {
  readonly kind: "evicting";
  /** Pods that still have to leave. */
  readonly podsLeft: number;
  /** Evictions that a budget forbade when they were last asked for, in the order of their names; at most five. */
  readonly blocked: readonly BlockedPod[];
  /** Pods that were evicted and are still there, in the order of their names; at most five. */
  readonly leaving: readonly string[];
}

/** A pod whose eviction a PodDisruptionBudget forbids. */
export interface BlockedPod {
  /** `namespace/name` */
  readonly pod: string;
  /** `namespace/name` of the budget; `undefined` when the server did not name it. */
  readonly budget: string | undefined;
}

/** A Node of the managed cluster as the rules see it. */
export interface SeenNode {
  readonly name: string;
  /** SMBIOS UUID that the kubelet tells, lower case; empty when it tells none. */
  readonly uuid: string;
  /** Canonical addresses and host names. */
  readonly addresses: readonly string[];
  readonly isReady: boolean;
  /** It takes pods that tolerate no taint, while it is ready and has no cordon of ours; absent = nobody read that. */
  readonly isSchedulable?: boolean;
  /** Cordoned, and it was us. */
  readonly isCordonedByUs: boolean;
  /** It bears the taint of Nodes whose machines are still to be upgraded; absent = it does not. */
  readonly hasUpgradeTaint?: boolean;
  /** What the kubelet calls the system; absent = it does not tell. */
  readonly osImage?: string;
}

/** What is known of a machine that a Node may belong to. */
export interface NodeOwner {
  /** SMBIOS UUID that was written down; empty where the machine has none. */
  readonly uuid: string;
  readonly address: string;
}

/** The pod that this process runs in, as its Deployment tells it. */
export interface OwnPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Whether this process runs in the managed cluster itself: its pod is there under its own UID. */
export type OwnNode =
  /** Its API has not said. */
  | { readonly kind: "unknown" }
  | { readonly kind: "elsewhere" }
  /** On the Node of this name. */
  | { readonly kind: "here"; readonly name: string };

/** The Nodes of the managed cluster as last listed. */
export interface SeenNodes {
  /** Absent = this process runs in no pod. */
  readonly own?: OwnNode;
  /** When they were last asked for, answered or not. Milliseconds since the epoch. */
  readonly at: number;
  /** `undefined` = nobody answered yet. */
  readonly nodes: readonly SeenNode[] | undefined;
  /** When they were asked for that are known; absent = `at`. */
  readonly listedAt?: number;
  /** Nobody answered when they were last asked for; absent = somebody did, or they never were. */
  readonly isUnanswered?: boolean;
  /** True while an answer is awaited. */
  readonly isAsking: boolean;
  /** Something was written since they were listed. */
  readonly isStale: boolean;
  /** Machines whose Nodes this process cordoned and has not made schedulable again, with the names of the Nodes. */
  readonly cordoned: ReadonlyMap<string, string>;
  /** Nodes that this process gave the taint of upgrades and did not take it off since: whoever takes it off keeps it off. Absent = none. */
  readonly tainted?: ReadonlySet<string>;
}

/** What would hold up the drains of an upgrade that has not begun, as last asked of the cluster's own API. */
export interface SeenAhead {
  /** When it was last asked for, answered or not. Milliseconds since the epoch. */
  readonly at: number;
  /** True while an answer is awaited. */
  readonly isAsking: boolean;
  /** Sentences, empty where nothing would; `undefined` = nobody asked yet. */
  readonly says: readonly string[] | undefined;
  /** Nobody answered when it was last asked for, which `says` says. */
  readonly isUnanswered: boolean;
}

/** A kubelet that waits for the certificate it serves with. */
export interface PendingCertificate {
  /** `metadata.name` of its newest request. */
  readonly request: string;
  /** Who asks, as the API server knows it. */
  readonly username: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Why it is not approved, in words; absent = nobody judged it, or its approval was not taken yet. */
  readonly refusal?: string;
}

/** Pending kubelet certificates as last seen. */
export interface SeenCertificates {
  /** When they were last asked for, answered or not. Milliseconds since the epoch. */
  readonly at: number;
  /** True while an answer is awaited. */
  readonly isAsking: boolean;
  /** `undefined` = nobody answered yet. */
  readonly pending: readonly PendingCertificate[] | undefined;
}

import type { KeyPair } from "@talos-operator/ports";
import type { DefragmentTime } from "./machine.ts";

/** Everything that can happen to a machine. */
export type MachineInput =
  | { readonly kind: "power-on" }
  /** The value was restored from disk: go on where it stopped. */
  | { readonly kind: "resume" }
  | { readonly kind: "power-off" }
  | { readonly kind: "connect"; readonly isConnected: boolean }
  /** Its etcd cannot keep up with the leader, or can again. */
  | { readonly kind: "etcd-behind"; readonly isBehind: boolean }
  /** A machine that is off has another system disk, an empty one; a container was made anew without its volumes. */
  | { readonly kind: "disk-replaced" }
  /** A machine that is off has another network card; a container was made anew. */
  | { readonly kind: "card-replaced"; readonly mac: string }
  /** Its etcd defragments in this time from now on; `undefined`: in the time that it needs. */
  | { readonly kind: "etcd-defragment-time"; readonly takes: DefragmentTime | undefined }
  /** Its etcd is told to defragment. */
  | { readonly kind: "defragment"; readonly takes: DefragmentTime }
  /** Its etcd found other data with another member before it served: the process ends, and is started again. */
  | { readonly kind: "etcd-differs" }
  /** Timers that are due fire, in the order of their times. */
  | { readonly kind: "timers" }
  /** The certificate that was asked for with `issue-identity`. */
  | {
      readonly kind: "identity";
      readonly which: "maintenance" | "configured";
      readonly identity: KeyPair;
      readonly names: readonly string[];
    }
  /** Nobody could sign the certificate (a worker whose control planes are all silent): asked again when one of them answers. */
  | { readonly kind: "identity-refused" }
  /** What is tried is in force for good, though nobody applied it: its revert is cancelled. */
  | { readonly kind: "try-ends" }
  | { readonly kind: "apply"; readonly text: string; readonly how: ApplyHow; readonly tryMs: number }
  /** The service etcd is to stop. */
  | { readonly kind: "stop-etcd" }
  /** The service etcd starts anew, to begin an etcd of its own. */
  | { readonly kind: "bootstrap" }
  | { readonly kind: "etcd-founded" | "etcd-joined"; readonly cluster: string; readonly memberId: string }
  /** An etcd of this machine's cluster takes members. */
  | { readonly kind: "etcd-available" }
  /** `isLearner`: its member is one, which answers no health check. */
  | { readonly kind: "etcd-health"; readonly isHealthy: boolean; readonly isLearner?: boolean }
  /**
   * The member of this machine was `removed`: etcd ends with its data and is restarted for ever. `stopped`: etcd was told to stop, its data stays. `emptied`: its
   * data directory, too.
   */
  | { readonly kind: "etcd-left"; readonly how: "removed" | "stopped" | "emptied" }
  | { readonly kind: "etcd-promoted" }
  /** Its etcd is older than the data that it was started with. */
  | { readonly kind: "etcd-too-old" }
  | { readonly kind: "kubernetes-reachable" }
  /** `lacksNetwork`: Talos brings its cluster no network plugin. */
  | { readonly kind: "node-registered"; readonly lacksNetwork: boolean }
  | { readonly kind: "node-forgotten" }
  /** A network plugin that somebody installed in the cluster runs on this machine. */
  | { readonly kind: "network-installed" }
  | { readonly kind: "reboot"; readonly actorId: string }
  | { readonly kind: "shutdown"; readonly actorId: string }
  | {
      readonly kind: "reset";
      readonly actorId: string;
      readonly wipe: ResetWipe;
      readonly afterwards: "reboot" | "shutdown";
      /** Leaves etcd before anything is wiped, and stops where etcd does not let it go. */
      readonly isGraceful: boolean;
    }
  /** What came of the wish to leave etcd: gone (or never in), refused for now, refused for good, or the machine does not show its member now. */
  | { readonly kind: "etcd-leave-ended"; readonly outcome: "left" | "not-yet" | "refused" | "unshown"; readonly message: string }
  /** Somebody started an installer, which ends with this code whether he waits for it or not. `first`: on a disk without Talos. */
  | { readonly kind: "installer"; readonly version: string; readonly schematic?: string; readonly exitCode: number; readonly first?: true }
  /** Stops services, installs, and reboots into what the slots say. */
  | { readonly kind: "upgrade"; readonly actorId: string; readonly version: string; readonly schematic?: string; readonly exitCode: number }
  /** Reboots, and installs this image then. */
  | {
      readonly kind: "stage-upgrade";
      readonly actorId: string;
      readonly image: string;
      readonly version: string;
      readonly schematic?: string;
      readonly exitCode: number;
    }
  | { readonly kind: "rollback" }
  /** Its Node was drained for an upgrade; or nobody could cordon it for a minute. */
  | { readonly kind: "drained"; readonly isCordoned: boolean }
  | { readonly kind: "uncordoned" }
  | {
      readonly kind: "image";
      readonly store: "system" | "cri" | "containerd";
      readonly name: string;
      readonly isThere: boolean;
      readonly talosVersion?: string;
      readonly schematic?: string;
    }
  | { readonly kind: "restart-service"; readonly id: string }
  | { readonly kind: "meta"; readonly key: string; readonly value: string | undefined };

/** How an accepted configuration takes effect. */
export type ApplyHow = "live" | "reboot" | "staged" | "try";

/** What a reset wipes: the whole system disk, or parts of it (`STATE` holds the configuration, `EPHEMERAL` the etcd data). */
export interface ResetWipe {
  readonly state: boolean;
  readonly ephemeral: boolean;
  /** Talos itself is gone: next boot is from boot media. */
  readonly system: boolean;
  /** META goes too. */
  readonly meta: boolean;
}

/** What a machine wants from the world around it. */
export type MachineOutput =
  | { readonly kind: "issue-identity"; readonly which: "maintenance" | "configured" }
  /** bootstrap a new etcd: answered with `etcd-founded`. */
  | { readonly kind: "found-etcd" }
  /** Try to become a learner: answered with `etcd-joined`, or later `etcd-available`. */
  | { readonly kind: "join-etcd" }
  | { readonly kind: "promote-etcd" }
  /** Remove the own member: answered with `etcd-leave-ended`. */
  | { readonly kind: "leave-etcd" }
  /** Liveness or membership of this machine's etcd may have changed. */
  | { readonly kind: "etcd-changed" }
  /** The process of its etcd has started. */
  | { readonly kind: "etcd-started" }
  /** Its etcd has defragmented. */
  | { readonly kind: "etcd-defragmented" }
  /** This control plane now signs certificates for workers. */
  | { readonly kind: "trustd-up" }
  /** The kubelet runs: registers its Node as soon as the API answers. */
  | { readonly kind: "kubelet-up" }
  | { readonly kind: "kubernetes-up" }
  | { readonly kind: "kubernetes-down" }
  | { readonly kind: "register-node" }
  | { readonly kind: "node-ready" }
  /** Cordon and drain the Node before an upgrade: answered with `drained`. */
  | { readonly kind: "drain-node" }
  | { readonly kind: "node-lost" };

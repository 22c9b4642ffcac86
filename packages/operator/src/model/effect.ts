import type { DeclaredMachine, MachineName, MachineRole } from "./machine.ts";
import type { ClusterFacts } from "./record.ts";

/** One effect, with the precondition that keeps it safe when the observation was stale. */
export type Action =
  | { readonly kind: "AddFinalizer"; readonly object: ObjectName }
  | { readonly kind: "RemoveFinalizer"; readonly object: ObjectName }
  | { readonly kind: "CreateMachine"; readonly machine: DeclaredMachine }
  | { readonly kind: "DeleteMachine"; readonly name: MachineName }
  /** The TalosMachine shows the address that its reference gives now. */
  | { readonly kind: "FollowEndpoint"; readonly name: MachineName; readonly to: string }
  /** Create-only, immutable, without owner. Never executed when the record names a bundle. */
  | { readonly kind: "CreateBundle"; readonly secret: string }
  /** Copies the keys of a cluster that runs already. Create-only; only keys with this fingerprint. */
  | { readonly kind: "TakeBundle"; readonly secret: string; readonly ifFingerprint: string }
  /** The whole next record; compare-and-swap on `ifResourceVersion`, `undefined` = create. */
  | { readonly kind: "WriteRecord"; readonly ifResourceVersion: string | undefined; readonly facts: ClusterFacts; readonly why: string }
  /** Only to the key that was written down, and only while the record says so. */
  | {
      readonly kind: "ConfigureMachine";
      readonly machine: DeclaredMachine;
      readonly ifSpki: string;
      readonly installDisk: string | undefined;
      /** The cluster goes, and a worker that must be wiped gets its certificate through no other machine. */
      readonly isForWipe?: true;
    }
  /** Only while every control plane shows no etcd, and the record holds this very intent. */
  | {
      readonly kind: "BootstrapEtcd";
      readonly machine: MachineName;
      readonly address: string;
      /** SMBIOS UUID of that machine, and of no other at its address; empty where it has none. */
      readonly ifUuid: string;
      readonly probe: readonly ProbeTarget[];
      /** The call was answered before: while etcd prepares it is repeated only if the machine lost it in a reboot. */
      readonly onlyAfterReboot: boolean;
      /** Milliseconds since the epoch since which the pull of etcd's image is waited for; `undefined` = it is not. */
      readonly imageAwaitedSince: number | undefined;
    }
  | { readonly kind: "WriteKubeconfig"; readonly secret: string; readonly via: string }
  | { readonly kind: "WriteTalosconfig"; readonly secret: string; readonly endpoints: readonly string[] }
  /** Wipes. Only a machine whose intent stands in the record. */
  | {
      readonly kind: "ResetMachine";
      readonly machine: MachineName;
      readonly address: string;
      readonly ifUuid: string;
      /** The machine drains its node and leaves etcd by itself first. Default: it wipes at once, for the cluster goes. */
      readonly isGraceful?: boolean;
      /** A voter of etcd leaves: the members are asked live whether they keep their quorum without it. */
      readonly leavesEtcd?: boolean;
      /**
       * The machine leaves a cluster that stays: the specs are read live, and none may list it. `no-voter`: etcd's members are asked, and it must be none
       * that votes; `no-member`: the others list no member of it at all; `no-etcd`: etcd is not bootstrapped, and the machine must hold none. Default: cluster or
       * pool are deleted.
       */
      readonly ifUnlisted?: "voter" | "no-voter" | "no-member" | "no-etcd" | "worker";
    }
  /** The machine removes its own member from etcd and empties its data: before a container is stopped, which leaves etcd as it is. Its reset stands in the record. */
  | { readonly kind: "LeaveEtcd"; readonly machine: MachineName; readonly address: string; readonly ifUuid: string }
  /** The machine hands the leadership of etcd to another member. Only one whose wipe stands in the record. */
  | { readonly kind: "ForfeitLeadership"; readonly machine: MachineName; readonly address: string; readonly ifUuid: string }
  /** Takes the member of a machine that is gone out of etcd's list. Asked of a healthy member; the intent stands in the record. */
  | {
      readonly kind: "RemoveMember";
      /** The machine that is gone. */
      readonly machine: MachineName;
      readonly memberId: string;
      readonly via: { readonly machine: MachineName; readonly address: string; readonly ifUuid: string };
    }
  /** Only to the configuration that the decision was made on, and only while the record holds this very intent. */
  | {
      readonly kind: "ApplyConfig";
      readonly machine: MachineName;
      readonly address: string;
      readonly ifUuid: string;
      readonly mode: "try" | "staged" | "no-reboot";
      /** Hash of the settings. */
      readonly settings: string;
      readonly ifActiveHash: string;
    }
  /** Only while the machine runs the tried configuration. May be repeated. */
  | {
      readonly kind: "KeepConfig";
      readonly machine: MachineName;
      readonly address: string;
      readonly ifUuid: string;
      readonly settings: string;
      readonly ifActiveHash: string;
    }
  /** Changes the static network settings in the machine's META. Only while META holds what the decision was made on, and the record this very intent. */
  | {
      readonly kind: "WriteMeta";
      readonly machine: MachineName;
      /** etcd must bear the loss of a control plane: the machine follows the settings at once. */
      readonly role: MachineRole;
      readonly address: string;
      readonly ifUuid: string;
      /** Hash of the settings that are wanted; `none` = the key is removed. */
      readonly settings: string;
      /** Hash of what META held. */
      readonly ifLive: string;
    }
  /** Only while the machine runs the boot that was written down. */
  | {
      readonly kind: "RebootMachine";
      readonly machine: MachineName;
      /** etcd must bear the loss of a control plane. */
      readonly role: MachineRole;
      readonly address: string;
      readonly ifUuid: string;
      readonly ifBootId: string;
    }
  /** Begins, or keeps going, the drain of the machine's Node. It runs beside the passes and wakes the cluster. */
  | { readonly kind: "CordonAndDrain"; readonly machine: MachineName; readonly address: string; readonly ifUuid: string }
  /** Lists the cluster's Nodes beside the passes. */
  | { readonly kind: "LookAtNodes" }
  /** Lists the certificate requests of kubelets beside the passes, and approves what a person lets us and the machines bear out. */
  | { readonly kind: "TendCertificates"; readonly approves: boolean }
  /** Takes our own cordon off; one of a person stays. */
  | { readonly kind: "Uncordon"; readonly machine: MachineName; readonly node: string; readonly address: string; readonly ifUuid: string }
  /** The Node object of a machine that is no part of the cluster any more. */
  | { readonly kind: "DeleteNode"; readonly machine: MachineName; readonly node: string }
  /** A person's word acts once: it is taken off and answered by an event. */
  | { readonly kind: "AnswerAnnotation"; readonly annotation: string; readonly value: string; readonly answer: string }
  /** Only the very record that was seen: one of its name may be a new cluster's by now. */
  | { readonly kind: "DeleteRecord"; readonly ifUid: string | undefined }
  /** Only the keys that were seen there. */
  | { readonly kind: "DeleteBundle"; readonly secret: string; readonly ifFingerprint: string };

/** A control plane that must show no etcd before a bootstrap is sent. */
export interface ProbeTarget {
  readonly machine: MachineName;
  readonly address: string;
  /** True: silence forbids the bootstrap, and so does any machine but the one that was written down. */
  readonly wasConfigured: boolean;
  /** Key that was written down; `undefined` = none was. */
  readonly spki: string | undefined;
  /** SMBIOS UUID that was written down; empty where none was. */
  readonly uuid: string;
}

/** An object of this cluster, by kind and name; the namespace is the control plane's. */
export interface ObjectName {
  readonly kind: "TalosControlPlane" | "TalosWorker" | "TalosMachine";
  readonly name: string;
}

/**
 * What a step changes: `stored` writes objects of the management cluster only; `waits` is for a fact that nobody here can bring about; `installs`,
 * `bootstraps etcd`, `membership`, `reboot` and `destroys data` are sent to machines, and so are `live`, `service restart` and `reinstall`, by the words of
 * config changes; `drains` empties a node of the workload cluster.
 */
export type PlannedEffect =
  | "stored"
  | "waits"
  | "live"
  | "service restart"
  | "drains"
  | "installs"
  | "bootstraps etcd"
  | "membership"
  | "reboot"
  | "reinstall"
  | "destroys data";

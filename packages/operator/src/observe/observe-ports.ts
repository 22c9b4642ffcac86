import type { MachineName } from "../model/machine.ts";
import type { HostOptions, MachineAddress, ReconcileMode, TalosControlPlane, TalosWorker, TalosMachine } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Clock, Keys } from "@talos-operator/ports";
import type { ConfigReferences } from "../references/config-references.ts";
import type { References } from "../references/references.ts";
import type { AccessStore } from "../secrets/access-store.ts";
import type { BundleStore } from "../secrets/bundle-store.ts";
import type { MachinePlace } from "../model/record.ts";
import type { Observed } from "../model/observation.ts";

/** What observing needs. */
export interface ObservePorts {
  readonly client: KubeClient;
  readonly bundles: BundleStore;
  readonly access: AccessStore;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly hosts: HostOptions;
  readonly references: References;
  readonly configs: ConfigReferences;
  /** Another look at this cluster, now. */
  readonly wake: () => void;
  /** How many clusters this process manages. */
  readonly clusters: number;
  readonly mayDisturb: boolean;
  readonly machineRules: MachineRules;
}

/** What is demanded of machines, whichever cluster is theirs. */
export type MachineRules = Pick<Observed, "requireFingerprint" | "upgradeWithinMs">;

/** What the caches say. */
export interface Cached {
  readonly controlPlane: TalosControlPlane;
  readonly mode: ReconcileMode;
  /** The annotation says disable, and nobody asks for a backup: neither record nor keys nor machines are looked at. */
  readonly isUnread: boolean;
  readonly unknownMode: string | undefined;
  /** The TalosCluster of this control plane is being deleted. */
  readonly isParentGoing: boolean;
  readonly workers: readonly TalosWorker[];
  readonly machineObjects: readonly TalosMachine[];
  /** Machines of a KubernetesCluster that this cluster was installed on, as their annotations say; asked where the record may not know them. */
  readonly installed: () => readonly MachinePlace[];
  /** Pools of other clusters, in any namespace, that list one of our addresses or references and were there first: a machine belongs to one cluster. */
  readonly otherPools: readonly (TalosControlPlane | TalosWorker)[];
  /** Machines of such clusters at addresses that we list and they do not. */
  readonly otherMachines: readonly MachineAddress[];
  /** The TalosMachine of this name that is not this cluster's. */
  readonly nameHolder: (name: MachineName) => TalosMachine | undefined;
  /** The machine of another, older cluster that is at this address, as `TalosMachine namespace/name`; for addresses that references give. */
  readonly machineElsewhere: (address: string) => string | undefined;
  /** What of another, older cluster is where this cluster's endpoint leads, in words. */
  readonly endpointElsewhere: string | undefined;
}

import { labels } from "@talos-operator/api";
import type { TalosMachine } from "@talos-operator/api";
import { isConflict, isNotFound } from "@talos-operator/kube-runtime";
import type { ResourceClient } from "@talos-operator/kube-runtime";
import { clusterLabel } from "../../secrets/cluster-label.ts";

/** To whom a machine belongs. */
export interface MachinePlace {
  readonly role: "controlplane" | "worker" | undefined;
  /** Name of its TalosControlPlane. */
  readonly cluster: string | undefined;
  /** Name of its TalosWorker. */
  readonly pool: string | undefined;
}

/** Labels that people select TalosMachines by. Nothing is ever decided by them. */
export function machineLabels({ role, cluster = "", pool = "" }: MachinePlace): Readonly<Record<string, string>> {
  return {
    ...(cluster === "" ? {} : { [labels.cluster]: clusterLabel(cluster) }),
    ...(role === undefined ? {} : { [labels.role]: role }),
    ...(pool === "" ? {} : { [labels.pool]: clusterLabel(pool) }),
  };
}

/** Puts the labels on machines that were made without them, by an earlier release or by a person. */
export interface MachineLabeller {
  /** Writes what differs: once for each machine and wish, so that two who disagree about a label do not write for ever. */
  label(machine: TalosMachine, place: MachinePlace): Promise<void>;
  /** The machine is gone. */
  forget(key: string): void;
}

export function createMachineLabeller(client: ResourceClient<TalosMachine>, keyOf: (machine: TalosMachine) => string): MachineLabeller {
  const written = new Map<string, string>();
  return {
    async label(machine, place) {
      const { namespace, name, uid, resourceVersion, labels: stored = {}, deletionTimestamp } = machine.metadata;
      const wanted = machineLabels(place);
      if (deletionTimestamp !== undefined || Object.entries(wanted).every(([label, value]) => stored[label] === value)) return;
      const wish = JSON.stringify([uid, wanted]);
      if (written.get(keyOf(machine)) === wish) return;
      try {
        await client.patch({ namespace, name }, { type: "merge", value: { metadata: { resourceVersion, labels: wanted } } });
        written.set(keyOf(machine), wish);
      } catch (thrown) {
        // Changed or deleted since it was read: the next pass has it as it is.
        if (!isConflict(thrown) && !isNotFound(thrown)) throw thrown;
      }
    },
    forget: (key) => void written.delete(key),
  };
}

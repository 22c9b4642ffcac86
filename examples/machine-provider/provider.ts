// A machine provider in sixty lines: fulfils the Machines of one provider name. The contract is docs/reference/machine-providers.md.
import { addFinalizer, createController, createInformer, isBeingDeleted, removeFinalizer, watchOf } from "@talos-operator/kube-runtime";
import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import type { Clock, Logger, RandomSource, Timers } from "@talos-operator/ports";

const type = { group: "vitistack.io", version: "v1alpha1", plural: "machines", kind: "Machine", namespaced: true };
const IN_USE = "cluster.vitistack.io/machine-in-use";
const OURS = "example.org/machine";

export interface Machine extends KubeObject {
  readonly spec?: { readonly provider?: string };
  readonly status?: { readonly phase?: string; readonly publicIPAddresses?: readonly string[] };
}

/** What stands behind the provider: a hypervisor, a rack, a simulator. Both calls may come again for the same machine. */
export interface Hardware {
  /** Boots a machine into Talos maintenance mode and returns its address; `undefined` = there is none yet, ask again. */
  start(machine: Machine): Promise<string | undefined>;
  /** Powers it off for good. */
  stop(machine: Machine): Promise<void>;
}

export interface ProviderOptions {
  readonly client: KubeClient;
  readonly hardware: Hardware;
  /** Of the Machines, which are ours. */
  readonly isOurs: (machine: Machine) => boolean;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly log: Logger;
}

/** Fulfils Machines until `signal` aborts. */
export async function provideMachines({ client, hardware, isOurs, ...ports }: ProviderOptions, signal: AbortSignal): Promise<void> {
  const machines = client.resource<Machine>(type);
  const informer = createInformer<Machine>({ client, type, ...ports });
  const controller = createController({
    name: "machine-provider",
    ...ports,
    watches: [watchOf({ informer, why: "a Machine is to be fulfilled" })],
    async reconcile(key, { wrote }) {
      const machine = informer.store.get(key);
      if (machine === undefined || !isOurs(machine)) return undefined;
      if (isBeingDeleted(machine)) {
        // While the operator holds it, it is part of a cluster: it is drained, leaves etcd and is wiped first.
        if (machine.metadata?.finalizers?.includes(IN_USE) === true) return undefined;
        await hardware.stop(machine);
        wrote(informer, await removeFinalizer(machines, machine, OURS));
        return undefined;
      }
      // Ours before anything is started: nothing that runs is ever forgotten.
      const held = await addFinalizer(machines, machine, OURS);
      const address = await hardware.start(held);
      if (address === undefined) return { requeueAfterMs: 2_000 };
      if (machine.status?.phase === "Running" && machine.status.publicIPAddresses?.[0] === address) return undefined;
      const status = { phase: "Running", publicIPAddresses: [address] };
      const { namespace, name } = key;
      wrote(
        informer,
        await machines.applyStatus({ metadata: { namespace, name }, status }, { fieldManager: "example-provider", force: true }),
      );
      return undefined;
    },
  });
  await Promise.all([informer.run(signal), controller.run(signal)]);
}

import { talosMachineResource, talosWorkerResource } from "@talos-operator/api";
import type { TalosMachine, TalosWorker } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { DeclaredMachine, MachineName } from "../model/machine.ts";

/**
 * Reads live which workers that seem to have lost their pool have it still: their TalosWorker is there, or, where its name is not known, their TalosMachine. An API server
 * may answer a list with less than there is, and what is taken for gone would keep its configuration while the keys are deleted.
 *
 * @returns also the machines that could not be asked about
 */
export async function unlistedWorkers(
  former: readonly DeclaredMachine[],
  pools: readonly TalosWorker[],
  namespace: string,
  client: KubeClient,
): Promise<readonly MachineName[]> {
  const orphans = former.filter(({ role, owner }) => role === "worker" && !pools.some(({ metadata }) => metadata.name === owner.name));
  const isThere = async ({ name, owner }: DeclaredMachine): Promise<boolean> => {
    try {
      const found =
        owner.name === ""
          ? await client.resource<TalosMachine>(talosMachineResource).tryGet({ namespace, name })
          : await client.resource<TalosWorker>(talosWorkerResource).tryGet({ namespace, name: owner.name });
      return found !== undefined;
    } catch {
      // Unknown counts as there: the rule waits and names the machine.
      return true;
    }
  };
  const answers = await Promise.all(orphans.map(isThere));
  return orphans.filter((_machine, index) => answers[index]).map(({ name }) => name);
}

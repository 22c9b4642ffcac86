import { clusterNetworks, validateAddress } from "@talos-operator/api";
import type { HostOptions, ObjectReference, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import type { AddressBook } from "../references/references.ts";
import type { AddressKnowledge } from "./declared.ts";
import { machineFact } from "../record/facts.ts";
import type { AddressProblem } from "../model/machine.ts";
import type { ClusterFacts } from "../model/record.ts";

/** The references that a pool's machines are found by. */
export function referencesOf(pool: TalosControlPlane | TalosWorker): readonly ObjectReference[] {
  return (pool.spec?.metalSpec?.machines ?? []).flatMap(({ machineRef }) => (machineRef === undefined ? [] : [machineRef]));
}

/** What is known of the addresses of a cluster's machines: references followed, records read, and every address checked as one in a spec is. */
export function addressKnowledge(
  cluster: { readonly controlPlane: TalosControlPlane | undefined; readonly machineElsewhere?: (address: string) => string | undefined },
  book: AddressBook,
  facts: ClusterFacts | undefined,
  hosts: HostOptions,
): AddressKnowledge {
  const spec = cluster.controlPlane?.spec;
  const networks = spec === undefined ? [] : clusterNetworks(spec);
  return {
    book,
    recorded: (name) => machineFact(facts, name)?.address,
    check: ({ field, address }): AddressProblem | undefined => {
      const [finding] = validateAddress({ field, address }, { ...hosts, networks });
      if (finding !== undefined) return { reason: finding.reason, message: `${finding.message}. ${finding.remedy}.` };
      const other = cluster.machineElsewhere?.(address);
      if (other === undefined) return undefined;
      return {
        reason: "DuplicateAddress",
        message: `${address} is the address of ${other} of another cluster, which was there first. Give each machine one entry in one cluster.`,
      };
    },
  };
}

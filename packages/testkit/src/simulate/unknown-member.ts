import { canonicalAddress, clusterRecordResource, type ClusterRecord } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Timers } from "@talos-operator/ports";
import type { Datacenter, SimulatedMachine } from "@talos-operator/simulator";
import { CLUSTER_NAME, NAMESPACE, type Desired } from "./scenario.ts";
import type { Stage } from "./stage.ts";

/** How often a person looks whether a machine is known again. */
const LOOKS_EVERY_MS = 5_000;

/** What a person needs to list a machine again for a while. */
export interface ListingInput {
  readonly client: KubeClient;
  readonly datacenter: Datacenter;
  readonly timers: Timers;
  readonly stage: Stage;
  /** Applies these machines, on the way to what is wanted. */
  readonly apply: (desired: Desired) => Promise<void>;
  readonly trace: (line: string) => void;
}

/** The machine with this member of etcd, where it was of the cluster and stands at its own address. */
export function holderOf(
  { datacenter, stage }: Pick<ListingInput, "datacenter" | "stage">,
  memberId: string,
): SimulatedMachine | undefined {
  const holder = datacenter.machines().find(({ state }) => state.etcd.data?.memberId === memberId);
  return holder !== undefined && stage.everControlPlanes.has(holder.address) && !stage.routes.has(holder.address) ? holder : undefined;
}

/** No machine holds the data of this member any more, or it lies without power. */
export function isDead(datacenter: Datacenter, memberId: string): boolean {
  return datacenter.machines().every(({ state }) => state.etcd.data?.memberId !== memberId || state.power === "off");
}

/** Lists a machine again that was taken out of the list and that nobody remembers, in the place of one that waits, until it is known. */
export async function listForAWhile(input: ListingInput, { address }: SimulatedMachine, inPlaceOf: string): Promise<void> {
  const { client, timers, stage, apply, trace } = input;
  const { desired } = stage;
  if (desired === undefined || desired.controlPlanes.includes(address)) return;
  trace(`a person lists ${address} again, in the place of ${inPlaceOf}`);
  await apply({ ...desired, controlPlanes: desired.controlPlanes.map((one) => (one === inPlaceOf ? address : one)) });
  while (stage.desired !== undefined) {
    const record = (await client.resource(clusterRecordResource).tryGet({ namespace: NAMESPACE, name: CLUSTER_NAME })) as
      ClusterRecord | undefined;
    if (record?.spec.knownControlPlanes?.some((known) => canonicalAddress(known.address) === address) === true) break;
    await timers.sleep(LOOKS_EVERY_MS);
  }
  if (stage.desired === undefined) return;
  trace(`a person takes ${address} out of the list`);
  await apply(stage.desired);
}

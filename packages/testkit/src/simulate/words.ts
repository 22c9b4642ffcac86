import type { ClusterRecord } from "@talos-operator/api";

/** UUIDs that vendors ship by the thousand name nobody. */
const VENDOR = "03000200-0400-0500-0006-000700080009";

/** What a person writes into an annotation that is about one machine: its UUID, or its name where others show that UUID too. */
export function wordFor(record: ClusterRecord | undefined, address: string): string {
  const known = [...(record?.spec.knownControlPlanes ?? []), ...(record?.spec.knownWorkers ?? [])];
  const machine = known.find((one) => one.address === address);
  if (machine === undefined) return "";
  const isShared =
    machine.uuid === VENDOR || machine.uuid === "" || known.some((other) => other.name !== machine.name && other.uuid === machine.uuid);
  return isShared ? machine.name : machine.uuid;
}

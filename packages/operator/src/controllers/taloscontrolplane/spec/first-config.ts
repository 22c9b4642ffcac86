import type { TalosControlPlane } from "@talos-operator/api";
import { lockoutOf } from "../../../config/lockout.ts";
import type { InMaintenance } from "../../../looking/look.ts";
import type { DeclaredMachine } from "../model.ts";
import type { ClusterFacts } from "../record/facts.ts";

/** The machine, with why its first configuration would shut everybody out for good, where it does. */
export function withLockout(
  machine: DeclaredMachine,
  look: InMaintenance,
  { spec, metadata }: TalosControlPlane,
  facts: ClusterFacts | undefined,
): DeclaredMachine {
  if (spec === undefined) return machine;
  const { role, machineSpec, version, address } = machine;
  const input = {
    role,
    clusterName: metadata.name,
    endpoint: facts?.endpoint ?? spec.endpoint ?? `https://${address.includes(":") ? `[${address}]` : address}:6443`,
    controlPlane: spec,
    machineSpec,
    version,
    readBy: look.version,
    platform: look.platform,
    installDisk: "/dev/sda",
    addresses: [address],
  };
  const lockout = lockoutOf(input, address);
  return lockout === undefined ? machine : { ...machine, lockout };
}

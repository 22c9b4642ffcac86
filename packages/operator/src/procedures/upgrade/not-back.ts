import type { AssessedMachine, Assessment } from "../../model/assessment.ts";
import type { MachineName } from "../../model/machine.ts";

/** Another control plane than this one that is no ready node: who boots another Talos beside it leaves nobody to lean on. */
export function notBack({ machines }: Assessment, name: MachineName): AssessedMachine | undefined {
  return machines.find(
    ({ declared, isMember, isReady }) => declared.role === "controlplane" && isMember && !isReady && declared.name !== name,
  );
}

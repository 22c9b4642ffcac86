import type { MachineIdentityStatus, TalosMachine } from "@talos-operator/api";
import { identityBefore } from "../record/read-before.ts";
import type { IdentityKind } from "../model/assessment.ts";
import type { MachineFact } from "../model/record.ts";

/** What tells one machine from all others, as far as it is known. */
export type ReportedHardware = Pick<MachineFact, "uuid" | "macs">;

/** Of a machine of which nothing reports who it is. */
export const NOTHING_REPORTED: ReportedHardware = { uuid: "", macs: [] };

/** Who a TalosMachine says that its machine is. */
export interface ReportedIdentity extends ReportedHardware {
  readonly maintenanceKey: string | undefined;
}

/**
 * What a TalosMachine reports of who its machine is: read when the record that knew it is lost. Anybody who may write its status may have written it: a hint,
 * which the machine has to bear out by what it shows.
 */
export function reportedIdentity({ status }: TalosMachine): ReportedIdentity {
  const told = status?.identity;
  if (told === undefined) return identityBefore(status?.conditions);
  return { uuid: told.uuid ?? "", macs: told.hardwareAddresses ?? [], maintenanceKey: told.maintenanceKey };
}

/** The same in the status, of a machine that is written down; `undefined` = there is nothing to report. */
export function identityStatus(kind: IdentityKind, { uuid, macs, spki }: MachineFact): MachineIdentityStatus | undefined {
  const hasAddresses = (kind === "shared" || kind === "vendor") && macs.length > 0;
  if (kind === "none" && spki === undefined) return undefined;
  return {
    ...(kind === "none" ? {} : { uuid, kind }),
    ...(hasAddresses ? { hardwareAddresses: macs } : {}),
    ...(spki === undefined ? {} : { maintenanceKey: spki }),
  };
}

/** What stands where there is no record, as data: the last trace of who the machine is. */
export function keptIdentity(object: TalosMachine): MachineIdentityStatus | undefined {
  if (object.status?.identity !== undefined) return object.status.identity;
  const { uuid, macs, maintenanceKey } = identityBefore(object.status?.conditions);
  if (uuid === "" && maintenanceKey === undefined) return undefined;
  return {
    ...(uuid === "" ? {} : { uuid }),
    ...(macs.length === 0 ? {} : { hardwareAddresses: macs }),
    ...(maintenanceKey === undefined ? {} : { maintenanceKey }),
  };
}

import type { PrinterColumn } from "../schema/crd.ts";
import { integer, list, object, required, string } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";

/**
 * Where a machine stands on its way to another Talos. `Pulling`: the installer is being pulled on it. `Installing`: it is written beside what runs. `Installed`: it is
 * on the machine, and the boot is next. `Draining`: pods leave its Node. `Booting`: it was asked to boot it. `BakeTime`: it runs it and is watched. `RollingBack`: it
 * goes back to what ran before. `Failed`: it failed there, and the version goes to no machine.
 */
const upgradeStages = ["Pulling", "Installing", "Installed", "Draining", "Booting", "BakeTime", "RollingBack", "Failed"] as const;

/** A word of {@link upgradeStages}. */
export type UpgradeStage = (typeof upgradeStages)[number];

const step = {
  from: string({ description: "Talos that it ran before.", maxLength: 64 }),
  to: required(string({ description: "Talos that it gets.", maxLength: 64 })),
  stage: required(string({ description: `Where it stands: ${upgradeStages.join(", ")}.`, maxLength: 32 })),
};

const ofMachine = object(step, { description: "The upgrade of Talos that the machine is in. Absent: it is in none." });

/** The upgrade that a machine is in. */
export interface MachineUpgradeStatus extends Infer<typeof ofMachine> {}
export const machineUpgradeField: Field<MachineUpgradeStatus, false> = ofMachine;

const row = object(
  { machine: required(string({ description: "Name of its TalosMachine.", maxLength: 253 })), ...step },
  { description: "A machine that is in an upgrade of Talos." },
);

const ofPool = object(
  {
    done: integer({ description: "Machines that run the Talos that the spec asks for." }),
    machines: integer({ description: "Machines whose Talos is known." }),
    progress: string({ description: "done/machines, for people." }),
    underWay: list(row, { description: "Machines that are in the upgrade now, or failed in it.", listType: "atomic", maxItems: 64 }),
  },
  { description: "How far an upgrade of Talos is. Absent: every machine runs what the spec asks for." },
);

/** How far the machines of a pool or cluster are. */
export interface UpgradeStatus extends Infer<typeof ofPool> {}
export const upgradeField: Field<UpgradeStatus, false> = ofPool;

/** Of a machine. */
export const machineUpgradeColumn: PrinterColumn = { name: "Upgrade", type: "string", jsonPath: ".status.upgrade.stage" };
export const machineUpgradeToColumn: PrinterColumn = { name: "To", type: "string", jsonPath: ".status.upgrade.to", priority: 1 };
/** Of a pool or cluster: machines that are done, of all. */
export const upgradeColumn: PrinterColumn = { name: "Upgraded", type: "string", jsonPath: ".status.upgrade.progress" };

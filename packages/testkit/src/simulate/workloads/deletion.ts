import type { SimulatedMachine } from "@talos-operator/simulator";
import { chooseScenario } from "../scenario.ts";
import type { EditableWorld, Workload } from "../workload.ts";
import { formerMachines, isBlank, isNode } from "./machines.ts";

const OURS = ["talosclusters", "taloscontrolplanes", "talosworkers", "talosmachines"];

function isGone({ objects }: EditableWorld): boolean {
  return OURS.every((plural) => objects.all(plural).length === 0);
}

/** Nothing is left of the cluster, and every machine waits. */
export function isDeleted(world: EditableWorld): boolean {
  return isGone(world) && world.objects.all("clusterrecords").length === 0 && formerMachines(world).every(isBlank);
}

/** The objects are gone; record and machines are not, but for what somebody took the disk from. */
export function isPreserved(world: EditableWorld): boolean {
  const goesOn = (machine: SimulatedMachine): boolean => isNode(machine) || world.stage.reinstalled.has(machine.address);
  return isGone(world) && world.objects.all("clusterrecords").length === 1 && formerMachines(world).every(goesOn);
}

/** Everything goes, and every machine waits in maintenance mode. */
export const deletion: Workload = {
  name: "delete",
  about: "a cluster is deleted with policy reset: its machines are wiped, its objects, record and keys go",
  choose: (random) => chooseScenario(random),
  steps: () => [{ what: "delete", make: (world) => world.remove(), isReached: isDeleted }],
  mayInterrupt: true,
  endsDeleted: true,
};

/** The objects go, the machines go on, and what it takes to come back stays. */
export const preservation: Workload = {
  name: "delete-preserve",
  about: "a cluster is deleted with policy preserve: its machines go on, record and keys stay",
  choose: (random) => chooseScenario(random, { deletionPolicy: "preserve" }),
  steps: () => [{ what: "delete, policy preserve", make: (world) => world.remove(), isReached: isPreserved }],
  endsDeleted: true,
};

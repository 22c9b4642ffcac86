import type { ClusterRecord } from "@talos-operator/api";
import type { SimulatedMachine } from "@talos-operator/simulator";
import type { EffectId } from "../effects.ts";
import { livingEtcd } from "../living-etcd.ts";
import { addressesOf } from "../scenario.ts";
import type { EditableWorld, Step } from "../workload.ts";

/** The machines that are wanted now, control planes first. */
export function wantedMachines({ stage, datacenter }: EditableWorld): readonly SimulatedMachine[] {
  const { controlPlanes = [], workers = [] } = stage.desired ?? {};
  return [...controlPlanes, ...workers].map((address) => datacenter.machine(address));
}

/** Every machine that was ever wanted and is not now. */
export function formerMachines({ stage, datacenter }: EditableWorld): readonly SimulatedMachine[] {
  const { controlPlanes = [], workers = [] } = stage.desired ?? {};
  return [...stage.everMachines]
    .filter((address) => !controlPlanes.includes(address) && !workers.includes(address))
    .map((address) => datacenter.machine(address));
}

/** The machine holds nothing of any cluster; a container that is stopped can do no harm, and is not wiped by anybody. */
export function isBlank({ state }: SimulatedMachine): boolean {
  if (state.hardware.platform === "container" && state.power === "off") return true;
  return state.stage === "maintenance" && state.config.persisted === undefined && state.etcd.data === undefined;
}

/** The machine works as a node. */
export function isNode({ state }: SimulatedMachine): boolean {
  return state.stage === "running" && state.kubernetes.isNodeReady;
}

/** The boots of the machines that are wanted now, to compare later ones with. */
export function bootsOf(world: EditableWorld): Boots {
  return wantedMachines(world).map((machine) => [machine, machine.state.bootId] as const);
}

/** Nobody booted since, but for machines that somebody took their disk from, and those that join etcd anew. */
export function nobodyBooted({ stage }: EditableWorld, boots: Boots): boolean {
  const mayBoot = ({ address }: SimulatedMachine): boolean => stage.reinstalled.has(address) || stage.corrupted.has(address);
  return boots.every(([machine, bootId]) => machine.state.bootId === bootId || mayBoot(machine));
}

/** Each of them booted since. */
export function allBooted(boots: Boots): boolean {
  return boots.every(([machine, bootId]) => machine.state.bootId !== bootId);
}

/** A setting of every machine that takes effect at the next boot. */
export function changeEnvironment(world: EditableWorld): Promise<void> {
  return world.edit({ machineSpec: { configPatches: [{ machine: { env: { PROOF_OF_BOOT: "1" } } }] } });
}

/** Machines, each with the boot that it ran in. */
export type Boots = readonly (readonly [SimulatedMachine, string])[];

/** etcd has exactly the wanted control planes as voters, all of them started. */
export function hasWantedMembers({ stage, datacenter }: EditableWorld): boolean {
  const [cluster, ...others] = livingEtcd(datacenter);
  const wanted = stage.desired?.controlPlanes ?? [];
  if (cluster === undefined || others.length > 0) return false;
  return (
    cluster.members.length === wanted.length &&
    cluster.members.every(
      (member) =>
        !member.isLearner &&
        member.isStarted &&
        wanted.some((address) => datacenter.machine(address).state.etcd.data?.memberId === member.id),
    )
  );
}

/** The cluster is what is wanted: Ready, with these machines and these members, and nothing is left on machines that left. */
export function isSettled(world: EditableWorld): boolean {
  return (
    world.isReady() &&
    wantedMachines(world).every(isNode) &&
    formerMachines(world).every((machine) => isBlank(machine) || world.stage.abandoned.has(machine.address)) &&
    hasWantedMembers(world) &&
    world.objects.all("talosmachines").length === wantedMachines(world).length
  );
}

/** Settled, and nothing that was begun on a machine waits for its end: what nobody saw the end of is closed by its deadline, which is a write. */
export function hasEnded(world: EditableWorld): boolean {
  const [record] = world.objects.all("clusterrecords") as readonly unknown[] as readonly ClusterRecord[];
  const { openControlPlaneIntent, openWorkerIntents = [], operations = [] } = record?.spec ?? {};
  return openControlPlaneIntent === undefined && openWorkerIntents.length + operations.length === 0 && isSettled(world);
}

/** A step that is judged by how things were before it. */
export function comparing<T>(
  look: (world: EditableWorld) => T,
  { isReached, ...step }: Omit<Step, "isReached"> & { readonly isReached: (world: EditableWorld, before: T) => boolean },
): Step {
  let before: T | undefined;
  return {
    ...step,
    async make(world) {
      before = look(world);
      await step.make(world);
    },
    isReached: (world) => before !== undefined && isReached(world, before),
  };
}

/** A time that has to pass, whatever happens meanwhile. */
export interface Period {
  readonly begin: (world: EditableWorld, ms: number) => void;
  readonly isOver: (world: EditableWorld) => boolean;
}

export function createPeriod(): Period {
  let until = 0;
  return {
    begin(world, ms) {
      until = world.now() + ms;
      world.timers.schedule(ms, () => undefined);
    },
    isOver: (world) => world.now() >= until,
  };
}

/** Of one control plane there are more; of several the first is exchanged for another machine. */
export function growOrReplace(world: EditableWorld): Promise<void> {
  const { controlPlanes = [] } = world.stage.desired ?? {};
  const spares = sparesOf(world);
  return world.edit({
    controlPlanes: world.scenario.controlPlanes === 1 ? [...controlPlanes, ...spares] : [...controlPlanes.slice(1), ...spares.slice(0, 1)],
  });
}

/** The addresses of machines that belong to nobody in the beginning. */
export function sparesOf({ scenario }: EditableWorld): readonly string[] {
  return addressesOf(scenario).spares;
}

const ON_MACHINES: readonly EffectId[] = ["T2", "T3", "T4", "T6", "T7", "T8", "T9", "T10", "T11"];

/** How often something was done to a machine that no person asked for. */
export function effectsOnMachines(world: EditableWorld): number {
  return ON_MACHINES.reduce((sum, effect) => sum + world.took(effect), -world.stage.allowed);
}

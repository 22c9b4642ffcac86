import type { SimulatedMachine } from "@talos-operator/simulator";
import { pick } from "../fault.ts";
import { begin, machinesOf, type TroubleInput } from "./input.ts";
import { confirmMachine } from "./people.ts";

/** Two machines have each other's addresses for a while. */
export async function swapAddresses(input: TroubleInput, lastsMs: number): Promise<void> {
  const { random, stage, timers } = input;
  await begin(input, lastsMs);
  // Whoever is not written down yet is whoever stands there.
  const isWhole = (): boolean => wanted(input).every(({ state }) => state.stage === "running" && state.kubernetes.isNodeReady);
  for (let n = 0; n < 60 && !isWhole(); n += 1) await timers.sleep(5_000);
  const machines = wanted(input);
  if (machines.length < 2 || !isWhole()) return;
  const one = pick(machines, random);
  const other = pick(
    machines.filter((machine) => machine !== one),
    random,
  );
  input.trace(`${one.address} and ${other.address} swap`);
  stage.routes.set(one.address, other.address);
  stage.routes.set(other.address, one.address);
  await timers.sleep(lastsMs);
  stage.routes.clear();
}

/** A machine gets another disk, and a person allows it to join again. Of control planes that are to go on only where the others are enough. */
export async function replaceDisk(input: TroubleInput, lastsMs: number): Promise<void> {
  const { random, stage, timers } = input;
  await begin(input, lastsMs);
  const { desired, deletionPolicy, everControlPlanes } = stage;
  const controlPlanes = desired?.controlPlanes ?? (deletionPolicy === "preserve" ? [...everControlPlanes] : []);
  const members = wanted(input).filter(({ state }) => state.etcd.data !== undefined);
  const mayLoseOne = members.length >= 3 && members.every(({ state }) => state.services["etcd"]?.isHealthy === true);
  const machines = wanted(input).filter(({ address, state }) => state.isInstalled && (mayLoseOne || !controlPlanes.includes(address)));
  if (machines.length === 0) return;
  const machine = pick(machines, random);
  input.trace(`${machine.address} gets another disk`);
  stage.reinstalled.add(machine.address);
  machine.powerOff();
  machine.replaceDisk();
  await timers.sleep(Math.floor(random.fraction() * 60_000));
  machine.powerOn();
  await confirmMachine(input, machine);
}

/** etcd raises an alarm, and somebody takes it back. */
export async function alarm(input: TroubleInput, lastsMs: number): Promise<void> {
  const { random, timers } = input;
  await begin(input, lastsMs);
  const members = wanted(input).filter(({ state }) => state.etcd.data !== undefined);
  if (members.length === 0) return;
  const machine = pick(members, random);
  machine.setEtcdAlarm(pick(["NOSPACE", "CORRUPT"] as const, random));
  input.stage.alarmedSince = input.now();
  await timers.sleep(lastsMs);
  input.stage.alarmedSince = undefined;
  machine.setEtcdAlarm(undefined);
}

function wanted(input: TroubleInput): readonly SimulatedMachine[] {
  const { controlPlanes = [], workers = [] } = input.stage.desired ?? {};
  if (controlPlanes.length === 0) return machinesOf(input);
  // Two Machines of a careless provider have one address.
  return [...new Set([...controlPlanes, ...workers])].map((address) => input.datacenter.machine(address));
}

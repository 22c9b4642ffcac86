import { talosControlPlaneResource, talosMachineResource, type TalosMachine } from "@talos-operator/api";
import { pick } from "../fault.ts";
import { addressesOf, NAMESPACE } from "../scenario.ts";
import { manifestOf } from "../manifest.ts";
import { begin, forAWhile, machinesOf, ofCluster, readRecord, recordThat, type TroubleInput } from "./input.ts";
import { confirmMachine } from "./people.ts";

/** A machine is cut off the network for a while. */
export const cutOff = forAWhile((input) => {
  const machine = pick(machinesOf(input), input.random);
  machine.setConnected(false);
  return () => machine.setConnected(true);
});

/** Control planes, spare ones too, do not catch up with etcd's leader for a while. */
export async function holdLearners(input: TroubleInput, lastsMs: number): Promise<void> {
  const { controlPlanes, spares } = addressesOf(input.scenario);
  await begin(input, lastsMs);
  const machines = [...controlPlanes, ...spares].map((address) => input.datacenter.machine(address));
  for (const machine of machines) machine.setCatchingUp(false);
  await input.timers.sleep(2 * lastsMs);
  for (const machine of machines) machine.setCatchingUp(true);
}

/** Calls to one machine take their time. */
export const slowDown = forAWhile((input) => {
  const machine = pick(machinesOf(input), input.random).address;
  return hurt(input, machine, { kind: "delay", ms: 2_000 + Math.floor(input.random.fraction() * 4_000) });
});

/** Whatever befalls its calls: nobody can tell of it as it is. */
function hurt({ datacenter, stage }: TroubleInput, machine: string, effect: Parameters<typeof datacenter.inject>[0]["effect"]): () => void {
  const fault = datacenter.inject({ machine, effect });
  stage.unheard.add(machine);
  return () => {
    fault.remove();
    stage.unheard.delete(machine);
  };
}

/** One machine acts, and its answers are lost. */
export const deafen = forAWhile((input) => {
  // What took place there is not counted, for nobody heard of it.
  input.stage.mayRepeat += 1;
  return hurt(input, pick(machinesOf(input), input.random).address, { kind: "drop-reply" });
});

/** A machine loses its power while it waits for its configuration. */
export async function rebootWaiting(input: TroubleInput, lastsMs: number): Promise<void> {
  await begin(input, lastsMs, 60_000);
  const machine = pick(machinesOf(input), input.random);
  // Who edits a cluster that is Ready may want that nobody boots: of that one only machines lose their power that wait.
  if (input.stage.wasReady && machine.state.config.active !== undefined) return;
  machine.powerCycle();
  await confirmMachine(input, machine);
}

/** The machine that was asked to bootstrap etcd loses its power before its etcd starts. */
export async function rebootFounding(input: TroubleInput): Promise<void> {
  await input.tookEffect("T4", 1);
  await input.timers.sleep(Math.floor(input.random.fraction() * 1_500));
  const target = (await readRecord(input))?.spec.bootstrap?.intent?.machine.address;
  input.trace(`trouble ${input.kind} ${target ?? "nobody"}`);
  if (target !== undefined) input.datacenter.machine(target).powerCycle();
}

/** Stops an operator between its pin and its send, lets the machine come back with another key, and lets the operator go on. */
export async function pauseAndReboot(input: TroubleInput, lastsMs: number): Promise<void> {
  const { timers, trace, random } = input;
  await input.tookEffect("K2", 1 + Math.floor(random.fraction() * 2));
  const record = await recordThat(input, () => true);
  const pinned = new Set([...(record.spec.knownControlPlanes ?? []), ...(record.spec.knownWorkers ?? [])].map(({ address }) => address));
  const waiting = machinesOf(input).filter(({ address, state }) => pinned.has(address) && state.config.active === undefined);
  trace(`trouble paused-and-rebooted for ${lastsMs} ms, ${waiting.length} machines`);
  input.pauseOperator(lastsMs);
  const machine = waiting[0];
  machine?.powerCycle();
  await timers.sleep(lastsMs);
  if (machine !== undefined) await confirmMachine(input, machine);
}

/** Another cluster object names the same machines, for as long as they are the first one's: whoever lets a machine go gives it away. */
export async function nameMachinesTwice(input: TroubleInput, lastsMs: number): Promise<void> {
  const { client, scenario, timers, stage } = input;
  await begin(input, lastsMs, 60_000);
  const [object] = manifestOf({ ...scenario, shape: "pools", workers: 0 });
  if (object === undefined) return;
  const { controlPlanes: named } = addressesOf(scenario);
  const areTaken = (): boolean => {
    const { controlPlanes = [], workers = [] } = stage.desired ?? {};
    return !stage.isManagementLost && named.every((address) => controlPlanes.includes(address) || workers.includes(address));
  };
  const controlPlanes = client.resource(talosControlPlaneResource);
  // The machines belong to whoever was there first, and that is to be the cluster of the story: what its provider gave it may be in no pool of it yet.
  const areClaimed = async (): Promise<boolean> => {
    const { items } = await client.resource<TalosMachine>(talosMachineResource).list({ namespace: NAMESPACE });
    return areTaken() && named.every((address) => items.some(({ spec }) => spec?.endpoint === address));
  };
  while (!(await areClaimed()) || (await controlPlanes.tryGet(ofCluster)) === undefined) {
    if (stage.wasReady && !areTaken()) return;
    await timers.sleep(1000);
  }
  // Creation times have whole seconds.
  await timers.sleep(1000);
  if (!areTaken()) return;
  const second = { namespace: NAMESPACE, name: "second" };
  await controlPlanes.create({ ...object.body, metadata: second });
  const takeAway = async (): Promise<void> => {
    stage.beforeLettingGo.delete(takeAway);
    if ((await controlPlanes.tryGet(second)) !== undefined) await controlPlanes.delete(second);
  };
  stage.beforeLettingGo.add(takeAway);
  // A provider takes machines away, too.
  const watch = async (): Promise<void> => (areTaken() ? void timers.schedule(500, () => void watch()) : takeAway());
  void watch();
  await timers.sleep(60_000);
}

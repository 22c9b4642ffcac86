import type { ClusterRecord } from "@talos-operator/api";
import { asAdmin } from "../as-admin.ts";
import { addressesOf } from "../scenario.ts";
import { bundleKey, readRecord, type TroubleInput } from "./input.ts";

/** A person bootstraps etcd on another machine than the recorded one while the operator stands still. */
export async function foundByHand(input: TroubleInput, lastsMs: number): Promise<void> {
  const { timers, trace } = input;
  const other = await anotherThanTheTarget(input);
  input.pauseOperator(lastsMs);
  trace(`trouble founded-by-hand on ${other ?? "nobody"} for ${lastsMs} ms`);
  if (other !== undefined) await found(input, other);
  await timers.sleep(lastsMs);
}

/** A machine that waits in maintenance mode, and has nothing to do with the cluster. */
const STRANGER = "10.5.0.250";

/** A person does so right before the call is sent, and that machine's address goes to one that waits. */
export async function foundAndReplace(input: TroubleInput, lastsMs: number): Promise<void> {
  const { timers, trace, stage, datacenter } = input;
  datacenter.addMachine({ address: STRANGER, talosVersion: input.scenario.talosVersion });
  const other = await anotherThanTheTarget(input);
  const goOn = input.holdOperator();
  trace(`trouble founded-and-replaced: ${other ?? "nobody"} for ${lastsMs} ms`);
  if (other !== undefined) {
    await found(input, other);
    stage.routes.set(other, STRANGER);
  }
  goOn();
  await timers.sleep(lastsMs);
  stage.routes.clear();
}

/** Resolves when the intent to bootstrap etcd was written, the last thing before the call, with a control plane that waits for etcd and is not the target. */
async function anotherThanTheTarget(input: TroubleInput): Promise<string | undefined> {
  let record: ClusterRecord | undefined;
  for (let n = 1; record?.spec.bootstrap?.intent === undefined; n += 1) {
    await input.tookEffect("K2", n);
    record = await readRecord(input);
  }
  const target = record.spec.bootstrap.intent.machine.address;
  const waits = (address: string): boolean => input.datacenter.machine(address).state.services["etcd"]?.state === "Preparing";
  return addressesOf(input.scenario).controlPlanes.find((address) => address !== target && waits(address));
}

async function found(input: TroubleInput, address: string): Promise<void> {
  await asAdmin(input, bundleKey.name, address, async (talos) => {
    await talos.bootstrap({ timeoutMs: 5_000 });
  });
}

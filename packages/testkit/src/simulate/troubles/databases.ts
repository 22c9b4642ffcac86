import type { EtcdDatabase } from "@talos-operator/simulator";
import { pick } from "../fault.ts";
import { livingEtcd } from "../living-etcd.ts";
import { begin, readRecord, type TroubleInput } from "./input.ts";

/** By then whoever reconciles it has made room. */
const HEALED_BY_MS = 600_000;

/** etcd fills up to its quota, and writes nothing more. Whoever reconciles it heals it; one that is left alone is healed by somebody in the end. */
export async function fillEtcd(input: TroubleInput, lastsMs: number): Promise<void> {
  await begin(input, lastsMs);
  const database = databaseOf(input);
  if (database === undefined) return;
  database.fill();
  input.trace("etcd is full");
  input.stage.alarmedSince = input.now();
  // The operator looks once a minute at most, and takes every member after the other.
  const until = input.now() + Math.max(lastsMs, HEALED_BY_MS);
  while (input.now() < until && database.alarms().length > 0) await input.timers.sleep(5_000);
  // Whoever reads that a member is being defragmented waits for that: a call that was lost on its way may still come, and the file that somebody else made smaller ends it.
  while (input.now() < until + HEALED_BY_MS && database.alarms().length > 0 && (await isDefragmenting(input)))
    await input.timers.sleep(5_000);
  input.stage.alarmedSince = undefined;
  for (const { id } of livingEtcd(input.datacenter).flatMap(({ members }) => members)) database.defragment(id);
  database.disarm();
}

/** One member has other data than the others, and etcd writes nothing more; somebody brings it the right ones and takes the alarms back. */
export async function corruptEtcd(input: TroubleInput, lastsMs: number): Promise<void> {
  await begin(input, lastsMs);
  const database = databaseOf(input);
  const members = input.datacenter.machines().filter(({ state }) => state.etcd.data !== undefined);
  if (database === undefined || members.length === 0) return;
  const machine = pick(members, input.random);
  input.trace(`${machine.address} has wrong data`);
  machine.corruptEtcd();
  input.stage.corrupted.add(machine.address);
  // One alone has nobody to compare with: nothing is told, and nothing is refused.
  if (database.alarms().length > 0) await alarmed(input, lastsMs);
  database.mend();
  database.disarm();
}

async function isDefragmenting(input: TroubleInput): Promise<boolean> {
  return (await readRecord(input))?.spec.openControlPlaneIntent?.what === "Defragment";
}

function databaseOf({ datacenter }: TroubleInput): EtcdDatabase | undefined {
  const [living] = livingEtcd(datacenter);
  return living === undefined ? undefined : datacenter.etcdDatabase(living.key);
}

async function alarmed({ stage, timers, now }: TroubleInput, lastsMs: number): Promise<void> {
  stage.alarmedSince = now();
  await timers.sleep(lastsMs);
  stage.alarmedSince = undefined;
}

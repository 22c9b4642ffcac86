import type { Datacenter } from "@talos-operator/simulator";
import { CliError } from "../cli-error.ts";

const troubles = {
  /** At its quota, a quarter of it in use: defragmentation gives room. */
  full: (datacenter: Datacenter, key: string) => datacenter.etcdDatabase(key)?.fill(),
  /** At its quota, all of it in use: only a larger quota, or fewer objects, gives room. */
  "full-in-use": (datacenter: Datacenter, key: string) => datacenter.etcdDatabase(key)?.fill(1),
  /** The data of one member differ from those of the others. */
  corrupt: (datacenter: Datacenter, key: string) => corrupt(datacenter, key, () => 1),
  /** The data of a majority differ, each in another way. */
  "corrupt-majority": (datacenter: Datacenter, key: string) => corrupt(datacenter, key, (members) => Math.floor(members / 2) + 1),
} as const;

/** What can befall the etcd of a simulated cluster. */
export type EtcdTrouble = keyof typeof troubles;

export const etcdTroubles = Object.keys(troubles) as readonly EtcdTrouble[];

/** The trouble that `--etcd-trouble` names. @throws CliError for a word that is none */
export function etcdTroubleOf(word: string | undefined): EtcdTrouble | undefined {
  if (word === undefined) return undefined;
  const trouble = etcdTroubles.find((one) => one === word);
  if (trouble === undefined)
    throw new CliError(`${JSON.stringify(word.slice(0, 64))} is no trouble of etcd`, `Name one of ${etcdTroubles.join(", ")}.`, {
      exitCode: 2,
    });
  return trouble;
}

/** Lets it befall every etcd that there is. */
export function troubleEtcd(datacenter: Datacenter, trouble: EtcdTrouble): void {
  for (const { key } of datacenter.etcdClusters()) troubles[trouble](datacenter, key);
}

function corrupt(datacenter: Datacenter, key: string, howMany: (members: number) => number): void {
  const members = datacenter.machines().filter(({ state }) => state.etcd.data?.cluster === key);
  for (const machine of members.slice(-howMany(members.length))) machine.corruptEtcd();
}

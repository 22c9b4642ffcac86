import { controlPlanesOf } from "../../assess/etcd-view.ts";
import { hostOf } from "../remove/removal.ts";
import { countOf } from "../../report/listed.ts";
import type { EtcdQuorum } from "../../model/etcd.ts";
import type { MachineName } from "../../model/machine.ts";
import type { Observed } from "../../model/observation.ts";

/** The database file of a voter, as its machine tells it. */
export interface EtcdFile {
  readonly machine: MachineName;
  readonly address: string;
  readonly memberId: string;
  readonly leads: boolean;
  /** `undefined` = not told. */
  readonly sizeBytes: number | undefined;
  /** What a defragmentation leaves of it; `undefined` = not told. */
  readonly inUseBytes: number | undefined;
  /** `undefined` = not asked, or not told. */
  readonly quotaBytes: number | undefined;
}

/** Files of the voters that answer and are healthy, in the order in which they are defragmented: by name, the leader last. */
export function filesOf(seen: Observed, { voters, leader }: EtcdQuorum): readonly EtcdFile[] {
  const machines = new Map(controlPlanesOf(seen).map((machine) => [machine.declared.name, machine]));
  return voters
    .flatMap(({ id, machine, isHealthy }): readonly EtcdFile[] => {
      const found = machine === undefined || !isHealthy ? undefined : machines.get(machine);
      if (found?.look.kind !== "running" || found.look.etcd === undefined) return [];
      const { dbSizeBytes, dbInUseBytes, quotaBytes } = found.look.etcd;
      const { name, address } = found.declared;
      return [{ machine: name, address, memberId: id, leads: id === leader, sizeBytes: dbSizeBytes, inUseBytes: dbInUseBytes, quotaBytes }];
    })
    .toSorted((a, b) => Number(a.leads) - Number(b.leads) || (a.machine < b.machine ? -1 : 1));
}

/** Control planes whose machine answers while their etcd does not: one may be in the middle of a defragmentation that somebody asked for. */
export function hanging(seen: Observed, { voters }: EtcdQuorum): readonly MachineName[] {
  const healthy = new Set(voters.flatMap(({ machine, isHealthy }) => (isHealthy && machine !== undefined ? [machine] : [])));
  return controlPlanesOf(seen)
    .filter(({ declared, look }) => look.kind === "running" && look.etcd?.service === "Running" && !healthy.has(declared.name))
    .map(({ declared }) => declared.name);
}

/** Control planes whose machine answers and whose etcd does not run: it is starting, or ends again and again. */
export function notRunning(seen: Observed): readonly MachineName[] {
  return controlPlanesOf(seen)
    .filter(({ look }) => look.kind === "running" && look.etcd !== undefined && look.etcd.service !== "Running")
    .map(({ declared }) => declared.name);
}

/** Its member has no vote yet: Talos promotes it when it has caught up, and until then it answers nothing but its status. */
export function isJoining(seen: Observed, { learners }: EtcdQuorum, name: MachineName): boolean {
  const machine = controlPlanesOf(seen).find(({ declared }) => declared.name === name);
  return learners.some(({ peerUrls }) => peerUrls.some((url) => hostOf(url) === machine?.declared.address));
}

/** A file has room when it is below this share of its quota: right below it the next writes would raise the alarm anew. */
const ROOM = 0.95;

export function hasRoom(bytes: number | undefined, quotaBytes: number | undefined): boolean {
  return bytes !== undefined && quotaBytes !== undefined && bytes < ROOM * quotaBytes;
}

/** The least that one tells counts for all, whose content is the same; `Infinity` = none tells. */
export function leastInUse(files: readonly EtcdFile[]): number {
  return Math.min(...files.map(({ inUseBytes }) => inUseBytes ?? Number.POSITIVE_INFINITY));
}

const KIB = 1_024;
const MIB = 1_048_576;

/** `2048 MiB`, as people read sizes of etcd; below 1 MiB `512 KiB`, or bytes. */
export function inMib(bytes: number): string {
  if (!Number.isFinite(bytes)) return "no limit";
  if (bytes >= MIB) return `${Math.round(bytes / MIB)} MiB`;
  return bytes >= KIB ? `${Math.round(bytes / KIB)} KiB` : countOf(bytes, "byte");
}

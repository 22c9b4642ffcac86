import { raisedBy } from "./alarmed.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { DeclaredMachine, MachineName } from "../model/machine.ts";
import type { Look, SeenAlarm, SeenEtcd } from "../model/look.ts";

/** What a backup of a cluster is taken from. */
export interface BackupSources {
  readonly clusterId: string;
  /** Fingerprint of keys that others left: its import is pending, and no record of ours names any. Absent: the record does. */
  readonly foundKeys?: string;
  /** Tags with `v`; empty where none is known. */
  readonly talosVersion: string;
  readonly kubernetesVersion: string;
  /** Healthy voters of etcd, those that do not lead first, in the order of their names. */
  readonly voters: readonly BackupVoter[];
  /** Control planes that are no such voter, for people. */
  readonly others: readonly MachineName[];
}

/** Why nobody can be asked. For people. */
export interface NoSources {
  readonly why: string;
}

/** A voter of etcd that answers and is well. */
export interface BackupVoter {
  readonly machine: MachineName;
  readonly address: string;
  /** 16 hex digits. */
  readonly memberId: string;
  readonly isLeader: boolean;
}

/**
 * Whom a snapshot may be asked for. Pure.
 *
 * A voter that is healthy, knows a leader and has the right data: a member that is behind, or alone, would give an older state than etcd has. Files that are full hold what was written before they were.
 *
 * @returns `undefined` while etcd was not bootstrapped
 */
export function backupSources(
  facts: ClusterFacts | undefined,
  machines: readonly { readonly declared: DeclaredMachine; readonly look: Look }[],
): BackupSources | undefined {
  if (facts?.bootstrapDone === undefined) return undefined;
  const controlPlanes = machines.filter(({ declared }) => declared.role === "controlplane");
  const wrong = wrongMembers(controlPlanes.map(({ look }) => look));
  const voters = controlPlanes.flatMap(({ declared, look }) => voterOf(declared, look)).filter(({ memberId }) => !wrong.has(memberId));
  const names = new Set(voters.map(({ machine }) => machine));
  return {
    clusterId: facts.clusterId,
    talosVersion: facts.talosVersion,
    kubernetesVersion: facts.kubernetesVersion,
    voters: inTurn(voters),
    others: controlPlanes.map(({ declared }) => declared.name).filter((name) => !names.has(name)),
  };
}

/** The order in which they are asked. */
export function inTurn(voters: readonly BackupVoter[]): readonly BackupVoter[] {
  return voters.toSorted((a, b) => Number(a.isLeader) - Number(b.isLeader) || (a.machine < b.machine ? -1 : 1));
}

/** The machine as a voter, when a snapshot may be asked of it. */
export function voterOf({ name, address }: DeclaredMachine, look: Look): readonly BackupVoter[] {
  if (look.kind !== "running" || address === "") return [];
  const { etcd } = look;
  if (etcd?.isHealthy !== true || !isTrusted(etcd) || etcd.leader === undefined || /^0+$/.test(etcd.leader)) return [];
  const own = etcd.members?.find(({ id }) => id === etcd.localMember);
  return own === undefined || own.isLearner ? [] : [{ machine: name, address, memberId: own.id, isLeader: etcd.leader === own.id }];
}

/** Members whose data are wrong, by whoever tells it: the one that is named may have been looked at before. */
function wrongMembers(looks: readonly Look[]): ReadonlySet<string> {
  const telling = looks.flatMap((look) => (look.kind === "running" && look.etcd !== undefined ? [{ etcd: look.etcd }] : []));
  return new Set(raisedBy(telling).flatMap(({ kind, member }) => (kind === "corrupt" ? [member] : [])));
}

/**
 * No alarm tells that its data are wrong. Every member tells the alarms of all; where data differ without a majority, nobody is trusted. Without space etcd goes on to read, and so to take snapshots.
 *
 * @see etcd v3.6.14 `server/etcdserver/api/v3rpc/maintenance.go` Snapshot
 */
function isTrusted({ alarms, raised = [], localMember }: SeenEtcd): boolean {
  if (alarms === undefined) return true;
  const speaksForIt = ({ kind, member }: SeenAlarm): boolean =>
    kind === "no-space" || (kind === "corrupt" && member !== localMember && !/^0*$/.test(member));
  return alarms.length <= raised.length && raised.every(speaksForIt);
}

import { clusterRecordResource, rfc3339 } from "@talos-operator/api";
import type { ClusterRecord, OpenSnapshot } from "@talos-operator/api";
import { isConflict } from "@talos-operator/kube-runtime";
import type { KubeClient, ObjectKey } from "@talos-operator/kube-runtime";
import { newerWord } from "../../record/facts-codec.ts";
import { replaceRecord } from "../../record/replace-record.ts";

/** What the record says about who is at work on the control planes of a cluster. */
export interface RecordClaims {
  readonly hasRecord: boolean;
  /** The control plane that is being disturbed. */
  readonly disrupted: string | undefined;
  /** A snapshot whose deadline has not passed. */
  readonly snapshot: OpenSnapshot | undefined;
}

/** Reads who is at work, live. @throws KubeApiError */
export async function readClaims(cluster: ObjectKey, client: KubeClient, now: number): Promise<RecordClaims> {
  return claimsOf(await client.resource<ClusterRecord>(clusterRecordResource).tryGet(cluster), now);
}

function claimsOf(record: ClusterRecord | undefined, now: number): RecordClaims {
  const snapshot = record?.spec.snapshot;
  return {
    hasRecord: record !== undefined,
    disrupted: record?.spec.openControlPlaneIntent?.machine.name,
    snapshot: snapshot !== undefined && now < Date.parse(snapshot.deadline) ? snapshot : undefined,
  };
}

/**
 * Writes a claim by compare-and-swap, only while no control plane is disturbed and no other snapshot is taken. One for the same run is renewed.
 *
 * @returns false where somebody was faster; nothing was written
 * @throws KubeApiError
 */
export async function claimSnapshot(cluster: ObjectKey, claim: OpenSnapshot, client: KubeClient, now: number): Promise<boolean> {
  const records = client.resource<ClusterRecord>(clusterRecordResource);
  const record = await records.tryGet(cluster);
  const { disrupted, snapshot } = claimsOf(record, now);
  if (record === undefined || newerWord(record) !== undefined) return false;
  if (disrupted !== undefined || (snapshot !== undefined && snapshot.run !== claim.run)) return false;
  try {
    await replaceRecord(records, record, { ...record, spec: { ...record.spec, snapshot: claim } });
    return true;
  } catch (thrown) {
    if (isConflict(thrown)) return false;
    throw thrown;
  }
}

/** Takes the claim of this run off; another one's stays. A lost race is tried again by the next pass. @returns whether the claim is gone */
export async function releaseSnapshot(cluster: ObjectKey, run: string, client: KubeClient): Promise<boolean> {
  const records = client.resource<ClusterRecord>(clusterRecordResource);
  const record = await records.tryGet(cluster);
  if (record?.spec.snapshot?.run !== run) return true;
  // A record of a newer release is written by that alone; the claim ends with its deadline.
  if (newerWord(record) !== undefined) return true;
  const { snapshot: _over, ...spec } = record.spec;
  try {
    await replaceRecord(records, record, { ...record, spec });
    return true;
  } catch (thrown) {
    if (isConflict(thrown)) return false;
    throw thrown;
  }
}

/** The claim of a run. */
export function claimOf(
  run: string,
  machine: string,
  backup: { readonly namespace: string; readonly name: string },
  by: string,
  now: number,
  forMs: number,
): OpenSnapshot {
  return { machine, run, backup, at: rfc3339(now), by, deadline: rfc3339(now + forMs) };
}

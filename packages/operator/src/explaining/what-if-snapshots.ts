import { annotations, talosEtcdBackupResource, talosEtcdBackupScheduleResource } from "@talos-operator/api";
import type { TalosCluster, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import { KubeApiError } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { isUpgraded, snapshotsOf } from "../disruption/see-snapshots.ts";
import type { Observed } from "../model/observation.ts";

/**
 * The same with what is asked for before control planes are disturbed, and what there is; asked only where one leaves or is upgraded. Who may not read backups, or has none of
 * their kinds, gets the plan without a snapshot.
 *
 * @param clusters the TalosCluster that makes the control plane: as edited, then as stored
 */
export async function withStoredSnapshots(
  seen: Observed,
  clusters: readonly (TalosCluster | undefined)[],
  client: KubeClient,
): Promise<Observed> {
  if (!seen.former.some(({ declared: { role } }) => role === "controlplane") && !seen.machines.some(isUpgraded)) return seen;
  const { namespace, name } = seen.controlPlane.metadata;
  const words = [seen.controlPlane, ...clusters].map((object) => object?.metadata.annotations?.[annotations.snapshotBeforeRisk]);
  const word = words.find((one) => one !== undefined);
  const [schedules, backups] = await Promise.all([
    listed(client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource).list({ namespace })),
    listed(client.resource<TalosEtcdBackup>(talosEtcdBackupResource).list({ namespace })),
  ]);
  const cluster = clusters.find((one) => one !== undefined);
  const get = (key: { readonly name: string }): TalosCluster | undefined => (key.name === cluster?.metadata.name ? cluster : undefined);
  const snapshots = schedules === undefined || backups === undefined ? undefined : snapshotsOf(name, schedules, backups, { get });
  return { ...seen, ...(word === undefined ? {} : { riskWord: word }), ...(snapshots === undefined ? {} : { snapshots }) };
}

/** `undefined` = they may not be read, or their kind is not installed. */
async function listed<T>(list: Promise<{ readonly items: readonly T[] }>): Promise<readonly T[] | undefined> {
  try {
    return (await list).items;
  } catch (thrown) {
    if (thrown instanceof KubeApiError && (thrown.code === "FORBIDDEN" || thrown.code === "NOT_FOUND")) return undefined;
    throw thrown;
  }
}

import { clusterRecordResource, finalizers } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import { deleteExactly, keyText, removeFinalizer } from "@talos-operator/kube-runtime";
import type { KubeClient, ObjectKey } from "@talos-operator/kube-runtime";
import type { Clock, Logger } from "@talos-operator/ports";
import { elapsedMs } from "../elapsed.ts";
import type { Leading } from "../leading.ts";
import type { BundleStore } from "../secrets/bundle-store.ts";
import type { Decision } from "../model/decision.ts";
import type { Observed } from "../model/observation.ts";

/** An API server gives up a write after a minute; whatever lies between has as long again. */
const LATEST_WRITE_MS = 120_000;

/** What late records are found and removed with. */
export interface LateRecordPorts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly leading: Leading;
  readonly log: Logger;
}

interface Deleted {
  /** Of the TalosControlPlane that was deleted. */
  readonly uid: string;
  readonly clusterId: string;
  readonly secret: string;
  /** When its object was first found to be gone. Milliseconds. */
  goneAt: number | undefined;
}

/**
 * Records that turn up after their cluster was deleted to the end.
 *
 * A creation that got no answer is sent again, and the first one may still arrive: after a deletion within its first minute it would leave a record that
 * nobody removes, and that stops the next cluster of this name, for the keys it names are gone. In memory only: a process that ends meanwhile leaves it to
 * the person whom `BundleMissing` tells.
 */
export class LateRecords {
  readonly #ports: LateRecordPorts;
  readonly #bundles: BundleStore;
  readonly #deleted = new Map<string, Deleted>();

  constructor(ports: LateRecordPorts, bundles: BundleStore) {
    this.#ports = ports;
    this.#bundles = bundles;
  }

  /** Takes note of a cluster whose record is being removed. */
  decided(key: ObjectKey, { controlPlane, record }: Observed, { actions }: Decision): void {
    if (record.kind !== "present" || !actions.some(({ kind }) => kind === "DeleteRecord")) return;
    const { clusterId, bundle } = record.value.facts;
    const { uid = "" } = controlPlane.metadata;
    this.#deleted.set(keyText(key), { uid, clusterId, secret: bundle.secretName, goneAt: undefined });
  }

  /**
   * Removes the late record of the cluster that was there before this object, or before nothing.
   *
   * @param uid of the TalosControlPlane that is there now
   * @returns milliseconds until it is to be looked again; `undefined` when there is nothing to wait for
   */
  async remove(key: ObjectKey, uid: string | undefined): Promise<number | undefined> {
    const deleted = this.#deleted.get(keyText(key));
    if (deleted === undefined || deleted.uid === uid) return undefined;
    const now = this.#ports.clock.now();
    deleted.goneAt ??= now;
    const leftMs = LATEST_WRITE_MS - elapsedMs(deleted.goneAt, now);
    await this.#removeFound(key, deleted);
    if (leftMs > 0) return leftMs;
    this.#deleted.delete(keyText(key));
    return undefined;
  }

  /** A record of other keys is another cluster's, and one whose keys are there was brought back by somebody. */
  async #removeFound(key: ObjectKey, { clusterId, secret }: Deleted): Promise<void> {
    const { client, leading, log } = this.#ports;
    const records = client.resource<ClusterRecord>(clusterRecordResource);
    const record = await records.tryGet(key);
    if (record?.spec.clusterId !== clusterId) return;
    if ((await this.#bundles.read({ namespace: key.namespace, name: secret }))?.clusterId === clusterId) return;
    if (!(await leading.confirm())) return;
    log.info({ cluster: key.name, namespace: key.namespace }, "Removing a record that arrived after its cluster was deleted");
    await removeFinalizer(records, record, finalizers.clusterRecord);
    await deleteExactly(records, record);
  }
}

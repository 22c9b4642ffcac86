import { apiVersionOf, clusterRecordResource, finalizers, labels, setCondition, talosControlPlaneResource } from "@talos-operator/api";
import type { ClusterRecord, ConditionInput } from "@talos-operator/api";
import { createController, deleteExactly, hasFinalizer, isNotFound, removeFinalizer, watchOf } from "@talos-operator/kube-runtime";
import type { Controller, Informer, ObjectKey } from "@talos-operator/kube-runtime";
import { commonOptions } from "../../controllers/shared/controller-ports.ts";
import type { ControllerPorts } from "../../controllers/shared/controller-ports.ts";
import { specOrMetadataChanged } from "../../controllers/shared/predicates.ts";
import { createBundleStore } from "../../secrets/bundle-store.ts";
import { decideRecord } from "./decide.ts";

const FIELD_MANAGER = "talos-operator/clusterrecord";

/** Records of preserved clusters alone are watched, and little of them is kept: those of clusters with objects are read by their work items. */
export const preservedRecords = {
  labelSelector: `${labels.preserved}=true`,
  transform: ({ metadata, spec, status, ...type }: ClusterRecord): ClusterRecord => {
    const { managedFields: _who, ...kept } = metadata as ClusterRecord["metadata"] & { readonly managedFields?: unknown };
    const { clusterId, bundle } = spec;
    return {
      ...type,
      metadata: kept,
      spec: { clusterId, bundle } as unknown as ClusterRecord["spec"],
      ...(status === undefined ? {} : { status }),
    };
  },
};

/** What the controller of records needs. */
export interface RecordControllerOptions extends ControllerPorts {
  readonly records: Informer<ClusterRecord>;
}

/** Says on the record of a preserved cluster why its deletion, or that of its namespace, does not end, and lets record and keys go when a person says so. */
export function createRecordController(options: RecordControllerOptions): Controller {
  const { records, client, clock, log } = options;
  const recordClient = client.resource<ClusterRecord>(clusterRecordResource);
  const bundles = createBundleStore(client);

  async function say(record: ClusterRecord, condition: ConditionInput): Promise<void> {
    const { namespace, name } = record.metadata;
    const told = record.status?.conditions ?? [];
    const conditions = setCondition(told, condition, clock.now());
    if (conditions === told) return;
    const applied = { apiVersion: apiVersionOf(clusterRecordResource), kind: clusterRecordResource.kind, status: { conditions } };
    await recordClient.applyStatus({ ...applied, metadata: { namespace, name } }, { fieldManager: FIELD_MANAGER, force: true });
  }

  return createController({
    name: "clusterrecord",
    ...commonOptions(options),
    reconcile: async (key: ObjectKey) => {
      const known = records.store.get(key);
      if (known?.metadata.deletionTimestamp === undefined || !hasFinalizer(known, finalizers.clusterRecord)) return undefined;
      // What is let go cannot be made again: everything is read now.
      const [record, controlPlane] = await Promise.all([recordClient.tryGet(key), client.resource(talosControlPlaneResource).tryGet(key)]);
      if (record === undefined) return undefined;
      const decision = decideRecord(record, controlPlane !== undefined);
      if (decision.kind === "hold") await say(record, decision.condition);
      if (decision.kind !== "release") return undefined;
      const { bundle } = record.spec;
      log.info(
        { namespace: key.namespace ?? "", name: key.name, secretName: bundle?.secretName },
        "Releasing the keys of a preserved cluster",
      );
      if (bundle !== undefined) await bundles.delete({ namespace: key.namespace, name: bundle.secretName }, bundle.fingerprint);
      try {
        await removeFinalizer(recordClient, record, finalizers.clusterRecord);
        await deleteExactly(recordClient, record);
      } catch (thrown) {
        if (!isNotFound(thrown)) throw thrown;
      }
      return undefined;
    },
    watches: [watchOf({ informer: records, why: "it is being deleted, or a person lets it go", predicate: specOrMetadataChanged })],
  });
}

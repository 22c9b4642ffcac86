import type { JsonObject } from "../../json.ts";
import { metadataOf, objectAt, stringAt, withMetadata } from "../../request/json.ts";
import { each, fill, inside } from "./fill.ts";
import { defaultTemplate } from "./pod.ts";

/** Fills in what a Deployment may leave out. */
export function defaultDeployment(deployment: JsonObject): JsonObject {
  return inside(deployment, "spec", (spec) => {
    const filled = fill(defaultTemplate(spec), { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600, strategy: {} });
    return inside(filled, "strategy", (strategy) => {
      const typed = fill(strategy, { type: "RollingUpdate" });
      if (typed["type"] !== "RollingUpdate") return typed;
      return { ...typed, rollingUpdate: fill(objectAt(typed, "rollingUpdate"), { maxUnavailable: "25%", maxSurge: "25%" }) };
    });
  });
}

/** Fills in what a StatefulSet may leave out. */
export function defaultStatefulSet(set: JsonObject): JsonObject {
  return inside(set, "spec", (spec) => {
    const filled = fill(defaultTemplate(spec), {
      replicas: 1,
      revisionHistoryLimit: 10,
      podManagementPolicy: "OrderedReady",
      updateStrategy: {},
      persistentVolumeClaimRetentionPolicy: {},
    });
    const withPolicies = inside(
      inside(filled, "persistentVolumeClaimRetentionPolicy", (policy) => fill(policy, { whenDeleted: "Retain", whenScaled: "Retain" })),
      "updateStrategy",
      (strategy) => {
        const typed = fill(strategy, { type: "RollingUpdate" });
        return typed["type"] === "RollingUpdate"
          ? { ...typed, rollingUpdate: fill(objectAt(typed, "rollingUpdate"), { partition: 0 }) }
          : typed;
      },
    );
    return each(withPolicies, "volumeClaimTemplates", (claim) =>
      pending(defaultClaim({ apiVersion: "v1", kind: "PersistentVolumeClaim", ...claim })),
    );
  });
}

/** Fills in what a DaemonSet may leave out. */
export function defaultDaemonSet(set: JsonObject): JsonObject {
  return inside(set, "spec", (spec) =>
    inside(fill(defaultTemplate(spec), { revisionHistoryLimit: 10, updateStrategy: {} }), "updateStrategy", (strategy) => {
      const typed = fill(strategy, { type: "RollingUpdate" });
      if (typed["type"] !== "RollingUpdate") return typed;
      return { ...typed, rollingUpdate: fill(objectAt(typed, "rollingUpdate"), { maxSurge: 0, maxUnavailable: 1 }) };
    }),
  );
}

/** Fills in what a ReplicaSet may leave out. */
export function defaultReplicaSet(set: JsonObject): JsonObject {
  return inside(set, "spec", (spec) => fill(defaultTemplate(spec), { replicas: 1 }));
}

/** Fills in what a ReplicationController may leave out; it takes labels and selector from its template. */
export function defaultReplicationController(set: JsonObject): JsonObject {
  const filled = defaultReplicaSet(set);
  const labels = objectAt(objectAt(objectAt(objectAt(filled, "spec"), "template"), "metadata"), "labels");
  if (Object.keys(labels).length === 0) return filled;
  const labelled = metadataOf(filled)["labels"] === undefined ? withMetadata(filled, { labels }) : filled;
  return inside(labelled, "spec", (spec) => fill(spec, { selector: labels }));
}

function defaultJobSpec(spec: JsonObject): JsonObject {
  const filled = fill(defaultTemplate(spec), {
    // Who limits retries of each index does not limit them all.
    backoffLimit: spec["backoffLimitPerIndex"] === undefined ? 6 : 2_147_483_647,
    completionMode: "NonIndexed",
    podReplacementPolicy: spec["podFailurePolicy"] === undefined ? "TerminatingOrFailed" : "Failed",
    suspend: false,
    manualSelector: false,
  });
  const isOpen = filled["completions"] === undefined && filled["parallelism"] === undefined;
  return fill(filled, { ...(isOpen ? { completions: 1 } : {}), parallelism: 1 });
}

/** Fills in what a Job may leave out. */
export function defaultJob(job: JsonObject): JsonObject {
  const filled = inside(job, "spec", defaultJobSpec);
  const labels = objectAt(metadataOf(objectAt(objectAt(job, "spec"), "template")), "labels");
  const isLabelled = Object.keys(objectAt(metadataOf(job), "labels")).length > 0 || Object.keys(labels).length === 0;
  return isLabelled ? filled : withMetadata(filled, { labels });
}

/** Gives a new Job a selector and labels that belong to it alone. */
export function selectJob(job: JsonObject): JsonObject {
  const spec = objectAt(job, "spec");
  if (spec["manualSelector"] === true) return job;
  const uid = stringAt(metadataOf(job), "uid") ?? "";
  const name = stringAt(metadataOf(job), "name") ?? "";
  const template = objectAt(spec, "template");
  const templateMeta = objectAt(template, "metadata");
  const labels = {
    ...objectAt(templateMeta, "labels"),
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
  const selected: JsonObject = {
    ...spec,
    selector: spec["selector"] ?? { matchLabels: { "batch.kubernetes.io/controller-uid": uid } },
    template: { ...template, metadata: { ...templateMeta, labels } },
  };
  const own = objectAt(metadataOf(job), "labels");
  return withMetadata({ ...job, spec: selected }, { labels: Object.keys(own).length === 0 ? labels : own });
}

/** Fills in what a CronJob may leave out. */
export function defaultCronJob(cronJob: JsonObject): JsonObject {
  return inside(cronJob, "spec", (spec) =>
    inside(
      fill(spec, { concurrencyPolicy: "Allow", suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 }),
      "jobTemplate",
      (template) => inside(template, "spec", defaultTemplate),
    ),
  );
}

/** A claim or volume that nobody has bound yet. */
export function pending(object: JsonObject): JsonObject {
  return { ...object, status: fill(objectAt(object, "status"), { phase: "Pending" }) };
}

/** Fills in what a PersistentVolumeClaim may leave out. */
export function defaultClaim(claim: JsonObject): JsonObject {
  return inside(claim, "spec", (spec) => fill(spec, { volumeMode: "Filesystem" }));
}

/** Fills in what a CSIDriver may leave out. */
export function defaultDriver(driver: JsonObject): JsonObject {
  return inside(driver, "spec", (spec) =>
    fill(spec, {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      volumeLifecycleModes: ["Persistent"],
      requiresRepublish: false,
      seLinuxMount: false,
    }),
  );
}

/** Fills in what a PersistentVolume may leave out. */
export function defaultVolume(volume: JsonObject): JsonObject {
  return inside(volume, "spec", (spec) =>
    inside(fill(spec, { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" }), "hostPath", (path) =>
      fill(path, { type: "" }),
    ),
  );
}

/** Fills in what a NetworkPolicy may leave out. */
export function defaultNetworkPolicy(policy: JsonObject): JsonObject {
  return inside(policy, "spec", (spec) => {
    const hasEgress = Array.isArray(spec["egress"]) && spec["egress"].length > 0;
    const ports = (rule: JsonObject): JsonObject => each(rule, "ports", (port) => fill(port, { protocol: "TCP" }));
    return each(each(fill(spec, { policyTypes: hasEgress ? ["Ingress", "Egress"] : ["Ingress"] }), "ingress", ports), "egress", ports);
  });
}

/** Fills in what an EndpointSlice may leave out. */
export function defaultEndpointSlice(slice: JsonObject): JsonObject {
  return each(slice, "ports", (port) => fill(port, { name: "", protocol: "TCP" }));
}

/** Fills in what Endpoints may leave out. */
export function defaultEndpoints(endpoints: JsonObject): JsonObject {
  return each(endpoints, "subsets", (subset) => each(subset, "ports", (port) => fill(port, { protocol: "TCP" })));
}

import type { JsonObject } from "../json.ts";
import type { DifferentialCase, Resource, Step } from "./run-case.ts";

const kind = (apiVersion: string, name: string, plural: string, namespaced = false): Resource => ({
  apiVersion,
  kind: name,
  plural,
  namespaced,
});
const storageClass = kind("storage.k8s.io/v1", "StorageClass", "storageclasses");
const ingressClass = kind("networking.k8s.io/v1", "IngressClass", "ingressclasses");
const runtimeClass = kind("node.k8s.io/v1", "RuntimeClass", "runtimeclasses");
const volume = kind("v1", "PersistentVolume", "persistentvolumes");
const pod = kind("v1", "Pod", "pods", true);
const job = kind("batch/v1", "Job", "jobs", true);

const said = (body: JsonObject): Step => ({ do: "create", body, query: { dryRun: "All" }, verdictOnly: true });
const made = (body: JsonObject): Step => ({ do: "create", body, verdictOnly: true });
const patched = (body: JsonObject): Step => ({ do: "merge", body, query: { dryRun: "All" }, verdictOnly: true });
const podOf = (spec: JsonObject): JsonObject => ({ spec: { containers: [{ name: "c", image: "i" }], ...spec } });
const jobOf = (spec: JsonObject): JsonObject => ({
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } }, ...spec },
});
const deadline = (activeDeadlineSeconds: number | null): Step => patched({ spec: { activeDeadlineSeconds } });

/** Classes, what objects get from them, and what of objects stays as it was made. */
export const classCases: readonly DifferentialCase[] = [
  {
    name: "class of storage stays what it is",
    resource: storageClass,
    steps: [
      said({ provisioner: "" }),
      made({ provisioner: "a.b/c", parameters: { a: "b" } }),
      patched({ provisioner: "x" }),
      patched({ parameters: { a: "c" } }),
      patched({ parameters: null }),
      patched({ reclaimPolicy: "Retain" }),
      patched({ volumeBindingMode: "WaitForFirstConsumer" }),
      patched({ allowVolumeExpansion: true, mountOptions: ["x"] }),
    ],
  },
  {
    name: "class of ingresses",
    resource: ingressClass,
    steps: [
      said({ spec: {} }),
      said({ spec: { controller: "bad" } }),
      said({ spec: { controller: "Example.com/" } }),
      made({ metadata: { annotations: { "ingressclass.kubernetes.io/is-default-class": "false" } }, spec: { controller: "a.b/c" } }),
      patched({ spec: { controller: "x.y/z" } }),
      { do: "merge", body: { metadata: { annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } } }, verdictOnly: true },
      { do: "table" },
    ],
  },
  {
    name: "class of runtimes",
    resource: runtimeClass,
    steps: [said({}), made({ handler: "runc" }), patched({ handler: "x" }), patched({ overhead: { podFixed: { cpu: "1" } } })],
  },
  {
    name: "pod of a runtime that nobody knows",
    resource: pod,
    steps: [said(podOf({ runtimeClassName: "nobody-knows" })), said(podOf({ overhead: { cpu: "1" } }))],
  },
  {
    name: "pod that brings a priority of its own",
    resource: pod,
    steps: [
      said(podOf({ priority: 5 })),
      said(podOf({ priority: 0 })),
      said(podOf({ priority: 5, priorityClassName: "system-node-critical" })),
      said(podOf({ preemptionPolicy: "Never" })),
    ],
  },
  {
    name: "pod whose scheduling is held back",
    resource: pod,
    steps: [
      { do: "create", body: podOf({ schedulingGates: [{ name: "a.b/c" }], nodeSelector: { x: "y" } }), statusOnly: true },
      { do: "table" },
      patched({ spec: { nodeSelector: { x: "y", b: "c" } } }),
      patched({ spec: { nodeSelector: { x: "z" } } }),
      patched({ spec: { nodeSelector: { x: null } } }),
      patched({ spec: { schedulingGates: [{ name: "d.e/f" }] } }),
      patched({ spec: { schedulingGates: [{ name: "a.b/c" }, { name: "d.e/f" }] } }),
      patched({ spec: { schedulingGates: null } }),
    ],
  },
  {
    name: "pod of which little may change",
    resource: pod,
    steps: [
      made(podOf({ activeDeadlineSeconds: 100, tolerations: [{ key: "z", operator: "Exists", effect: "NoExecute" }] })),
      deadline(200),
      deadline(null),
      deadline(50),
      patched({ spec: { tolerations: null } }),
      { ...patched({ spec: { terminationGracePeriodSeconds: 1 } }), statusOnly: true },
      { ...patched({ spec: { nodeSelector: { a: "b" } } }), statusOnly: true },
    ],
  },
  {
    name: "volume that stays where it is",
    resource: volume,
    steps: [
      made({ spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } } }),
      { ...patched({ spec: { hostPath: { path: "/y" } } }), statusOnly: true },
      patched({ spec: { persistentVolumeReclaimPolicy: "Delete" } }),
    ],
  },
  {
    name: "job with limits by index, and with a policy of failures",
    resource: job,
    steps: [
      {
        do: "create",
        body: jobOf({
          completionMode: "Indexed",
          completions: 3,
          backoffLimitPerIndex: 1,
          manualSelector: true,
          selector: { matchLabels: { a: "b" } },
          template: { metadata: { labels: { a: "b" } }, spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } },
        }),
      },
      patched({ spec: { completions: 5 } }),
      patched({ spec: { completions: 5, parallelism: 5 } }),
      patched({ spec: { podReplacementPolicy: "Failed" } }),
    ],
  },
];

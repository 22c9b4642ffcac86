import assert from "node:assert/strict";
import type { KubeTransport } from "@talos-operator/ports";
import { kubernetesClusterResource } from "../vitistack/kubernetes-cluster.ts";

const path = `/apis/${kubernetesClusterResource.group}/${kubernetesClusterResource.version}/namespaces/default/${kubernetesClusterResource.plural}`;

type Spec = Readonly<Record<string, unknown>>;

const flat: Spec = {
  clusterName: "demo",
  kubernetesVersion: "v1.33.6",
  controlPlane: { replicas: 3, machineTemplate: { spec: {} } },
  workers: [{ name: "workers", replicas: 2 }],
};
const data: Spec = {
  clusterId: "demo",
  clusterUid: "1",
  datacenter: "hall-1",
  environment: "dev",
  project: "demo",
  provider: "talos",
  region: "north",
  workorder: "1",
  workspace: "demo",
  zone: "Øst",
};
const topology: Spec = { version: "1.33", controlplane: { replicas: 1, version: "1.33" }, workers: [{ name: "a", replicas: 2 }] };
const nested: Spec = { data, topology };
const withWorkers = (workers: unknown): Spec => ({ data, topology: { ...topology, workers } });
const withMachine = (machine: Spec): Spec => ({ ...flat, talosConfig: { machine: { type: "controlplane", ...machine } } });
const secretRef = { name: "mine" };
const ca = { crt: "Y3J0", key: "a2V5" };
const without = (spec: Spec, key: string): Spec => Object.fromEntries(Object.entries(spec).filter(([name]) => name !== key));

/** A KubernetesCluster is created with one spec, or updated from one to another. */
export interface ClusterRuleCase {
  readonly name: string;
  /** Absent: the case is a create. */
  readonly from?: Spec;
  readonly to: Spec;
  /** What the refusal says; absent when it is taken. */
  readonly refused?: RegExp;
  /** The groups of workers as stored, defaults filled in; absent where nobody looks. */
  readonly storedWorkers?: unknown;
}

/** Each rule of the KubernetesCluster that is this operator's own, kept and broken. */
export const clusterRuleCases: readonly ClusterRuleCase[] = [
  { name: "takes the flat shape", to: flat },
  { name: "takes the flat shape without workers", to: without(flat, "workers") },
  { name: "takes data and topology with a list of groups, a zone beyond ASCII included", to: nested },
  {
    name: "stores a listed group as it was written, so that a second apply finds it the same (A123)",
    to: nested,
    storedWorkers: [{ name: "a", replicas: 2 }],
  },
  {
    name: "keeps a field that a listed group does not have, for the operator to answer",
    to: withWorkers([{ name: "a", replicas: 2, machineclass: "large", metadata: { labels: {}, annotations: {} } }]),
    storedWorkers: [{ name: "a", replicas: 2, machineclass: "large", metadata: { labels: {}, annotations: {} } }],
  },
  {
    name: "refuses a field that a part of a listed group does not have",
    to: withWorkers([{ name: "a", replicas: 2, metadata: { labels: {}, annotations: {}, label: {} } }]),
    refused: /unknown field "spec\.topology\.workers\[0\]\.metadata\.label"/,
  },
  { name: "takes an empty list of groups", to: withWorkers([]) },
  {
    name: "takes networks, endpoint and Talos settings beside topology",
    to: {
      ...nested,
      podSubnets: ["10.1.0.0/16"],
      talosVersion: "v1.13.7",
      endpointMode: "none",
      talosConfig: { install: { disk: "/dev/vda" } },
    },
  },
  { name: "refuses both shapes at once", to: { ...flat, ...nested }, refused: /two shapes of one thing/ },
  { name: "refuses neither shape", to: { podSubnets: ["10.244.0.0/16"] }, refused: /two shapes of one thing/ },
  { name: "refuses an empty spec", to: {}, refused: /two shapes of one thing/ },
  { name: "refuses topology without data", to: { topology }, refused: /data and topology belong together/ },
  { name: "refuses data with the flat shape", to: { ...flat, data }, refused: /data and topology belong together/ },
  { name: "refuses the flat shape without clusterName", to: without(flat, "clusterName"), refused: /controlPlane needs clusterName/ },
  { name: "refuses kubernetesVersion beside topology", to: { ...nested, kubernetesVersion: "v1.33.6" }, refused: /go with controlPlane/ },
  { name: "refuses the name of a cluster beside topology", to: { ...nested, clusterName: "demo" }, refused: /go with controlPlane/ },
  ...[0, 2, -1].map((replicas): ClusterRuleCase => ({
    name: `refuses ${replicas} control planes`,
    to: { ...flat, controlPlane: { replicas } },
    refused: /must be odd|greater than or equal to 1/,
  })),
  {
    name: "refuses a number of workers below 0",
    to: { ...flat, workers: [{ name: "a", replicas: -1 }] },
    refused: /greater than or equal to 0/,
  },
  { name: "takes groups of no workers", to: { ...flat, workers: [{ name: "a", replicas: 0 }] } },
  {
    name: "refuses two groups of one name",
    to: {
      ...flat,
      workers: [
        { name: "a", replicas: 1 },
        { name: "a", replicas: 2 },
      ],
    },
    refused: /Duplicate value/,
  },
  { name: "refuses a listed group without a name", to: withWorkers([{ replicas: 2 }]), refused: /workers\[0\]\.name: Required value/ },
  { name: "refuses a listed group without replicas", to: withWorkers([{ name: "a" }]), refused: /workers\[0\]\.replicas: Required value/ },
  {
    name: "refuses an unknown architecture in a listed group",
    to: withWorkers([{ name: "a", replicas: 1, architecture: "sparc" }]),
    refused: /Unsupported value: "sparc"/,
  },
  { name: "refuses groups of workers as a text", to: withWorkers("a"), refused: /topology\.workers/ },
  { name: "refuses groups of workers as an empty text", to: withWorkers(""), refused: /topology\.workers/ },
  { name: "refuses groups of workers as a number", to: withWorkers(1), refused: /topology\.workers/ },
  { name: "refuses groups of workers as a truth value", to: withWorkers(true), refused: /topology\.workers/ },
  { name: "refuses an object without nodePools", to: withWorkers({}), refused: /nodePools: Required value/ },
  {
    name: "refuses nodePools beside control planes that are not written out",
    to: withWorkers({ nodePools: [] }),
    refused: /machineClass|anyOf/,
  },
  { name: "takes secrets that are given whole", to: withMachine({ token: "a.b", ca }) },
  { name: "refuses a token without the authority", to: withMachine({ token: "a.b" }), refused: /give type, token and ca together/ },
  { name: "takes settings of machines without secrets", to: { ...flat, talosConfig: { machine: { certSANs: ["api.example.com"] } } } },
  {
    name: "refuses an authority without its key",
    to: withMachine({ token: "a.b", ca: { crt: ca.crt } }),
    refused: /ca\.key: Required value/,
  },
  { name: "takes secrets by reference", to: { ...flat, talosConfig: { machine: { secretRef } } } },
  { name: "takes secrets by reference beside a role", to: withMachine({ secretRef }) },
  { name: "refuses secrets in two places", to: withMachine({ token: "a.b", ca, secretRef }), refused: /and not both/ },
  {
    name: "refuses another token",
    from: withMachine({ token: "a.b", ca }),
    to: withMachine({ token: "a.c", ca }),
    refused: /token is immutable/,
  },
  {
    name: "refuses another authority",
    from: withMachine({ token: "a.b", ca }),
    to: withMachine({ token: "a.b", ca: { ...ca, key: "bw==" } }),
    refused: /ca is immutable/,
  },
  {
    name: "refuses another reference",
    from: withMachine({ secretRef }),
    to: withMachine({ secretRef: { name: "other" } }),
    refused: /secretRef\.name is immutable/,
  },
  { name: "refuses secrets that come later", from: flat, to: withMachine({ secretRef }), refused: /cannot be added later/ },
  { name: "takes given secrets out of the manifest", from: withMachine({ token: "a.b", ca }), to: flat },
  { name: "scales both ways", from: flat, to: { ...flat, controlPlane: { replicas: 5 }, workers: [] } },
  { name: "refuses another clusterName", from: flat, to: { ...flat, clusterName: "other" }, refused: /clusterName is immutable/ },
  {
    name: "refuses another clusterId",
    from: nested,
    to: { ...nested, data: { ...data, clusterId: "other" } },
    refused: /clusterId is immutable/,
  },
  { name: "takes other words in data", from: nested, to: { ...nested, data: { ...data, zone: "Vest" } } },
  { name: "refuses the other shape", from: flat, to: nested, refused: /the shape cannot change/ },
  { name: "refuses the other shape, the other way", from: nested, to: flat, refused: /the shape cannot change/ },
  { name: "takes another version", from: nested, to: { ...nested, topology: { ...topology, version: "1.34" } } },
];

/** Runs one case against a Kubernetes API with the CRD installed, and asserts its outcome. `name` must be free in namespace `default`. */
export async function assertClusterRule(
  transport: KubeTransport,
  name: string,
  { from, to, refused, storedWorkers }: ClusterRuleCase,
): Promise<void> {
  const cluster = { apiVersion: "vitistack.io/v1alpha1", kind: "KubernetesCluster", metadata: { name } };
  const query = { fieldValidation: "Strict" };
  const created = await transport.send({ method: "POST", path, query, body: { ...cluster, spec: from ?? to } });
  const isCreate = from === undefined;
  if (!isCreate) assert.equal(created.status, 201, JSON.stringify(created.body));
  const { metadata } = created.body as { readonly metadata?: unknown };
  const answer = isCreate
    ? created
    : await transport.send({ method: "PUT", path: `${path}/${name}`, query, body: { ...cluster, metadata, spec: to } });
  // What the schema does not know is refused before anything is validated.
  const refusal = String(refused).includes("unknown field") ? 400 : 422;
  assert.equal(answer.status, refused === undefined ? (isCreate ? 201 : 200) : refusal, JSON.stringify(answer.body));
  if (refused !== undefined) assert.match((answer.body as { message: string }).message, refused);
  if (storedWorkers !== undefined)
    assert.deepEqual((answer.body as { spec: { topology: { workers: unknown } } }).spec.topology.workers, storedWorkers);
}

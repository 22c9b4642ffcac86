import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { crds, validateBackupScheduleSpec, validateBackupSpec, validateControlPlaneSpec } from "@talos-operator/api";
import type { TalosCluster, TalosControlPlane, TalosEtcdBackup, TalosEtcdBackupSchedule, TalosWorker } from "@talos-operator/api";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";

const folder = new URL("../../config/samples/", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, folder), "utf8");

it("the samples show every kind that people write, and the API takes each, and each example, as it stands, no field unknown (B119-B128)", async () => {
  const { clock, timers } = createVirtualTime();
  const server = await createApiServer({ store: createMemoryStore(), clock, timers, random: createSeededRandom(1) });
  const kube = server.transport({ name: "somebody", groups: ["system:masters"] });
  const post = async (path: string, body: unknown): Promise<void> => {
    const { status, body: answer } = await kube.send({ method: "POST", path, query: { fieldValidation: "Strict" }, body });
    assert.equal(status, 201, JSON.stringify(answer));
  };
  for (const crd of crds) await post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
  const { resources } = parseKubernetesYaml(read("kustomization.yaml"))[0] as { resources: readonly string[] };
  assert.deepEqual(
    readdirSync(folder)
      .filter((file) => file !== "kustomization.yaml")
      .toSorted(),
    resources.toSorted(),
  );
  const shown = new Set<string>();
  for (const file of resources) {
    const [object] = parseKubernetesYaml(read(file)) as readonly { apiVersion: string; kind: string }[];
    const kind = crds.find(({ spec }) => spec.names.kind === object?.kind && object.apiVersion.startsWith(`${spec.group}/`));
    assert.ok(object !== undefined && kind !== undefined, file);
    await post(`/apis/${object.apiVersion}/namespaces/default/${kind.spec.names.plural}`, object);
    shown.add(object.kind);
  }
  // What the demo takes: its own endpoint on loopback, and a folder.
  const demo = { allowLoopback: true, insecureHosts: ["127.0.0.1:9333"], hasDirectory: true };
  const examples = new URL("../../examples/", import.meta.url);
  const files = readdirSync(examples).filter((file) => file.startsWith("talos-"));
  assert.ok(files.length >= 7);
  for (const file of files) {
    const [object] = parseKubernetesYaml(readFileSync(new URL(file, examples), "utf8")) as readonly (
      TalosControlPlane | TalosWorker | TalosCluster | TalosEtcdBackup | TalosEtcdBackupSchedule
    )[];
    assert.ok(object !== undefined);
    await post(`/apis/${object.apiVersion}/namespaces/default/${object.kind.toLowerCase()}s`, object);
    if (object.kind === "TalosEtcdBackup") assert.deepEqual(validateBackupSpec(object.spec, demo), [], file);
    if (object.kind === "TalosEtcdBackupSchedule") assert.deepEqual(validateBackupScheduleSpec(object.spec, demo), [], file);
    const { controlPlane } =
      object.kind === "TalosCluster"
        ? (object.spec ?? {})
        : { controlPlane: object.kind === "TalosControlPlane" ? object.spec : undefined };
    if (controlPlane !== undefined) assert.deepEqual(validateControlPlaneSpec(controlPlane), [], file);
  }
  // ClusterRecords are the operator's own.
  const written = crds.map(({ spec }) => spec.names.kind).filter((kind) => kind !== "ClusterRecord");
  assert.deepEqual([...shown].toSorted(), written.toSorted());
  server.close();
});

it("examples/simple-kubernetescluster.yaml is the example that this kind was first shown with, as it was written (A109)", () => {
  const file = new URL("../../examples/simple-kubernetescluster.yaml", import.meta.url);
  assert.deepEqual(parseKubernetesYaml(readFileSync(file, "utf8")), [
    {
      apiVersion: "vitistack.io/v1alpha1",
      kind: "KubernetesCluster",
      metadata: { name: "simple-cluster" },
      spec: {
        data: {
          clusterUid: "a30fbc8d-596f-48d0-8541-dbc23bca28a1",
          clusterId: "simple-cluster-id",
          provider: "talos",
          environment: "dev",
          datacenter: "trd1",
          project: "simple-project",
          region: "west-trondelag",
          workorder: "simple-workorder",
          zone: "Trøndelag",
          workspace: "simple-workspace",
        },
        topology: {
          version: "1.33",
          controlplane: { replicas: 1, version: "1.33" },
          workers: [{ name: "worker-pool-1", replicas: 2, version: "1.33" }],
        },
      },
    },
  ]);
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { clusterMachineIndex, clusterMachineName, findingsMessage, normaliseCluster } from "../index.ts";
import type { ClusterModel, KubernetesCluster, KubernetesClusterSpec, NormalisedCluster } from "../index.ts";
import { data, defaults, flatCluster, nestedCluster } from "./testing/clusters.ts";

const read = (cluster: KubernetesCluster) => normaliseCluster(cluster, defaults);
const modelOf = (result: NormalisedCluster): ClusterModel => result.model ?? assert.fail(findingsMessage(result.problems));
const fieldsOf = ({ problems }: NormalisedCluster) => problems.map(({ field }) => field);
const PEM = Buffer.from("-----BEGIN X-----\nAA==\n-----END X-----\n").toString("base64");
const machinesOf = (model: ClusterModel) =>
  model.groups.flatMap((group) => Array.from({ length: group.replicas }, (_, index) => clusterMachineName(model, group, index)));

describe("a cluster in the flat shape", () => {
  it("names its machines after cluster and group, from 0 (A008, A032, A033)", () => {
    assert.deepEqual(machinesOf(modelOf(read(flatCluster()))), [
      "simple-cluster-cp-0",
      "simple-cluster-cp-1",
      "simple-cluster-cp-2",
      "simple-cluster-workers-0",
      "simple-cluster-workers-1",
    ]);
  });

  it("has versions, endpoint and defaults as written down (A009-A013, A022)", () => {
    const { groups: _, ...model } = modelOf(read(flatCluster()));
    assert.deepEqual(model, {
      name: "simple-cluster",
      clusterId: "simple-cluster",
      kubernetesVersion: "v1.28.3",
      talosVersion: "v1.5.5",
      endpoint: { mode: "given", url: "https://192.168.1.100:6443" },
      certSANs: [],
      podSubnets: ["10.244.0.0/16"],
      serviceSubnets: ["10.96.0.0/12"],
      dnsDomain: "cluster.local",
      install: { disk: "/dev/sda", isDefaultDisk: true, bootloader: true, wipe: false, extraKernelArgs: [] },
      kubelet: { extraArgs: {} },
      inventory: {},
    });
  });

  it("copies every field of the template (A015, A036)", () => {
    const spec = { provider: "proxmox", cpu: { cores: 4 }, providerConfig: { config: { pool: "a" } }, tags: { team: "b" } };
    const [control] = modelOf(read(flatCluster({ controlPlane: { replicas: 1, machineTemplate: { spec } } }))).groups;
    assert.deepEqual(control?.machineSpec, spec);
  });

  it("reads a template that holds only a comment as an empty one (A083)", () => {
    const machineTemplate = { spec: null as never };
    const { groups } = modelOf(read(flatCluster({ workers: [{ name: "workers", replicas: 2, machineTemplate }] })));
    assert.deepEqual(groups[1]?.machineSpec, { provider: "default" });
  });
});

describe("a cluster in the shape with data and topology", () => {
  it("is named after the object, and its Talos cluster after clusterId (A096, A108)", () => {
    const model = modelOf(read(nestedCluster()));
    assert.equal(model.clusterId, "simple-cluster-id");
    assert.deepEqual(machinesOf(model), ["simple-cluster-cp-0", "simple-cluster-worker-pool-1-0", "simple-cluster-worker-pool-1-1"]);
    assert.equal(model.inventory.zone, "Trøndelag");
  });

  it("reads a version without patch as the newest known one, and says so (A098)", () => {
    const result = read(nestedCluster());
    assert.equal(modelOf(result).kubernetesVersion, "v1.33.6");
    assert.deepEqual(
      result.resolvedVersions.find(({ written }) => written !== ""),
      {
        of: "kubernetes",
        field: "spec.topology.version",
        written: "1.33",
        version: "v1.33.6",
      },
    );
  });

  it("makes disks of storage: names, sizes in GiB, the first boots", () => {
    const storage = [
      { class: "fast", path: "", size: "20Gi" },
      { class: "", path: "/data", size: "1.5Ti" },
    ];
    const result = read(nestedCluster({ workers: [{ name: "a", replicas: 1, storage }] }));
    assert.deepEqual(modelOf(result).groups[1]?.machineSpec.disks, [
      { name: "disk-0", boot: true, sizeGB: 20, type: "fast" },
      { name: "disk-1", boot: false, sizeGB: 1536 },
    ]);
    assert.deepEqual(
      result.inertFields.map(({ field }) => field),
      ["spec.topology.workers[0].storage[1].path"],
    );
  });

  it("gives labels, annotations and taints to Machines and nodes (V22)", () => {
    const group = {
      name: "a",
      replicas: 1,
      metadata: { labels: { team: "b", "node.kubernetes.io/pool": "a" }, annotations: { "example.com/why": "because of this" } },
      taint: [{ key: "gpu", value: "yes", effect: "NoSchedule" }],
    };
    const [, worker] = modelOf(read(nestedCluster({ workers: { nodePools: [group] } }))).groups;
    assert.deepEqual(worker?.labels, { "node.kubernetes.io/pool": "a", team: "b" });
    assert.deepEqual(worker?.annotations, { "example.com/why": "because of this" });
    assert.deepEqual(worker?.taints, [{ key: "gpu", value: "yes", effect: "NoSchedule" }]);
  });

  it("answers what does nothing: autoscaling, mount paths, labels of Kubernetes and of the operator (O14)", () => {
    const group = {
      name: "a",
      replicas: 1,
      metadata: { labels: { "node-role.kubernetes.io/worker": "", "vitistack.io/clusterid": "other" }, annotations: {} },
      autoscaling: { enabled: true, minReplicas: 1, maxReplicas: 5, scalingRules: ["cpu"] },
      storage: [{ class: "", path: "/x", size: "1Gi" }],
    };
    const result = read(nestedCluster({ workers: { nodePools: [group] } }));
    const at = "spec.topology.workers.nodePools[0]";
    assert.deepEqual(
      result.inertFields.map(({ field }) => field),
      [
        `${at}.autoscaling`,
        `${at}.metadata.labels["node-role.kubernetes.io/worker"]`,
        `${at}.metadata.labels["vitistack.io/clusterid"]`,
        `${at}.storage[0].path`,
      ],
    );
    assert.deepEqual(modelOf(result).groups[1]?.labels, {});
  });
});

describe("a misspelt field in workers, which no schema types", () => {
  it("is answered by its path (O14)", () => {
    const fields = (workers: unknown) => read(nestedCluster({ workers: workers as never })).inertFields.map(({ field }) => field);
    assert.deepEqual(fields([{ name: "a", replicas: 1, machineclass: "large", taints: [] }]), [
      "spec.topology.workers[0].machineclass",
      "spec.topology.workers[0].taints",
    ]);
    assert.deepEqual(fields({ nodePools: [{ name: "a", replicas: 1 }], pools: [] }), ["spec.topology.workers.pools"]);
    assert.deepEqual(fields([{ name: "a", replicas: 1, machineClass: "large", taint: [] }]), []);
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`${"x".repeat(100)}${index}`, 1]));
    assert.equal(fields([{ name: "a", replicas: 1, ...many }]).length, 5);
  });
});

describe("what both shapes share", () => {
  it("takes networks, domain, installation, kubelet and names from talosConfig (A018-A021)", () => {
    const model = modelOf(
      read(
        nestedCluster(
          {},
          {
            talosConfig: {
              machine: { certSANs: ["API.example.com"], kubelet: { extraArgs: { "max-pods": "200" } } },
              cluster: { network: { dnsDomain: "k8s.example.com", podSubnets: ["10.200.0.0/16"], serviceSubnets: ["10.100.0.0/16"] } },
              install: { disk: "/dev/vda", image: "factory/x:v1.13.7", wipe: true, bootloader: false, extraKernelArgs: ["quiet"] },
            },
          },
        ),
      ),
    );
    assert.deepEqual(model.certSANs, ["api.example.com"]);
    assert.deepEqual([model.dnsDomain, model.podSubnets, model.serviceSubnets], ["k8s.example.com", ["10.200.0.0/16"], ["10.100.0.0/16"]]);
    assert.deepEqual(model.install, {
      disk: "/dev/vda",
      isDefaultDisk: false,
      image: "factory/x:v1.13.7",
      wipe: true,
      bootloader: false,
      extraKernelArgs: ["quiet"],
    });
    assert.deepEqual(model.kubelet, { extraArgs: { "max-pods": "200" } });
  });

  it("takes an endpoint that stands in talosConfig alone, and words that stand twice and agree (A018)", () => {
    const url = "https://10.0.0.9:6443";
    const talosConfig = { cluster: { controlPlane: { endpoint: url } } };
    const { clusterEndpoint: _given, ...rest } = flatCluster().spec ?? {};
    assert.deepEqual(modelOf(read({ ...flatCluster(), spec: { ...rest, talosConfig } })).endpoint, { mode: "given", url });
    assert.deepEqual(modelOf(read(nestedCluster({}, { talosConfig }))).endpoint, { mode: "given", url });
    const twice = { name: "simple-cluster", controlPlane: { endpoint: url }, network: { serviceSubnets: ["10.97.0.0/16"] } };
    const model = modelOf(read(flatCluster({ clusterEndpoint: url, serviceSubnets: ["10.97.0.0/16"], talosConfig: { cluster: twice } })));
    assert.deepEqual([model.name, model.endpoint, model.serviceSubnets], ["simple-cluster", { mode: "given", url }, ["10.97.0.0/16"]]);
  });

  it("answers what the install document of Talos 1.14 has no place for, and takes it before (A019, A021)", () => {
    const install = { extraKernelArgs: ["quiet"], bootloader: false };
    const asked = (talosVersion: string, more: object = install) =>
      normaliseCluster(nestedCluster({}, { talosVersion, talosConfig: { install: more } }), {
        ...defaults,
        knownTalosVersions: [talosVersion],
      });
    const newer = asked("v1.14.0");
    assert.deepEqual(fieldsOf(newer), ["spec.talosConfig.install.extraKernelArgs"]);
    assert.match(findingsMessage(newer.problems), /schematic/);
    assert.deepEqual(
      newer.inertFields.map(({ field }) => field),
      ["spec.talosConfig.install.bootloader"],
    );
    assert.deepEqual(fieldsOf(asked("v1.14.0", { disk: "/dev/vda", extraKernelArgs: [], bootloader: true })), []);
    const older = asked("v1.13.9");
    assert.deepEqual([fieldsOf(older), older.inertFields, older.model?.install.extraKernelArgs], [[], [], ["quiet"]]);
  });

  it("takes the endpoint mode of the cluster before that of the operator, and a given endpoint before both (D5)", () => {
    const modeOf = (spec: Partial<KubernetesClusterSpec>, more = {}) =>
      modelOf(normaliseCluster(nestedCluster({}, spec), { ...defaults, ...more })).endpoint;
    assert.deepEqual(modeOf({}), { mode: "shared" });
    assert.deepEqual(modeOf({ endpointMode: "networkconfiguration" }, { endpointMode: "talosvip" }), { mode: "shared" });
    const custom = { endpointMode: "custom", customEndpoint: ["fd00::1", "api.example.com"] } as const;
    assert.deepEqual(modeOf({ endpointMode: "none" }, custom), { mode: "none" });
    assert.deepEqual(modeOf({}, custom), { mode: "given", url: "https://[fd00::1]:6443" });
    assert.deepEqual(modeOf({ clusterEndpoint: "https://10.0.0.1:6443" }, custom), { mode: "given", url: "https://10.0.0.1:6443" });
    // Only a cluster that says so itself has its control planes hold the address: an operator's setting is not about addresses that are there already.
    const held = { mode: "given", url: "https://[fd00::9]:6443", heldAddress: "fd00::9" };
    assert.deepEqual(modeOf({ clusterEndpoint: "https://[fd00::9]:6443", endpointMode: "talosvip" }), held);
    const operators = modeOf({ clusterEndpoint: "https://10.0.0.1:6443" }, { endpointMode: "talosvip" });
    assert.deepEqual(operators, { mode: "given", url: "https://10.0.0.1:6443" });
  });
});

describe("secrets that are given", () => {
  it("are known by their place, and their values are no part of the model (A017)", () => {
    const machine = { type: "controlplane", token: "a.secret", ca: { crt: PEM, key: PEM } };
    const model = modelOf(read(flatCluster({ talosConfig: { machine } })));
    assert.deepEqual(model.givenSecrets, { kind: "inline" });
    assert.doesNotMatch(JSON.stringify(model), /a\.secret|LS0tLS/);
    const named = modelOf(read(nestedCluster({}, { talosConfig: { machine: { secretRef: { name: "mine" } } } })));
    assert.deepEqual(named.givenSecrets, { kind: "secret", name: "mine" });
  });
});

describe("a shared address", () => {
  it("is asked for with the words of data, and where there are none that is said (O14)", () => {
    const said = (cluster: KubernetesCluster) => read(cluster).inertFields.map(({ field }) => field);
    const mode = { endpointMode: "networkconfiguration" } as const;
    assert.deepEqual(said(nestedCluster({}, mode)), []);
    assert.deepEqual(said(nestedCluster({}, { data: { ...data, networkNamespaceName: "net" } })), []);
    const { clusterEndpoint: _given, ...flat } = flatCluster().spec ?? {};
    assert.deepEqual(said({ ...flatCluster(), spec: { ...flat, ...mode } }), ["spec.endpointMode"]);
    assert.deepEqual(said({ ...flatCluster(), spec: flat }), []);
  });
});

describe("bad input", () => {
  const cases: readonly {
    readonly name: string;
    readonly cluster: KubernetesCluster;
    readonly fields: readonly string[];
    readonly says?: RegExp;
  }[] = [
    {
      name: "both shapes at once",
      cluster: flatCluster(nestedCluster().spec),
      fields: ["spec"],
      says: /both/,
    },
    { name: "neither shape", cluster: { ...flatCluster(), spec: { podSubnets: ["10.244.0.0/16"] } }, fields: ["spec"], says: /neither/ },
    { name: "no spec at all", cluster: { ...flatCluster(), spec: undefined } as never, fields: ["spec"] },
    { name: "topology without data", cluster: nestedCluster({}, { data: undefined } as never), fields: ["spec.data"] },
    {
      name: "flat fields beside topology",
      cluster: nestedCluster({}, { kubernetesVersion: "v1.33.6" }),
      fields: ["spec.kubernetesVersion"],
    },
    { name: "a version that is no version", cluster: flatCluster({ kubernetesVersion: "example" }), fields: ["spec.kubernetesVersion"] },
    {
      name: "a minor that nobody knows",
      cluster: nestedCluster({ version: "1.99" }),
      fields: ["spec.topology.version"],
      says: /1\.32, 1\.33, 1\.36/,
    },
    { name: "a minor with pre-releases only", cluster: nestedCluster({ version: "1.37" }), fields: ["spec.topology.version"] },
    { name: "a Talos version that is none", cluster: flatCluster({ talosVersion: "latest" }), fields: ["spec.talosVersion"] },
    {
      name: "workers newer than their control planes",
      cluster: nestedCluster({ workers: [{ name: "a", replicas: 1, version: "1.36" }] }),
      fields: ["spec.topology.workers[0].version"],
      says: /never newer/,
    },
    ...[0, 2, -1, 9, 1.5, 1e9].map((replicas) => ({
      name: `${replicas} control planes`,
      cluster: nestedCluster({ controlplane: { replicas, version: "1.33" } }),
      fields:
        replicas === 1e9
          ? ["spec.topology.controlplane.replicas", "spec.topology.controlplane.replicas"]
          : ["spec.topology.controlplane.replicas"],
    })),
    ...[-1, 1e9, Number.MAX_VALUE].map((replicas) => ({
      name: `${replicas} workers`,
      cluster: nestedCluster({ workers: [{ name: "a", replicas }] }),
      fields:
        replicas === Number.MAX_VALUE
          ? ["spec.topology.workers[0].replicas", "spec.topology.workers[0].replicas"]
          : ["spec.topology.workers[0].replicas"],
    })),
    {
      name: "a name too long for the names of machines",
      cluster: flatCluster({ clusterName: "a".repeat(55) }),
      fields: ["spec.workers[0].name"],
      says: /has 65 characters.*Shorten spec\.clusterName or the name of the group by 2/,
    },
    {
      name: "a name that fits until the tenth machine",
      cluster: flatCluster({ clusterName: "a".repeat(53), workers: [{ name: "workers", replicas: 11 }] }),
      fields: ["spec.workers[0].name"],
    },
    {
      name: "two groups of one name",
      cluster: nestedCluster({
        workers: [
          { name: "a", replicas: 1 },
          { name: "a", replicas: 1 },
        ],
      }),
      fields: ["spec.topology.workers[1].name"],
    },
    {
      name: "a group with the name of the control planes",
      cluster: nestedCluster({ workers: [{ name: "cp", replicas: 1 }] }),
      fields: ["spec.topology.workers[0].name", "spec.topology.workers[0].name"],
    },
    {
      name: "a disk that is no size",
      cluster: nestedCluster({ workers: [{ name: "a", replicas: 1, storage: [{ class: "", path: "", size: "big" }] }] }),
      fields: ["spec.topology.workers[0].storage[0].size"],
    },
    {
      name: "a taint without a known effect",
      cluster: nestedCluster({ workers: [{ name: "a", replicas: 1, taint: [{ key: "x", value: "", effect: "Evict" }] }] }),
      fields: ["spec.topology.workers[0].taint[0].effect"],
    },
    {
      name: "two networks for pods that differ",
      cluster: flatCluster({ podSubnets: ["10.1.0.0/16"], talosConfig: { cluster: { network: { podSubnets: ["10.2.0.0/16"] } } } }),
      fields: ["spec.talosConfig.cluster.network.podSubnets"],
      says: /spec\.podSubnets/,
    },
    {
      name: "two networks for services that differ",
      cluster: flatCluster({
        serviceSubnets: ["10.97.0.0/16"],
        talosConfig: { cluster: { network: { serviceSubnets: ["10.98.0.0/16"] } } },
      }),
      fields: ["spec.talosConfig.cluster.network.serviceSubnets"],
      says: /spec\.serviceSubnets/,
    },
    {
      name: "two endpoints that differ",
      cluster: flatCluster({ talosConfig: { cluster: { controlPlane: { endpoint: "https://10.0.0.9:6443" } } } }),
      fields: ["spec.talosConfig.cluster.controlPlane.endpoint"],
      says: /spec\.clusterEndpoint/,
    },
    {
      name: "two names that differ",
      cluster: flatCluster({ talosConfig: { cluster: { name: "other" } } }),
      fields: ["spec.talosConfig.cluster.name"],
      says: /spec\.clusterName/,
    },
    { name: "an endpoint that is no URL", cluster: flatCluster({ clusterEndpoint: "example" }), fields: ["spec.clusterEndpoint"] },
    {
      name: "an endpoint inside the network of services",
      cluster: flatCluster({ clusterEndpoint: "https://10.96.0.1:6443" }),
      fields: ["spec.clusterEndpoint"],
    },
    {
      name: "endpoint mode custom without an address",
      cluster: nestedCluster({}, { endpointMode: "custom" }),
      fields: ["spec.clusterEndpoint"],
    },
    {
      name: "endpoint mode talosvip without the address that the control planes are to hold",
      cluster: nestedCluster({}, { endpointMode: "talosvip" }),
      fields: ["spec.clusterEndpoint"],
      says: /Write clusterEndpoint/,
    },
    {
      name: "endpoint mode talosvip with a name, which no machine can hold",
      cluster: nestedCluster({}, { endpointMode: "talosvip", clusterEndpoint: "https://api.example.com:6443" }),
      fields: ["spec.clusterEndpoint"],
    },
    {
      name: "endpoint mode talosvip on a Talos that has no document for it",
      cluster: nestedCluster({}, { endpointMode: "talosvip", clusterEndpoint: "https://10.0.0.9:6443", talosVersion: "v1.11.5" }),
      fields: ["spec.endpointMode"],
      says: /1\.12/,
    },
    {
      name: "secrets that are no secrets",
      cluster: flatCluster({ talosConfig: { machine: { type: "controlplane", token: "a b", ca: { crt: "Y3J0", key: "@" } } } }),
      fields: ["spec.talosConfig.machine.token", "spec.talosConfig.machine.ca.crt", "spec.talosConfig.machine.ca.key"],
      says: /base64 -w0/,
    },
    {
      name: "half of the secrets",
      cluster: flatCluster({ talosConfig: { machine: { type: "controlplane", token: "a.b" } } }),
      fields: ["spec.talosConfig.machine"],
    },
    {
      name: "secrets in two places",
      cluster: flatCluster({ talosConfig: { machine: { token: "a.b", ca: { crt: PEM, key: PEM }, secretRef: { name: "x" } } } }),
      fields: ["spec.talosConfig.machine.secretRef"],
    },
    {
      name: "an installation disk by id",
      cluster: flatCluster({ talosConfig: { install: { disk: "/dev/disk/by-id/x" } } }),
      fields: ["spec.talosConfig.install.disk"],
    },
  ];
  for (const { name, cluster, fields, says } of cases)
    it(`names the field: ${name}`, () => {
      const result = read(cluster);
      assert.deepEqual(fieldsOf(result), fields);
      assert.equal(result.model, undefined);
      for (const { message, remedy } of result.problems) assert.ok(message.length > 0 && /^[A-Z]/.test(remedy), remedy);
      if (says !== undefined) assert.match(findingsMessage(result.problems), says);
    });

  const hostile = [
    "",
    "..",
    "../../etc",
    "a/b",
    "A",
    "a_b",
    "a.b",
    "-a",
    "a-",
    "a\nb",
    'a"b',
    "a: b",
    "ø",
    "a ",
    "__proto__",
    "constructor ",
    "${x}",
    "a".repeat(64),
  ];
  for (const text of hostile)
    it(`refuses ${JSON.stringify(text.slice(0, 20))} as the name of a cluster, an id and a group (V12, V42)`, () => {
      assert.ok(fieldsOf(read(flatCluster({ clusterName: text }))).includes("spec.clusterName"));
      assert.ok(fieldsOf(read(nestedCluster({}, { data: { ...data, clusterId: text } }))).includes("spec.data.clusterId"));
      assert.ok(fieldsOf(read(nestedCluster({ workers: [{ name: text, replicas: 1 }] }))).includes("spec.topology.workers[0].name"));
      assert.ok(fieldsOf(read({ ...nestedCluster(), metadata: { name: text } })).includes("metadata.name"));
    });

  it("keeps secrets out of what it says", () => {
    const talosConfig = { machine: { type: "worker", token: "sesame", ca: { crt: "sesame", key: "sesame" } }, cluster: { name: "x" } };
    const { problems, inertFields } = read(flatCluster({ talosConfig }));
    assert.doesNotMatch(JSON.stringify([problems, inertFields]), /sesame/);
  });

  it("says what is wrong with any workers that no schema checked, and never throws", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (workers) => {
        const { problems, model } = read(nestedCluster({ workers: workers as never }));
        assert.ok(problems.length > 0 || model !== undefined);
      }),
    );
  });
});

describe("the name of a machine", () => {
  it("gives back its index, and nothing for names of others (V12)", () => {
    const text = fc.stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/);
    fc.assert(
      fc.property(text, text, text, fc.nat({ max: 99_999 }), (name, group, other, index) => {
        const machine = clusterMachineName({ name }, { name: group }, index);
        assert.equal(clusterMachineIndex({ name }, { name: group }, machine), index);
        if (other !== group) assert.equal(clusterMachineIndex({ name }, { name: other }, machine), undefined);
      }),
    );
    for (const text of ["c-a-", "c-a-01", "c-a-1e3", "c-a--1", "c-a-0x1", "c-a-1 "])
      assert.equal(clusterMachineIndex({ name: "c" }, { name: "a" }, text), undefined);
  });
});

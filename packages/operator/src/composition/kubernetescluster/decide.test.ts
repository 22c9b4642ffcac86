import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { normaliseCluster } from "@talos-operator/api";
import type { KubernetesCluster, TalosControlPlane, TalosMachine, TalosWorker, VitistackMachine } from "@talos-operator/api";
import { decideComposition } from "./decide.ts";
import { clusterDefaults } from "./defaults.ts";
import { withHeldEndpoint } from "./held-endpoint.ts";
import { machineAnnotations, machineLabels } from "./keys.ts";
import { machineManifest } from "./machine-manifest.ts";
import type { Decision, Seen } from "./model.ts";
import { compose } from "./plan.ts";
import { phaseWords, statusAfter } from "./status.ts";

const NOW = Date.parse("2026-01-01T00:10:00Z");
const finalizers = ["cluster.vitistack.io/finalizer"];

function cluster(over: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): KubernetesCluster {
  return {
    apiVersion: "vitistack.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: {
      namespace: "default",
      name: "demo",
      uid: "uid-1",
      generation: 2,
      creationTimestamp: "2026-01-01T00:00:00Z",
      finalizers,
      ...metadata,
    },
    spec: {
      clusterName: "demo",
      clusterEndpoint: "https://10.0.0.100:6443",
      controlPlane: { replicas: 1, machineTemplate: { spec: {} } },
      workers: [{ name: "a", replicas: 1, machineTemplate: { spec: {} } }],
      ...over,
    },
  };
}

function seen(object: KubernetesCluster, over: Partial<Seen> = {}): Seen {
  const { model, problems, inertFields, shape, resolvedVersions } = normaliseCluster(object, clusterDefaults({}));
  return {
    cluster: object,
    model,
    problems,
    inertFields,
    resolvedVersions,
    shape,
    olderTwin: undefined,
    machines: [],
    holderOf: () => undefined,
    controlPlane: undefined,
    workers: [],
    talosMachines: [],
    holding: new Set(),
    now: NOW,
    isPausedAfterFiles: false,
    ...over,
  };
}

/** Everything as it is when nothing is left to do. */
function settled(object: KubernetesCluster): Seen {
  const bare = seen(object);
  assert.ok(bare.model !== undefined);
  const { machines, pools } = compose(bare, bare.model);
  const status = {
    conditions: [
      { type: "Ready", status: "True", reason: "AllReady", message: "", observedGeneration: 1, lastTransitionTime: "2026-01-01T00:00:00Z" },
    ],
  } as const;
  const controlPlane = pools.find((pool): pool is TalosControlPlane => pool.kind === "TalosControlPlane");
  const workers = pools.filter((pool): pool is TalosWorker => pool.kind === "TalosWorker");
  return {
    ...bare,
    machines: machines.map((machine) => ({
      ...machine,
      metadata: { ...machine.metadata, annotations: { ...machine.metadata.annotations, [machineAnnotations.nodeAddress]: "10.0.0.1" } },
    })),
    controlPlane:
      controlPlane === undefined ? undefined : { ...controlPlane, metadata: { ...controlPlane.metadata, generation: 1 }, status },
    workers: workers.map((worker) => ({ ...worker, metadata: { ...worker.metadata, generation: 1 }, status })),
  };
}

/** What a pass reads of an edited object. */
function asRead(edited: KubernetesCluster): Pick<Seen, "cluster" | "model" | "inertFields"> {
  const { model, inertFields } = seen(edited);
  return { cluster: edited, model, inertFields };
}

const reasonOf = (decision: Decision, type: string): string | undefined => decision.conditions.find((one) => one.type === type)?.reason;

test("composition: what is wrong with the spec stops everything and names the field (A050)", () => {
  const decision = decideComposition(seen(cluster({ controlPlane: { replicas: 2, machineTemplate: { spec: {} } } })));
  assert.deepEqual(
    [reasonOf(decision, "TopologyValid"), decision.stage, decision.apply, decision.files],
    ["ValidationFailed", "invalid", [], undefined],
  );
  assert.match(decision.message, /spec\.controlPlane\.replicas/);
});

test("composition: an address that control planes hold stays, and another one that leads elsewhere is passed on", () => {
  const held = settled(cluster({ endpointMode: "talosvip" }));
  const url = "https://10.0.0.101:6443";
  const edited = cluster({ endpointMode: "talosvip", clusterEndpoint: url });
  const kept = withHeldEndpoint({ ...held, ...asRead(edited) });
  assert.deepEqual(kept.model?.endpoint, { mode: "given", url: "https://10.0.0.100:6443", heldAddress: "10.0.0.100" });
  assert.deepEqual(
    kept.inertFields.map(({ field }) => field),
    ["spec.clusterEndpoint"],
  );
  const plain = settled(cluster());
  const moved = withHeldEndpoint({ ...plain, ...asRead(cluster({ clusterEndpoint: url })) });
  assert.deepEqual(moved.model?.endpoint, { mode: "given", url });
  // Who begins to hold one gives none up.
  const begins = withHeldEndpoint({ ...plain, ...asRead(edited) });
  assert.deepEqual(begins.model?.endpoint, { mode: "given", url, heldAddress: "10.0.0.101" });
});

test("composition: a cluster that is named otherwise than it was made keeps all it has, and says so", () => {
  const before = settled(cluster());
  const { model } = seen(cluster({ clusterName: "other" }));
  const decision = decideComposition({ ...before, cluster: cluster({ clusterName: "other" }), model });
  assert.deepEqual(
    [reasonOf(decision, "Ready"), decision.apply, decision.applyPools, decision.deletePools, decision.release],
    ["ClusterMismatch", [], [], [], []],
  );
  assert.match(decision.message, /was made as demo, and spec\.clusterName makes it other/);
});

test("composition: a spec that became wrong leaves in place what the control plane says of etcd", () => {
  const world = settled(cluster());
  assert.ok(world.controlPlane !== undefined);
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const conditions = [
    { type: "Bootstrapped", status: "True", reason: "Bootstrapped", message: "Founded.", lastTransitionTime },
    { type: "EtcdHealthy", status: "False", reason: "MemberMissing", message: "One is missing.", lastTransitionTime },
  ] as const;
  const wrong = seen(cluster({ controlPlane: { replicas: 2, machineTemplate: { spec: {} } } }));
  const decision = decideComposition({ ...world, ...wrong, controlPlane: { ...world.controlPlane, status: { conditions } } });
  assert.deepEqual(
    [decision.stage, reasonOf(decision, "Bootstrapped"), reasonOf(decision, "EtcdHealthy")],
    ["invalid", "Bootstrapped", "MemberMissing"],
  );
});

test("composition: a spec that became wrong takes no readiness from what runs", () => {
  const world = settled(cluster());
  assert.ok(world.controlPlane !== undefined);
  const at = { message: "", observedGeneration: 1, lastTransitionTime: "2026-01-01T00:00:00Z" };
  const conditions = [
    { ...at, type: "Bootstrapped", status: "True", reason: "Bootstrapped" },
    { ...at, type: "Ready", status: "True", reason: "AllReady" },
  ] as const;
  const wrong = seen(cluster({ controlPlane: { replicas: 2, machineTemplate: { spec: {} } } }));
  const { controlPlane, workers } = { ...world, controlPlane: { ...world.controlPlane, status: { conditions } } };
  const decision = decideComposition({ ...world, ...wrong, controlPlane, workers });
  assert.deepEqual(
    [decision.stage, reasonOf(decision, "Ready"), reasonOf(decision, "TopologyValid"), decision.applyPools],
    ["ready", "AllReady", "ValidationFailed", []],
  );
});

test("composition: an old or a future Talos is the fault of talosVersion, and an unknown Kubernetes that of its own field", () => {
  const fieldsOf = (over: Record<string, unknown>) => seen(cluster(over)).problems.map(({ field, remedy }) => [field, remedy]);
  const kubernetesVersion = "v1.36.3";
  for (const talosVersion of ["v1.4.0", "v1.99.0"])
    assert.deepEqual(fieldsOf({ talosVersion, kubernetesVersion }), [["spec.talosVersion", "Write another talosVersion"]]);
  const together = [["spec.kubernetesVersion", "Choose versions that go together"]];
  assert.deepEqual(fieldsOf({ talosVersion: "v1.13.9", kubernetesVersion: "v1.99.1" }), together);
});

test("composition: the address that control planes are to hold is no machine's own", () => {
  const world = settled(cluster({ endpointMode: "talosvip", clusterEndpoint: "https://10.0.0.1:6443" }));
  const decision = decideComposition(world);
  assert.deepEqual([decision.stage, reasonOf(decision, "Ready"), decision.applyPools], ["invalid", "DuplicateAddress", []]);
  assert.match(decision.message, /10\.0\.0\.1 .*demo-cp-0/);
  const free = settled(cluster({ endpointMode: "talosvip" }));
  assert.equal(decideComposition(free).stage, "ready");
  assert.match(
    decideComposition({ ...free, olderHolder: "KubernetesCluster default/other" }).message,
    /KubernetesCluster default\/other, which is older, hold 10\.0\.0\.100/,
  );
});

test("composition: the finalizer comes before anything is made (A045)", () => {
  const decision = decideComposition(seen(cluster({}, { finalizers: [] })));
  assert.deepEqual([decision.addFinalizer, decision.apply, decision.files, decision.applyPools], [true, [], undefined, []]);
});

test("composition: Machines, their files and the pools that refer to them", () => {
  const decision = decideComposition(seen(cluster()));
  assert.deepEqual(
    decision.apply.map(({ metadata }) => metadata.name),
    ["demo-cp-0", "demo-a-0"],
  );
  assert.equal(decision.files, decision.apply);
  assert.deepEqual(
    decision.applyPools.map(({ kind, metadata, spec }) => [
      kind,
      metadata.name,
      spec?.metalSpec?.machines?.map(({ machineRef }) => machineRef?.name),
    ]),
    [
      ["TalosControlPlane", "demo", ["demo-cp-0"]],
      ["TalosWorker", "demo-a", ["demo-a-0"]],
    ],
  );
  assert.equal(reasonOf(decision, "Ready"), "MachinesNotCreated");
});

test("composition: settled it is Ready, and nothing leaves", () => {
  const decision = decideComposition(settled(cluster()));
  assert.deepEqual([decision.stage, reasonOf(decision, "Ready"), decision.release, decision.deletePools], ["ready", "AllReady", [], []]);
});

test("composition: a Machine is released only when its pool has seen the list, nothing stands for it, and the record does not hold it (V7, V11)", () => {
  const before = settled(cluster({ workers: [{ name: "a", replicas: 2, machineTemplate: { spec: {} } }] }));
  const now = { ...before, ...seen(cluster(), { machines: before.machines, controlPlane: before.controlPlane }) };
  const shrunk = (over: Partial<Seen>): Decision => decideComposition({ ...now, workers: settled(cluster()).workers, ...over });
  const talosMachine = { metadata: { namespace: "default", name: "demo-a-demo-a-1" } } as TalosMachine;
  const names = (decision: Decision): readonly string[] => decision.release.map(({ metadata }) => metadata.name);
  assert.deepEqual(names(shrunk({})), ["demo-a-1"]);
  assert.deepEqual(names(shrunk({ talosMachines: [talosMachine] })), [], "its TalosMachine is there");
  assert.deepEqual(names(shrunk({ holding: new Set(["demo-a-demo-a-1"]) })), [], "the record holds it");
  assert.deepEqual(names(shrunk({ holding: undefined })), [], "the record was not read");
  assert.deepEqual(names(shrunk({ workers: before.workers })), [], "its pool lists it");
  const [pool] = settled(cluster()).workers;
  assert.ok(pool !== undefined);
  assert.deepEqual(
    names(shrunk({ workers: [{ ...pool, metadata: { ...pool.metadata, generation: 2 } }] })),
    [],
    "its pool has not seen the list",
  );
});

test("composition: a Machine stays what its cluster has it as, and gets its labels back, whatever people write on it", () => {
  const world = settled(cluster());
  const edits: readonly (readonly [string, Record<string, string>, Record<string, string>])[] = [
    ["another role", { [machineLabels.role]: "infra" }, {}],
    ["the role of control planes", { [machineLabels.role]: "controlplane", [machineLabels.nodeRole]: "control-plane" }, {}],
    ["another group", { [machineLabels.workerGroup]: "b" }, { [machineAnnotations.nodePool]: "b" }],
    ["no labels", { [machineLabels.role]: "", [machineLabels.nodeRole]: "" }, {}],
  ];
  const names = (list: readonly { readonly metadata: { readonly name: string } }[]): readonly string[] =>
    list.map(({ metadata }) => metadata.name);
  for (const [what, labels, annotations] of edits)
    for (const edited of ["demo-a-0", "demo-cp-0"]) {
      const machines = world.machines.map((machine) =>
        machine.metadata.name === edited
          ? {
              ...machine,
              metadata: {
                ...machine.metadata,
                labels: { ...machine.metadata.labels, ...labels },
                annotations: { ...machine.metadata.annotations, ...annotations },
              },
            }
          : machine,
      );
      const talosMachines = ["demo-demo-cp-0", "demo-a-demo-a-0"].map(
        (name) => ({ metadata: { namespace: "default", name } }) as TalosMachine,
      );
      const holding = new Set(names(talosMachines));
      for (const over of [
        { talosMachines, holding },
        { talosMachines: [], holding },
      ]) {
        const decision = decideComposition({ ...world, machines, ...over });
        assert.deepEqual(names(decision.release), [], `${edited}: ${what}`);
        assert.deepEqual(decision.apply, decideComposition(world).apply, `${edited}: ${what}`);
        assert.deepEqual(decision.applyPools, decideComposition(world).applyPools, `${edited}: ${what}`);
      }
      // Its pool lists it no more, and it holds the configuration still.
      const [pool] = world.workers;
      assert.ok(pool !== undefined);
      const workers = [{ ...pool, spec: { ...pool.spec, metalSpec: { machines: [] } } }] as unknown as Seen["workers"];
      assert.deepEqual(
        names(decideComposition({ ...world, machines, workers, talosMachines: [], holding }).release),
        [],
        `${edited}: ${what}`,
      );
    }
});

test("composition: a Machine whose owner was taken off stays in its pool, and no other is made in its place", () => {
  const world = settled(cluster({ controlPlane: { replicas: 3, machineTemplate: { spec: {} } } }));
  const listOf = ({ applyPools }: Decision): readonly (readonly [string, readonly (string | undefined)[]])[] =>
    applyPools.map(({ metadata, spec }) => [metadata.name, (spec?.metalSpec?.machines ?? []).map(({ machineRef }) => machineRef?.name)]);
  const before = listOf(decideComposition(world));
  for (const stray of ["demo-a-0", "demo-cp-0", "demo-cp-2"]) {
    const machines = world.machines.filter(({ metadata }) => metadata.name !== stray);
    const decision = decideComposition({ ...world, machines, holderOf: (name) => (name === stray ? "nobody" : undefined) });
    assert.deepEqual([listOf(decision), decision.deletePools, decision.release], [before, [], []], stray);
    assert.equal(
      decision.apply.some(({ metadata }) => metadata.name === stray),
      false,
      "it is not taken back",
    );
    assert.equal(reasonOf(decision, "Ready"), "NameConflict");
    assert.match(decision.message, new RegExp(`${stray} is nobody's\\..*keep their place`));
  }
});

test("composition: a pool of the name needed that is somebody else's is not touched", () => {
  const { controlPlane } = settled(cluster());
  assert.ok(controlPlane !== undefined);
  const theirs = { ...controlPlane, metadata: { ...controlPlane.metadata, ownerReferences: [] } };
  const decision = decideComposition(seen(cluster(), { controlPlane: theirs }));
  assert.deepEqual([reasonOf(decision, "Ready"), decision.apply, decision.applyPools], ["NameConflict", [], []]);
});

test("composition: deletion goes from workers to the control plane to Machines to files and finalizer (A059, A105)", () => {
  const whole = settled(cluster({}, { deletionTimestamp: "2026-01-01T00:05:00Z" }));
  const steps = [
    whole,
    { ...whole, workers: [] },
    { ...whole, workers: [], controlPlane: undefined, isAsked: true },
    { ...whole, workers: [], controlPlane: undefined, machines: [], isAsked: true },
  ].map((one) => decideComposition(one as Seen));
  assert.deepEqual(
    steps.map(({ deletePools, release, removeFiles, removeFinalizer }) => [
      deletePools.map(({ name }) => name),
      release.length,
      removeFiles,
      removeFinalizer,
    ]),
    [
      [["demo-a", "demo"], 0, false, false],
      [["demo"], 0, false, false],
      [[], 2, false, false],
      [[], 0, true, true],
    ],
  );
});

test("composition: a cluster that was not taken over yet is not deleted, and goes on going once it was", () => {
  const others = ["kubernetescluster.vitistack.io/finalizer", ...finalizers];
  const asked = { "talos.alperen.cloud/reconcile-mode": "import" };
  const deletionTimestamp = "2026-01-01T00:09:00Z";
  const going = (metadata: Record<string, unknown>): KubernetesCluster => cluster({}, { deletionTimestamp, ...metadata });
  const free = (world: Seen): Seen["machines"] => world.machines.map((one) => ({ ...one, metadata: { ...one.metadata, finalizers: [] } }));
  for (const metadata of [{ finalizers: others }, { annotations: asked }]) {
    const world = settled(going(metadata));
    const bare = { ...world, isAsked: true, machines: free(world) } as const;
    for (const over of [{}, { workers: [], controlPlane: undefined }]) {
      const held = decideComposition({ ...bare, ...over });
      assert.deepEqual([reasonOf(held, "Deleting"), held.deletePools, held.release, held.removeFinalizer], ["Blocked", [], [], false]);
    }
    const without = { ...bare, workers: [], controlPlane: undefined };
    assert.equal(decideComposition({ ...without, machines: world.machines }).release.length, 2, "its Machines are held: it was taken over");
    const status = { conditions: [{ type: "Deleting", status: "True", reason: "WaitingForChildren", message: "" }] };
    const goesOn = { ...bare.cluster, status } as unknown as KubernetesCluster;
    assert.equal(decideComposition({ ...without, cluster: goesOn }).release.length, 2, "its control plane went after it was taken over");
  }
});

test("composition: every stage has a word of each shape, and the flat one is one of four (A024, O4)", () => {
  for (const { flat } of Object.values(phaseWords)) assert.match(flat, /^(Pending|Provisioning|Running|Failed)$/);
});

test("status: equal news is the same object, words of others are left alone, and times move with the rest (A030)", () => {
  const world = settled(cluster());
  const decision = decideComposition(world);
  const first = statusAfter(undefined, world, decision);
  const others = { type: "Valid", status: "True", reason: "ValidationPassed", message: "", lastTransitionTime: "2025-01-01T00:00:00Z" };
  const stored = { ...first, conditions: [others, ...first.conditions] };
  const later = { ...world, now: NOW + 60_000 };
  assert.equal(statusAfter(stored, later, decision), stored);
  const changed = statusAfter(stored, { ...later, machines: [] }, decision);
  assert.deepEqual([changed.machineCount, changed.lastUpdated, first.lastUpdated], [0, "2026-01-01T00:11:00Z", "2026-01-01T00:10:00Z"]);
});

test("status: ready are the nodes that are Ready, not those that exist, and the control plane only with a healthy etcd (A026, A027)", () => {
  const word = (type: string, status: "True" | "False") => ({
    type,
    status,
    reason: "x",
    message: "",
    observedGeneration: 1,
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });
  const of = (etcd: "True" | "False", worker: "True" | "False") => {
    const world = settled(cluster());
    assert.ok(world.controlPlane !== undefined);
    const status = { conditions: [word("Ready", etcd), word("NodesReady", "True"), word("EtcdHealthy", etcd)] };
    const machine = { metadata: { name: "w" }, spec: { workerRef: { name: "demo-a" } }, status: { conditions: [word("Ready", worker)] } };
    const seenNow = { ...world, controlPlane: { ...world.controlPlane, status }, talosMachines: [machine as unknown as TalosMachine] };
    const { controlPlaneReady, workersReady, machineCount } = statusAfter(undefined, seenNow, decideComposition(seenNow));
    return [controlPlaneReady, workersReady, machineCount];
  };
  assert.deepEqual(
    [of("True", "True"), of("False", "True"), of("True", "False")],
    [
      [true, 1, 2],
      [false, 1, 2],
      [true, 0, 2],
    ],
  );
});

test("composition: a destroyed machine whose TalosMachine is gone is given up once it does not answer", () => {
  const world = settled(cluster());
  const going = world.machines.map((machine) =>
    machine.metadata.name === "demo-a-0"
      ? {
          ...machine,
          metadata: { ...machine.metadata, deletionTimestamp: "2026-01-01T00:09:00Z" },
          status: { phase: "Terminated" as const },
        }
      : machine,
  );
  const { pools } = compose({ ...world, machines: going }, world.model ?? assert.fail());
  const workers = pools.flatMap((pool) =>
    pool.kind === "TalosWorker" ? [{ ...pool, metadata: { ...pool.metadata, generation: 1 }, status: world.workers[0]?.status ?? {} }] : [],
  );
  const name = "demo-a-demo-a-0";
  const of = (silent: readonly string[], phase: "Terminated" | "Stopped" = "Terminated"): Decision =>
    decideComposition({
      ...world,
      machines: going.map((machine) => (machine.status === undefined ? machine : { ...machine, status: { phase } })),
      workers,
      holding: new Set([name]),
      silent: new Set(silent),
    });
  assert.deepEqual([of([]).needsRecord, of([]).abandon, of([]).release], [true, [], []], "it answers, or was not asked");
  assert.deepEqual(of([name]).abandon, [name]);
  assert.deepEqual(of([name], "Stopped").abandon, [], "its provider does not say that it is destroyed");
});

test("manifest: what a template says survives, whatever is in it, beside labels that tools select by (A031, A036, A037)", () => {
  const object = cluster({
    workers: [{ name: "a", replicas: 1, machineTemplate: { spec: { memory: 1024, machineClass: "large", tags: { x: "y" } } } }],
  });
  const { model } = seen(object);
  const [, group] = model?.groups ?? [];
  assert.ok(model !== undefined && group !== undefined);
  const manifest: VitistackMachine = machineManifest(object, model, group, "demo-a-0");
  const network = { dnsDomain: "cluster.local", podSubnets: ["10.244.0.0/16"], serviceSubnets: ["10.96.0.0/12"] };
  assert.deepEqual(manifest.spec, {
    memory: 1024,
    machineClass: "large",
    tags: { x: "y" },
    provider: "default",
    talosConfig: { machineType: "worker", clusterEndpoint: "https://10.0.0.100:6443", cluster: { network } },
  });
});

test("manifest: the networks and the disk that a cluster names are told, and no other disk (A037, A038)", () => {
  const object = cluster({ podSubnets: ["10.200.0.0/16"], talosConfig: { install: { disk: "/dev/vda" } } });
  const { model } = seen(object);
  const [group] = model?.groups ?? [];
  assert.ok(model !== undefined && group !== undefined);
  const { talosConfig } = machineManifest(object, model, group, "demo-cp-0").spec ?? {};
  assert.equal(talosConfig?.installDisk, "/dev/vda");
  assert.deepEqual(talosConfig.cluster?.network?.podSubnets, ["10.200.0.0/16"]);
});

test("manifest: a template is copied whole, whatever fields it has (A015, A036)", () => {
  const template = fc.dictionary(fc.stringMatching(/^[a-z][A-Za-z]{0,12}$/), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 6 });
  fc.assert(
    fc.property(template, template, (ofControlPlanes, ofWorkers) => {
      const object = cluster({
        controlPlane: { replicas: 1, machineTemplate: { spec: ofControlPlanes } },
        workers: [{ name: "a", replicas: 1, machineTemplate: { spec: ofWorkers } }],
      });
      const { model } = seen(object);
      const given = [ofControlPlanes, ofWorkers];
      assert.ok(model?.groups.length === 2);
      for (const [index, group] of model.groups.entries()) {
        const { talosConfig: _ours, ...spec } = machineManifest(object, model, group, "x").spec ?? {};
        const { talosConfig: _theirs, ...wanted } = given[index] ?? {};
        assert.deepEqual(spec, { provider: "default", ...wanted });
      }
    }),
    { numRuns: 50 },
  );
});

test("composition: of two clusters with one id the younger makes nothing (O13, V7)", () => {
  const decision = decideComposition({ ...seen(cluster({})), olderTwin: "other" });
  assert.equal(reasonOf(decision, "Ready"), "DuplicateCluster");
  assert.deepEqual([decision.addFinalizer, decision.files, decision.apply, decision.applyPools], [false, undefined, [], []]);
});

test("beside the operator that made it nothing of a cluster is written, and its phase stays what that one says", () => {
  const others = { finalizers: ["kubernetescluster.vitistack.io/finalizer"] };
  const status = { phase: phaseWords.ready.flat, conditions: [] } as unknown as NonNullable<KubernetesCluster["status"]>;
  const { stage, conditions, message, ...does } = decideComposition(
    seen({ ...cluster({}, others), status }, { beside: "viti wrote the status" }),
  );
  assert.equal(stage, "ready");
  assert.match(message, /viti wrote the status/);
  assert.equal(conditions.find(({ type }) => type === "AnotherOperatorActive")?.status, "True");
  assert.equal(conditions.find(({ type }) => type === "Ready")?.reason, "AnotherOperatorActive");
  assert.deepEqual(
    Object.values(does).filter((one) => one !== undefined && one !== false && !(Array.isArray(one) && one.length === 0)),
    [],
  );
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { clusterRecordResource, talosEtcdBackupResource, talosEtcdBackupScheduleResource } from "@talos-operator/api";
import type { ClusterRecord, TalosControlPlane, TalosEtcdBackup, TalosEtcdBackupSchedule, TalosMachine } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { configured, controlPlane, decidedPass, facts, machinesOf, observed, printRecord, without } from "@talos-operator/operator/testing";
import type {
  Action,
  CheckOf,
  ClusterFacts,
  DecidedPass,
  EffectKind,
  Leading,
  Observed,
  PassOptions,
} from "@talos-operator/operator/testing";
import { fingerprintSecretsBundle, generateSecretsBundle, printSecretsBundle } from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import { createStory, kinds } from "../stories/story.ts";
import type { Story } from "../stories/story.ts";

type SecretObject = KubeObject & { readonly data?: Readonly<Record<string, string>> };

interface Crd {
  readonly spec: {
    readonly versions: readonly {
      readonly schema: {
        readonly openAPIV3Schema: {
          readonly properties: { readonly spec: { readonly properties: Record<string, unknown>; "x-kubernetes-validations"?: unknown } };
        };
      };
    }[];
  };
}

const writer = { identity: "one", fencingToken: "1/1" };
const key = { namespace: "default", name: "demo" };
const follower: Leading = { identity: "two", fencingToken: "2", mayDisturb: true, remainingMs: () => 15_000, confirm: async () => false };

type Given = PassOptions;

interface World {
  readonly story: Story;
  readonly seen: Observed;
  readonly pass: (given?: Given, seen?: Observed) => Promise<DecidedPass>;
  /** @returns what was thrown */
  readonly carryOut: (action: Action, given?: Given, seen?: Observed) => Promise<unknown>;
  readonly bundle: (seed: number) => Promise<SecretsBundle>;
  readonly putBundle: (name: string, bundle: SecretsBundle, labels?: Readonly<Record<string, string>>) => Promise<SecretObject>;
  readonly record: (facts: ClusterFacts) => Promise<ClusterRecord>;
  readonly secret: (name: string) => Promise<SecretObject | undefined>;
  /** What passes wrote. */
  readonly written: readonly string[];
}

/** An API server with one control plane, no machines and no operator. */
async function within(use: (world: World) => Promise<void>): Promise<void> {
  const story = await createStory({ machines: [] });
  const { client, keys, time } = story;
  const passes: DecidedPass[] = [];
  const written: string[] = [];
  const noting = createKubeClient({
    ...client.transport,
    send(request, options) {
      if (request.method !== "GET") written.push(`${request.method} ${request.path}`);
      return client.transport.send(request, options);
    },
  });
  try {
    const { metadata: wanted, ...rest } = controlPlane(1);
    const { uid: _uid, generation: _generation, ...metadata } = wanted;
    const made = await client.resource<TalosControlPlane>(kinds.controlPlane).create({ ...rest, metadata });
    const seen = observed({ controlPlane: made, hasObjects: false });
    const world: World = {
      story,
      seen,
      async pass(given = {}, over = seen) {
        const dialer = story.datacenter.dialer(time.clock);
        const pass = await decidedPass(
          { client: noting, dialer, keys, clock: time.clock, timers: time.timers, random: createSeededRandom(9) },
          over,
          given,
        );
        passes.push(pass);
        return pass;
      },
      carryOut: async (action, given, over) => (await world.pass(given, over)).carryOut([action]),
      bundle: (seed) => generateSecretsBundle({ contract: "1.13", clock: time.clock, random: createSeededRandom(seed), keys }),
      putBundle: (name, bundle, labels = { "talos-operator.dev/secret": "bundle" }) =>
        client.resource<SecretObject>(kinds.secret).create({
          apiVersion: "v1",
          kind: "Secret",
          metadata: { namespace: "default", name, labels },
          data: { bundle: Buffer.from(printSecretsBundle(bundle)).toString("base64") },
        }),
      record: (known) => client.resource<ClusterRecord>(clusterRecordResource).create(printRecord(key, known, undefined, writer)),
      written,
      secret: (name) => client.resource<SecretObject>(kinds.secret).tryGet({ namespace: "default", name }),
    };
    await use(world);
  } finally {
    for (const pass of passes) pass.close();
    await story.end();
  }
}

const codeOf = (thrown: unknown): unknown => (thrown as { readonly code?: unknown } | undefined)?.code;
const factsOf = (bundle: SecretsBundle, over: Partial<ClusterFacts> = {}): ClusterFacts =>
  facts({
    clusterId: bundle.cluster.id,
    bundle: { secretName: "demo-bundle-1", fingerprint: fingerprintSecretsBundle(bundle), wasFound: false },
    ...over,
  });

const schedules = (story: Story) => story.client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource);
const backups = async (story: Story): Promise<readonly TalosEtcdBackup[]> =>
  (await story.client.resource<TalosEtcdBackup>(talosEtcdBackupResource).list({ namespace: "default" })).items;
const putSchedule = (story: Story, paused = false): Promise<TalosEtcdBackupSchedule> =>
  schedules(story).create({
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackupSchedule",
    metadata: { namespace: "default", name: "nightly" },
    spec: {
      schedule: "0 2 * * *",
      ...(paused ? { paused } : {}),
      backupTemplate: {
        metadata: { labels: { team: "a" } },
        spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: {} } },
      },
    },
  });
const takeSnapshot = (ifUid: string | undefined): Action => ({
  kind: "TakeSnapshot",
  name: "nightly-before-risk-1",
  attempt: 1,
  schedule: "nightly",
  ifUid: ifUid ?? "",
  machines: ["demo-10.0.0.1", "demo-10.0.0.2"],
  happens: "leave",
});

describe("making keys", () => {
  const make: Action = { kind: "CreateBundle", secret: "demo-bundle-1" };
  /** The service account's key is made beside the passes. */
  const ready = async (pass: DecidedPass, story: Story): Promise<unknown> => {
    await pass.carryOut([make]);
    await story.time.advance(2_000);
    return pass.carryOut([make]);
  };

  test("makes them once, and leaves keys that are there as they are", () =>
    within(async ({ story, pass, secret }) => {
      assert.equal(await ready(await pass(), story), undefined);
      const first = await secret("demo-bundle-1");
      assert.ok(first !== undefined);
      await ready(await pass(), story);
      assert.deepEqual(await secret("demo-bundle-1"), first);
    }));

  test("takes keys for stored only when they were: where another Secret came first, its keys are those of the cluster", () =>
    within(async ({ story, pass, secret, bundle, putBundle }) => {
      const begun = await pass();
      await begun.carryOut([make]);
      await story.time.advance(2_000);
      const theirs = await putBundle("demo-bundle-1", await bundle(1));
      assert.equal(await begun.carryOut([make]), undefined);
      assert.deepEqual(await secret("demo-bundle-1"), theirs);
      const { session } = begun.effects;
      assert.deepEqual(
        { known: session.bundle, sent: session.sent().get("CreateBundle"), credentials: session.credentialsFor },
        { known: undefined, sent: undefined, credentials: undefined },
      );
    }));

  test("makes none for a cluster whose record is there by now", () =>
    within(async ({ story, pass, secret, bundle, record }) => {
      const begun = await pass();
      await record(factsOf(await bundle(1)));
      await ready(begun, story);
      assert.equal(await secret("demo-bundle-1"), undefined);
    }));

  test("makes none without the lease", () =>
    within(async ({ story, pass, secret }) => {
      assert.equal(codeOf(await ready(await pass({ leading: follower }), story)), "NOT_LEADING");
      assert.equal(await secret("demo-bundle-1"), undefined);
    }));
});

describe("taking keys over", () => {
  const take = (bundle: SecretsBundle): Action => ({
    kind: "TakeBundle",
    secret: "demo-bundle-1",
    ifFingerprint: fingerprintSecretsBundle(bundle),
  });
  const state = { "talos.alperen.cloud/type": "state" };
  const named = (seen: Observed): Observed => ({
    ...seen,
    controlPlane: {
      ...seen.controlPlane,
      metadata: { ...seen.controlPlane.metadata, annotations: { "talos-operator.dev/import-bundle": "left" } },
    },
  });

  test("copies those that were verified", () =>
    within(async ({ seen, carryOut, secret, bundle, putBundle }) => {
      const left = await bundle(1);
      await putBundle("left", left, state);
      assert.equal(await carryOut(take(left), {}, named(seen)), undefined);
      assert.ok((await secret("demo-bundle-1")) !== undefined);
    }));

  for (const [what, given, code, change] of [
    ["other keys were left there meanwhile", {}, "PRECONDITION_GONE", "other"],
    ["they are gone", {}, "PRECONDITION_GONE", "gone"],
    ["another operator is at work", { other: "it writes the status" }, "ANOTHER_OPERATOR", "none"],
    ["another process leads", { leading: follower }, "NOT_LEADING", "none"],
  ] as const)
    test(`copies none when ${what}`, () =>
      within(async ({ seen, carryOut, secret, bundle, putBundle }) => {
        const verified = await bundle(1);
        if (change !== "gone") await putBundle("left", change === "other" ? await bundle(2) : verified, state);
        assert.equal(codeOf(await carryOut(take(verified), given, named(seen))), code);
        assert.equal(await secret("demo-bundle-1"), undefined);
      }));
});

describe("writing the record", () => {
  const write = (known: ClusterFacts, ifResourceVersion?: string): Action => ({
    kind: "WriteRecord",
    ifResourceVersion,
    facts: known,
    why: "Test",
  });
  const stored = (story: Story): Promise<ClusterRecord | undefined> =>
    story.client.resource<ClusterRecord>(clusterRecordResource).tryGet(key);

  test("a first one names keys that are there", () =>
    within(async ({ story, carryOut, bundle, putBundle }) => {
      const keys = await bundle(1);
      await putBundle("demo-bundle-1", keys);
      assert.equal(await carryOut(write(factsOf(keys))), undefined);
      assert.equal((await stored(story))?.spec.clusterId, keys.cluster.id);
    }));

  test("none is written for a cluster that is paused by now", () =>
    within(async ({ story, carryOut, bundle, putBundle }) => {
      const keys = await bundle(1);
      await putBundle("demo-bundle-1", keys);
      const annotations = { "talos.alperen.cloud/reconcile-mode": "disable" };
      await story.client.resource(kinds.controlPlane).patch(key, { type: "merge", value: { metadata: { annotations } } });
      assert.equal(codeOf(await carryOut(write(factsOf(keys)))), "MODE_CHANGED");
      assert.equal(await stored(story), undefined);
    }));

  for (const { what, change, isWritten } of [
    { what: "which member of etcd a machine is", change: { memberId: "00000000000000aa" }, isWritten: true },
    { what: "what a machine runs", change: { appliedHash: "aa" }, isWritten: true },
    { what: "that a configuration may be sent to a machine", change: { configuredAt: 2 }, isWritten: false },
  ])
    test(`of a cluster that is paused by now ${what} is ${isWritten ? "still" : "not"} written down`, () =>
      within(async ({ story, seen, pass, bundle, putBundle, record }) => {
        const keys = await bundle(1);
        await putBundle("demo-bundle-1", keys);
        const machine = configured("10.0.0.1", "controlplane");
        const known = factsOf(keys, { machines: [machine] });
        const first = await record(known);
        const { metadata } = first;
        const resourceVersion = metadata.resourceVersion ?? "";
        const begun = await pass({}, { ...seen, record: { kind: "present", value: { resourceVersion, metadata, facts: known } } });
        const annotations = { "talos.alperen.cloud/reconcile-mode": "disable" };
        await story.client.resource(kinds.controlPlane).patch(key, { type: "merge", value: { metadata: { annotations } } });
        const next = { ...known, machines: [{ ...machine, ...change }] };
        const code = codeOf(await begun.carryOut([write(next, resourceVersion)]));
        assert.equal(code, isWritten ? undefined : "MODE_CHANGED");
        assert.equal((await stored(story))?.metadata.resourceVersion === resourceVersion, !isWritten);
      }));

  for (const isThere of [true, false])
    test(`a first one is not made when the keys are ${isThere ? "other ones" : "gone"} by now`, () =>
      within(async ({ story, carryOut, bundle, putBundle }) => {
        if (isThere) await putBundle("demo-bundle-1", await bundle(2));
        assert.equal(codeOf(await carryOut(write(factsOf(await bundle(1))))), "PRECONDITION_GONE");
        assert.equal(await stored(story), undefined);
      }));

  test("a first one never replaces one that is there by now", () =>
    within(async ({ story, pass, bundle, putBundle, record }) => {
      const keys = await bundle(1);
      await putBundle("demo-bundle-1", keys);
      const begun = await pass();
      const first = await record(factsOf(keys, { endpoint: "https://10.0.0.7:6443" }));
      assert.equal(codeOf(await begun.carryOut([write(factsOf(keys))])), "ALREADY_EXISTS");
      assert.deepEqual(await stored(story), first);
    }));

  test("one that changed meanwhile is not overwritten", () =>
    within(async ({ story, pass, bundle, putBundle, record }) => {
      const keys = await bundle(1);
      await putBundle("demo-bundle-1", keys);
      const first = await record(factsOf(keys));
      const begun = await pass();
      const records = story.client.resource<ClusterRecord>(clusterRecordResource);
      const second = await records.update(printRecord(key, factsOf(keys, { talosVersion: "v1.14.0" }), first, writer));
      assert.equal(codeOf(await begun.carryOut([write(factsOf(keys), first.metadata.resourceVersion)])), "CONFLICT");
      assert.deepEqual(await stored(story), second);
    }));

  test("fields that the API server drops stop what would rely on them", () =>
    within(async ({ story, carryOut, bundle, putBundle }) => {
      const crds = story.client.resource<KubeObject & { spec: unknown }>({
        group: "apiextensions.k8s.io",
        version: "v1",
        plural: "customresourcedefinitions",
        kind: "CustomResourceDefinition",
        namespaced: false,
      });
      const crd = structuredClone(await crds.get({ name: "clusterrecords.talos-operator.dev" })) as unknown as Crd;
      const fields = crd.spec.versions[0]?.schema.openAPIV3Schema.properties.spec;
      assert.ok(fields !== undefined);
      delete fields.properties["clusterId"];
      delete fields["x-kubernetes-validations"];
      await crds.update(crd);
      const keys = await bundle(1);
      await putBundle("demo-bundle-1", keys);
      assert.match(String(await carryOut(write(factsOf(keys)))), /dropped fields/);
    }));
});

describe("keys that are used", () => {
  for (const isThere of [true, false])
    test(`are none when the Secret ${isThere ? "holds other ones than the record names" : "is gone"}`, () =>
      within(async ({ story, pass, bundle, putBundle, record }) => {
        const keys = await bundle(1);
        await putBundle("demo-bundle-1", keys);
        await record(factsOf(keys));
        const begun = await pass();
        const secrets = story.client.resource(kinds.secret);
        await secrets.delete({ namespace: "default", name: "demo-bundle-1" });
        if (isThere) await putBundle("demo-bundle-1", await bundle(2));
        await assert.rejects(begun.effects.bundle(), (thrown) => codeOf(thrown) === "KEYS_UNUSABLE");
      }));
});

describe("writing objects", () => {
  const declaredOf = (seen: Observed): ReturnType<typeof machinesOf>[number] => {
    const [machine] = machinesOf(seen.controlPlane);
    assert.ok(machine !== undefined);
    return machine;
  };
  const put = (story: Story, over: Partial<TalosMachine> = {}): Promise<TalosMachine> =>
    story.client.resource<TalosMachine>(kinds.machine).create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosMachine",
      metadata: { namespace: "default", name: "demo-10.0.0.1" },
      spec: { endpoint: "10.0.0.1", version: "v1.13.9" },
      ...over,
    });

  test("a machine's object is made under the name that the next pass looks for", () =>
    within(async ({ story, seen, carryOut }) => {
      await carryOut({ kind: "CreateMachine", machine: declaredOf(seen) });
      await carryOut({ kind: "CreateMachine", machine: declaredOf(seen) });
      const { items } = await story.client.resource(kinds.machine).list();
      assert.deepEqual(
        items.map(({ metadata }) => metadata?.name),
        ["demo-10.0.0.1"],
      );
    }));

  test("an object of that name is left as it is, whoever made it", () =>
    within(async ({ story, seen, carryOut }) => {
      const first = await put(story);
      assert.equal(await carryOut({ kind: "CreateMachine", machine: declaredOf(seen) }), undefined);
      assert.deepEqual(await story.get(kinds.machine, "demo-10.0.0.1"), first);
    }));

  test("what the API server refuses is told", () =>
    within(async ({ seen, carryOut }) => {
      const machine = { ...declaredOf(seen), name: "No Name" };
      assert.equal(codeOf(await carryOut({ kind: "CreateMachine", machine })), "INVALID");
    }));

  test("an object that changed since it was seen gets no new address", () =>
    within(async ({ story, seen, carryOut }) => {
      const first = await put(story);
      const machines = story.client.resource<TalosMachine>(kinds.machine);
      await machines.patch({ namespace: "default", name: "demo-10.0.0.1" }, { type: "merge", value: { metadata: { labels: { a: "b" } } } });
      const action: Action = { kind: "FollowEndpoint", name: "demo-10.0.0.1", to: "10.0.0.2" };
      await carryOut(action, {}, { ...seen, machineObjects: [first] });
      assert.equal((await machines.get({ namespace: "default", name: "demo-10.0.0.1" })).spec?.endpoint, "10.0.0.1");
    }));

  test("a newer word of a person stays", () =>
    within(async ({ story, carryOut }) => {
      await story.annotate(kinds.controlPlane, "example.org/word", "new");
      await carryOut({ kind: "AnswerAnnotation", annotation: "example.org/word", value: "old", answer: "done" });
      assert.equal((await story.get(kinds.controlPlane))?.metadata?.annotations?.["example.org/word"], "new");
      assert.equal(await carryOut({ kind: "AnswerAnnotation", annotation: "example.org/word", value: "new", answer: "done" }), undefined);
      assert.equal((await story.get(kinds.controlPlane))?.metadata?.annotations?.["example.org/word"], undefined);
    }));
});

describe("the end of a cluster", () => {
  const secretName = "demo-bundle-1";
  const deleteBundle = (bundle: SecretsBundle): Action => ({
    kind: "DeleteBundle",
    secret: secretName,
    ifFingerprint: fingerprintSecretsBundle(bundle),
  });
  /** Nobody says any more that the object is another one: the process stood still after it was asked. */
  const unasked = async (pass: DecidedPass): Promise<DecidedPass> => {
    Object.assign(pass.effects, { demandReconciled: async () => Promise.resolve() });
    return Promise.resolve(pass);
  };

  test("takes its keys and its record along", () =>
    within(async ({ story, pass, secret, bundle, putBundle, record }) => {
      const keys = await bundle(1);
      await putBundle(secretName, keys);
      const { metadata } = await record(factsOf(keys));
      const actions: readonly Action[] = [deleteBundle(keys), { kind: "DeleteRecord", ifUid: metadata.uid }];
      assert.equal(await (await pass()).carryOut(actions), undefined);
      assert.equal(await secret(secretName), undefined);
      assert.equal(await story.get(kinds.record), undefined);
    }));

  test("leaves keys and record of a cluster that has its name by now", () =>
    within(async ({ story, carryOut, secret, bundle, putBundle, record }) => {
      const keys = await bundle(2);
      await putBundle(secretName, keys);
      await record(factsOf(keys));
      assert.equal(await carryOut(deleteBundle(await bundle(1))), undefined);
      assert.equal(await carryOut({ kind: "DeleteRecord", ifUid: "the-one-before" }), undefined);
      assert.ok((await secret(secretName)) !== undefined);
      assert.ok((await story.get(kinds.record)) !== undefined);
    }));

  test("takes nothing along without the lease", () =>
    within(async ({ story, carryOut, secret, bundle, putBundle, record }) => {
      const keys = await bundle(1);
      await putBundle(secretName, keys);
      const { metadata } = await record(factsOf(keys));
      assert.equal(codeOf(await carryOut(deleteBundle(keys), { leading: follower })), "NOT_LEADING");
      assert.equal(codeOf(await carryOut({ kind: "DeleteRecord", ifUid: metadata.uid }, { leading: follower })), "NOT_LEADING");
      assert.ok((await secret(secretName)) !== undefined);
      assert.ok((await story.get(kinds.record)) !== undefined);
    }));

  test("takes no finalizer off a control plane that has its name by now", () =>
    within(async ({ story, seen, pass }) => {
      const before = {
        ...seen,
        controlPlane: { ...seen.controlPlane, metadata: { ...seen.controlPlane.metadata, uid: "the-one-before" } },
      };
      const action: Action = { kind: "RemoveFinalizer", object: { kind: "TalosControlPlane", name: "demo" } };
      assert.equal(await (await unasked(await pass({}, before))).carryOut([action]), undefined);
      assert.equal((await story.get(kinds.controlPlane))?.metadata?.finalizers?.length, 1);
    }));

  test("takes no TalosMachine along that has the name of one of its own by now", () =>
    within(async ({ story, seen, carryOut }) => {
      const made = await story.client.resource<TalosMachine>(kinds.machine).create({
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosMachine",
        metadata: { namespace: "default", name: "demo-10.0.0.1" },
        spec: { endpoint: "10.0.0.1", version: "v1.13.9" },
      });
      const before = { ...made, metadata: { ...made.metadata, uid: "the-one-before" } };
      assert.equal(await carryOut({ kind: "DeleteMachine", name: "demo-10.0.0.1" }, {}, { ...seen, machineObjects: [before] }), undefined);
      assert.ok((await story.get(kinds.machine, "demo-10.0.0.1")) !== undefined);
      assert.equal(await carryOut({ kind: "DeleteMachine", name: "demo-10.0.0.1" }, {}, { ...seen, machineObjects: [made] }), undefined);
      assert.equal(await story.get(kinds.machine, "demo-10.0.0.1"), undefined);
    }));
});

describe("each check of a write", () => {
  interface Case {
    readonly action: Action;
    readonly given?: Given;
    readonly seen?: Observed;
    /** What goes on in the pass before. */
    readonly begin?: (pass: DecidedPass) => Promise<unknown>;
  }
  type Rows<K extends EffectKind> = Readonly<Record<CheckOf<K>, (world: World) => Promise<Case>>>;

  /** The service account's key is made by then. */
  const withKey = async ({ story }: World, given: Given = {}): Promise<Case> => {
    const action: Action = { kind: "CreateBundle", secret: "demo-bundle-1" };
    const begin = async (pass: DecidedPass): Promise<void> => {
      await pass.carryOut([action]);
      await story.time.advance(2_000);
    };
    return Promise.resolve({ action, given, begin });
  };
  /** Keys that another operator left. */
  const left = async ({ bundle, putBundle, seen }: World, given: Given = {}, areVerified = true): Promise<Case> => {
    const keys = await bundle(1);
    await putBundle("left", keys, { "talos.alperen.cloud/type": "state" });
    const { metadata } = seen.controlPlane;
    const named = { ...metadata, annotations: { "talos-operator.dev/import-bundle": "left" } };
    const ifFingerprint = fingerprintSecretsBundle(areVerified ? keys : await bundle(2));
    const action: Action = { kind: "TakeBundle", secret: "demo-bundle-1", ifFingerprint };
    return { action, given, seen: { ...seen, controlPlane: { ...seen.controlPlane, metadata: named } } };
  };
  const another = (seen: Observed): Observed => ({
    ...seen,
    controlPlane: { ...seen.controlPlane, metadata: { ...seen.controlPlane.metadata, uid: "the-one-before" } },
  });
  const ofRecord = async ({ record, bundle, putBundle }: World, given: Given = {}, ifUid?: string): Promise<Case> => {
    const keys = await bundle(1);
    await putBundle("demo-bundle-1", keys);
    const { metadata } = await record(factsOf(keys));
    return { action: { kind: "DeleteRecord", ifUid: ifUid ?? metadata.uid }, given };
  };

  const rows: {
    readonly CreateBundle: Rows<"CreateBundle">;
    readonly TakeBundle: Rows<"TakeBundle">;
    readonly TakeSnapshot: Rows<"TakeSnapshot">;
    readonly DeleteBundle: Rows<"DeleteBundle">;
    readonly DeleteRecord: Rows<"DeleteRecord">;
    readonly RemoveFinalizer: Rows<"RemoveFinalizer">;
    readonly DeleteMachine: Rows<"DeleteMachine">;
    readonly WriteRecord: Rows<"WriteRecord">;
  } = {
    CreateBundle: {
      keyMade: () => Promise.resolve({ action: { kind: "CreateBundle", secret: "demo-bundle-1" } }),
      noRecord: async (world) => {
        const made = await withKey(world);
        const begin = async (pass: DecidedPass): Promise<void> => {
          await made.begin?.(pass);
          await world.record(factsOf(await world.bundle(1)));
        };
        return { ...made, begin };
      },
      lease: (world) => withKey(world, { leading: follower }),
    },
    TakeBundle: {
      verifiedKeys: (world) => left(world, {}, false),
      oneOperator: (world) => left(world, { other: "it writes the status" }),
      lease: (world) => left(world, { leading: follower }),
    },
    TakeSnapshot: {
      sameStore: async ({ story }) => {
        const { metadata } = await putSchedule(story, true);
        return { action: takeSnapshot(metadata.uid) };
      },
    },
    DeleteBundle: {
      lease: async ({ bundle, putBundle }) => {
        const keys = await bundle(1);
        await putBundle("demo-bundle-1", keys);
        const action = { kind: "DeleteBundle", secret: "demo-bundle-1", ifFingerprint: fingerprintSecretsBundle(keys) } as const;
        return { action, given: { leading: follower } };
      },
    },
    DeleteRecord: {
      lease: (world) => ofRecord(world, { leading: follower }),
      sameRecord: (world) => ofRecord(world, {}, "the-one-before"),
    },
    RemoveFinalizer: {
      sameObject: ({ seen }) =>
        Promise.resolve({
          action: { kind: "RemoveFinalizer", object: { kind: "TalosControlPlane", name: "demo" } },
          seen: another(seen),
          // The process stood still after it was asked whether the object is the one that was seen.
          begin: async (pass) => Promise.resolve(Object.assign(pass.effects, { demandReconciled: async () => Promise.resolve() })),
        }),
    },
    DeleteMachine: {
      sameObject: async ({ story, seen }) => {
        const made = await story.client.resource<TalosMachine>(kinds.machine).create({
          apiVersion: "talos.alperen.cloud/v1alpha1",
          kind: "TalosMachine",
          metadata: { namespace: "default", name: "demo-10.0.0.1" },
          spec: { endpoint: "10.0.0.1", version: "v1.13.9" },
        });
        const before = { ...made, metadata: { ...made.metadata, uid: "the-one-before" } };
        return { action: { kind: "DeleteMachine", name: "demo-10.0.0.1" }, seen: { ...seen, machineObjects: [before] } };
      },
    },
    WriteRecord: {
      unpaused: async ({ bundle, putBundle, record, seen }) => {
        const keys = await bundle(1);
        await putBundle("demo-bundle-1", keys);
        const before = factsOf(keys);
        const { metadata } = await record(before);
        const intent = {
          what: "Reboot",
          machine: "demo-10.0.0.1",
          address: "10.0.0.1",
          uuid: "u",
          role: "worker",
          at: 1,
          deadline: 2,
          why: "",
        } as const;
        const action: Action = {
          kind: "WriteRecord",
          ifResourceVersion: metadata.resourceVersion,
          facts: { ...before, intents: [intent] },
          why: "",
        };
        const begin = async (pass: DecidedPass): Promise<unknown> =>
          Promise.resolve(Object.assign(pass.effects, { demandUnpaused: async () => Promise.reject(new Error("paused")) }));
        return { action, seen, begin };
      },
      keysBehind: async ({ bundle }) => ({
        action: { kind: "WriteRecord", ifResourceVersion: undefined, facts: factsOf(await bundle(1)), why: "" },
      }),
    },
  };

  const isWritten = async (kind: EffectKind, row: (world: World) => Promise<Case>, missing: readonly string[]): Promise<boolean> => {
    let isDone = false;
    await within(async (world) => {
      const { action, given = {}, seen, begin } = await row(world);
      const pass = await world.pass({ ...given, ...without(kind, missing) }, seen);
      await begin?.(pass);
      const before = world.written.length;
      await pass.carryOut([action]);
      isDone = world.written.length > before;
    });
    return isDone;
  };
  for (const [kind, checks] of Object.entries(rows))
    for (const [check, row] of Object.entries<(world: World) => Promise<Case>>(checks))
      test(`${kind} is held back by ${check}, and by nothing else when that is gone`, async () => {
        assert.equal(await isWritten(kind as EffectKind, row, []), false, "with every check");
        assert.equal(await isWritten(kind as EffectKind, row, [check]), true, `without ${check}`);
      });
});

describe("asking for a snapshot before control planes leave", () => {
  test("makes one backup as the schedule's template says, however often it is asked", () =>
    within(async ({ story, carryOut }) => {
      const { metadata } = await putSchedule(story);
      assert.equal(await carryOut(takeSnapshot(metadata.uid)), undefined);
      assert.equal(await carryOut(takeSnapshot(metadata.uid)), undefined);
      const [backup, ...more] = await backups(story);
      assert.deepEqual(more, []);
      assert.deepEqual(backup?.metadata.labels, {
        team: "a",
        "talos-operator.dev/before-risk": "demo",
        "talos.alperen.cloud/etcd-backup-schedule": "nightly",
      });
      assert.deepEqual(backup.metadata.annotations, { "talos-operator.dev/taken-before": "demo-10.0.0.1,demo-10.0.0.2" });
      assert.deepEqual([backup.metadata.ownerReferences?.[0]?.uid, backup.spec.backupStorage], [metadata.uid, { directory: {} }]);
    }));

  const changes: readonly (readonly [string, (story: Story) => Promise<unknown>])[] = [
    [
      "paused",
      (story) => schedules(story).patch({ namespace: "default", name: "nightly" }, { type: "merge", value: { spec: { paused: true } } }),
    ],
    ["gone", (story) => schedules(story).delete({ namespace: "default", name: "nightly" })],
    [
      "another",
      async (story) => {
        await schedules(story).delete({ namespace: "default", name: "nightly" });
        return putSchedule(story);
      },
    ],
  ];
  for (const [what, change] of changes)
    test(`makes none where the schedule is ${what} by now, and would without that check`, () =>
      within(async ({ story, carryOut }) => {
        const { metadata } = await putSchedule(story);
        await change(story);
        assert.equal(codeOf(await carryOut(takeSnapshot(metadata.uid))), "PRECONDITION_GONE");
        assert.deepEqual(await backups(story), []);
        await carryOut(takeSnapshot(metadata.uid), without("TakeSnapshot", ["sameStore"]));
        assert.equal((await backups(story)).length, what === "gone" ? 0 : 1);
      }));

  test("remembers what the API server refuses, and lets the pass go on", () =>
    within(async ({ story, pass }) => {
      const { metadata } = await putSchedule(story);
      const begun = await pass();
      assert.equal(await begun.carryOut([{ ...takeSnapshot(metadata.uid), name: "No Name" } as Action]), undefined);
      const sent = begun.effects.session.sent().get("TakeSnapshot/No Name/1");
      assert.equal(sent?.outcome, "refused");
      assert.match(sent.detail, /talosetcdbackups/);
    }));
});

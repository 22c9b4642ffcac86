// Genuine parts: etcd, kube-apiserver
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { until } from "@talos-operator/adapters/testing";
import { createHttpsTransport } from "./adapters/index.ts";
import { type GenuineServer, startGenuineServer } from "./adapters/testing/genuine-server.ts";
import type { KubeApiErrorCode, KubeClient, KubeObject, LeadershipEnd, ResourceClient, ResourceType } from "./index.ts";
import {
  addFinalizer,
  createEventRecorder,
  createInformer,
  createKubeClient,
  createLeaseElector,
  eventType,
  fieldConflictsOf,
  KubeApiError,
  leaseType,
  removeFinalizer,
} from "./index.ts";
import { createMemoryLog } from "./testing/index.ts";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const configMapType: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const namespaceType: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
const ports = { timers: systemTimers, random: systemRandom };

async function codeOf(call: Promise<unknown>): Promise<KubeApiErrorCode | "no error"> {
  try {
    await call;
    return "no error";
  } catch (thrown) {
    if (thrown instanceof KubeApiError) return thrown.code;
    throw thrown;
  }
}

describe("the runtime on a genuine kube-apiserver", () => {
  let server: GenuineServer;
  let client: KubeClient;
  let maps: ResourceClient<ConfigMap>;
  let namespaces = 0;
  before(async () => {
    server = await startGenuineServer();
    client = createKubeClient(server.transport(), ports);
    maps = client.resource<ConfigMap>(configMapType);
  });
  after(() => server.close());

  /** A namespace of its own for each test. */
  async function freshNamespace(): Promise<string> {
    namespaces += 1;
    const name = `test-${namespaces}`;
    await client.resource(namespaceType).create({ metadata: { name } });
    return name;
  }

  async function follow(namespace: string, more: { readonly watchTimeoutSeconds?: number; readonly pageSize?: number } = {}) {
    const informer = createInformer<ConfigMap>({
      client: createKubeClient(server.transport(), ports),
      type: configMapType,
      namespace,
      ...ports,
      ...more,
    });
    const told: string[] = [];
    informer.subscribe((delta) => told.push(`${delta.type} ${delta.object.metadata?.name ?? ""}`));
    const abort = new AbortController();
    const running = informer.run(abort.signal);
    await informer.waitForSync();
    return {
      informer,
      told,
      stop: async () => {
        abort.abort();
        await running;
      },
    };
  }
  const versionOf = (object: KubeObject): string => object.metadata?.resourceVersion ?? "";

  it("gives each refusal its code", async () => {
    const namespace = await freshNamespace();
    const metadata = { namespace, name: "a" };
    const made = await maps.create({ metadata, data: { x: "1" } });
    await maps.update({ ...made, data: { x: "2" } });
    const { certificate: _, key: __, ...nobody } = server.config;
    const stranger = createHttpsTransport({ ...nobody, token: "wrong" });
    const anonymous = createKubeClient(stranger).resource(configMapType);
    const uid = "00000000-0000-0000-0000-000000000000";
    assert.deepEqual(
      {
        absent: await codeOf(maps.get({ namespace, name: "absent" })),
        exists: await codeOf(maps.create({ metadata })),
        stale: await codeOf(maps.update({ ...made, data: { x: "3" } })),
        otherUid: await codeOf(maps.delete(metadata, { preconditions: { uid } })),
        invalid: await codeOf(maps.create({ metadata: { namespace, name: "Not_A_Name" } })),
        notServed: await codeOf(client.resource({ ...configMapType, group: "nowhere.dev" }).get(metadata)),
        notServedList: await codeOf(client.resource({ ...configMapType, group: "nowhere.dev" }).list()),
        noNamespace: await codeOf(maps.create({ metadata: { namespace: "nowhere", name: "a" } })),
        strict: await codeOf(maps.create({ metadata: { namespace, name: "b" }, nonsense: 1 } as ConfigMap, { fieldValidation: "Strict" })),
        wrongToken: await codeOf(anonymous.get(metadata)),
        wrongPatch: await codeOf(maps.patch(metadata, { type: "json", operations: [{ op: "test", path: "/data/x", value: "no" }] })),
        tooLarge: await codeOf(maps.create({ metadata: { namespace, name: "large" }, data: { x: "x".repeat(4_000_000) } })),
      },
      {
        absent: "NOT_FOUND",
        exists: "ALREADY_EXISTS",
        stale: "CONFLICT",
        otherUid: "CONFLICT",
        invalid: "INVALID",
        notServed: "NOT_SERVED",
        notServedList: "NOT_SERVED",
        noNamespace: "NOT_FOUND",
        strict: "BAD_REQUEST",
        wrongToken: "UNAUTHORIZED",
        wrongPatch: "INVALID",
        tooLarge: "TOO_LARGE",
      },
    );
    stranger.close();
  });

  it("writes with every verb and patch type", async () => {
    const namespace = await freshNamespace();
    const key = { namespace, name: "a" };
    await maps.create({ metadata: key, data: { a: "1" } }, { fieldManager: "test", dryRun: true });
    assert.equal(await maps.tryGet(key), undefined);
    await maps.create({ metadata: key, data: { a: "1" } });
    await maps.patch(key, { type: "merge", value: { data: { b: "2" } } });
    await maps.patch(key, { type: "strategic-merge", value: { data: { c: "3" } } });
    const patched = await maps.patch(key, { type: "json", operations: [{ op: "remove", path: "/data/a" }] });
    assert.deepEqual(patched.data, { b: "2", c: "3" });
    assert.equal(await maps.delete(key), undefined);
    await maps.create({ metadata: { namespace, name: "b", labels: { app: "x" } } });
    await maps.deleteCollection({ namespace, labelSelector: "app=x" });
    assert.equal((await maps.list({ namespace, labelSelector: "app=x" })).items.length, 0);
  });

  it("names field and manager of an apply conflict, takes the field over by force, and gives up what it no longer applies", async () => {
    const namespace = await freshNamespace();
    const metadata = { namespace, name: "a" };
    await maps.apply({ metadata, data: { x: "1", y: "1" } }, { fieldManager: "one" });
    const error: unknown = await maps.apply({ metadata, data: { x: "2" } }, { fieldManager: "two" }).catch((thrown: unknown) => thrown);
    assert.deepEqual(fieldConflictsOf(error), [{ field: ".data.x", manager: "one" }]);
    await maps.apply({ metadata, data: { x: "2" } }, { fieldManager: "two", force: true });
    const last = await maps.apply({ metadata, data: {} }, { fieldManager: "one" });
    assert.deepEqual(last.data, { x: "2" });
  });

  it("lists in pages and shows a writer its own writes", async () => {
    const namespace = await freshNamespace();
    const names = Array.from({ length: 120 }, (_, index) => `m-${index}`);
    await Promise.all(names.map((name) => maps.create({ metadata: { namespace, name } })));
    assert.equal((await maps.list({ namespace, pageSize: 25 })).items.length, 120);
    const { informer, told, stop } = await follow(namespace, { pageSize: 25 });
    assert.equal(informer.store.size, 120);
    const written = await maps.update({ metadata: { namespace, name: "m-1" }, data: { x: "1" } });
    await informer.waitForResourceVersion(versionOf(written));
    assert.deepEqual(informer.store.get({ namespace, name: "m-1" })?.data, { x: "1" });
    assert.equal(informer.store.get({ namespace, name: "m-1" })?.metadata?.managedFields, undefined);
    await maps.delete({ namespace, name: "m-2" });
    const after = await maps.create({ metadata: { namespace, name: "z" } });
    await informer.waitForResourceVersion(versionOf(after));
    assert.deepEqual(told.slice(120), ["updated m-1", "deleted m-2", "added z"]);
    await stop();
  });

  it("resumes watch after watch that the server ends, without a second list", async () => {
    const namespace = await freshNamespace();
    const { informer, told, stop } = await follow(namespace, { watchTimeoutSeconds: 1 });
    for (let round = 0; informer.status().watches < 3; round += 1) {
      const made = await maps.create({ metadata: { namespace, name: `m-${round}` } });
      await informer.waitForResourceVersion(versionOf(made));
      await systemTimers.sleep(100);
    }
    assert.equal(new Set(told).size, told.length, "something was told twice");
    assert.equal(informer.status().lists, 1);
    await stop();
  });

  it("survives kill -9 of the API server, twenty times, and tells each change once", async () => {
    const namespace = await freshNamespace();
    const { informer, told, stop } = await follow(namespace);
    const want: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      await maps.create({ metadata: { namespace, name: `before-${round}` } });
      await server.kill();
      assert.equal(await codeOf(maps.get({ namespace, name: "x" })), "NO_ANSWER");
      await server.restart();
      await maps.create({ metadata: { namespace, name: `after-${round}` } });
      if (round > 0) await maps.delete({ namespace, name: `after-${round - 1}` });
      const last = await maps.create({ metadata: { namespace, name: `last-${round}` } });
      await informer.waitForResourceVersion(versionOf(last));
      want.push(
        `added before-${round}`,
        `added after-${round}`,
        ...(round > 0 ? [`deleted after-${round - 1}`] : []),
        `added last-${round}`,
      );
    }
    const withoutOwn = told.filter((line) => !line.endsWith("kube-root-ca.crt"));
    assert.deepEqual(withoutOwn.toSorted(), want.toSorted());
    const listed = (await maps.list({ namespace })).items.map((map) => `${map.metadata?.name ?? ""}@${versionOf(map)}`);
    assert.deepEqual(
      informer.store
        .list()
        .map((map) => `${map.metadata?.name ?? ""}@${versionOf(map)}`)
        .toSorted(),
      listed.toSorted(),
    );
    await stop();
  });

  it("hands leadership over when the leader stops, and keeps it over a restart of the API server", async () => {
    const namespace = await freshNamespace();
    const ends: LeadershipEnd[] = [];
    const elected: string[] = [];
    const stand = (identity: string) => {
      const abort = new AbortController();
      const won = Promise.withResolvers<void>();
      const elector = createLeaseElector({
        client: createKubeClient(server.transport(), ports),
        namespace,
        name: "operator",
        identity,
        clock: systemClock,
        ...ports,
        log: createMemoryLog(),
        // Longer than a restart can take on a busy machine; the handover does not wait for it.
        leaseDurationMs: 90_000,
        renewDeadlineMs: 60_000,
        onElected: async ({ signal }) => {
          elected.push(identity);
          won.resolve();
          if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
        },
        onLost: (reason) => ends.push(reason),
      });
      const running = elector.run(abort.signal);
      return { elector, won: won.promise, abort, running };
    };
    const a = stand("a");
    await a.won;
    const b = stand("b");
    await server.kill();
    await server.restart();
    assert.deepEqual([elected, ends], [["a"], []]);
    assert.equal(await a.elector.leadership()?.confirm(), true);
    const token = a.elector.leadership()?.token;
    a.abort.abort();
    await a.running;
    await b.won;
    assert.deepEqual([elected, ends], [["a", "b"], ["stopped"]]);
    assert.equal(b.elector.leadership()?.token.leaseTransitions, (token?.leaseTransitions ?? 0) + 1);
    b.abort.abort();
    await b.running;
    const lease = (await client.resource(leaseType).get({ namespace, name: "operator" })) as {
      readonly spec?: { readonly holderIdentity?: string };
    };
    assert.equal(lease.spec?.holderIdentity ?? "", "");
  });

  it("says EXPIRED for a version that is too old for the server", async () => {
    const watch = async (): Promise<void> => {
      const { events } = await maps.watch({ resourceVersion: "1", timeoutSeconds: 1 });
      for await (const event of events) assert.ok(event);
    };
    await server.kill();
    await server.restart();
    let seen = "";
    // The watch cache of a restarted server knows nothing from before its start, and until it is filled the server answers in other ways.
    await until(
      "EXPIRED",
      async () => (seen = await codeOf(watch())) === "EXPIRED",
      () => seen,
    );
  });

  it("writes events that the server takes, and their series", async () => {
    const namespace = await freshNamespace();
    const owner = await maps.create({ metadata: { namespace, name: "a" } });
    const recorder = createEventRecorder({
      client,
      clock: systemClock,
      timers: systemTimers,
      log: createMemoryLog(),
      reportingController: "talos-operator.dev/test",
      reportingInstance: "test-0",
    });
    for (let count = 0; count < 3; count += 1)
      recorder.record(owner, { type: "Warning", reason: "Tested", action: "Test", note: "a test ran" });
    await recorder.close();
    assert.equal(recorder.dropped, 0);
    const [event] = (await client.resource(eventType).list({ namespace })).items as readonly (KubeObject & {
      readonly series?: { readonly count?: number };
    })[];
    assert.equal(event?.series?.count, 3);
  });

  it("guards an object with a finalizer", async () => {
    const namespace = await freshNamespace();
    const made = await maps.create({ metadata: { namespace, name: "a" } });
    const guarded = await addFinalizer(maps, made, "talos-operator.dev/test");
    assert.equal(await codeOf(addFinalizer(maps, made, "talos-operator.dev/other")), "CONFLICT");
    const waiting = await maps.delete({ namespace, name: "a" });
    assert.equal(typeof waiting?.metadata?.deletionTimestamp, "string");
    await removeFinalizer(maps, waiting ?? guarded, "talos-operator.dev/test");
    assert.equal(await maps.tryGet({ namespace, name: "a" }), undefined);
  });
});

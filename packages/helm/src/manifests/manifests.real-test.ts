// Genuine parts: etcd, helm, kube-apiserver, kubectl
// Sets of objects against a genuine kube-apiserver, with addresses that are really fetched.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { systemClock, systemTimers } from "@talos-operator/adapters";
import { HANGS_AFTER_MS } from "@talos-operator/adapters/testing";
import { startRealApiServer } from "@talos-operator/api/testing";
import type { RealApiServer } from "@talos-operator/api/testing";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { createManifestFetcher } from "../adapters/index.ts";
import type { ApplyManifestsTask, ManifestsResult, ManifestsTask } from "../index.ts";
import { startFileServer } from "../testing/adapters/file-server.ts";
import type { FileServer } from "../testing/adapters/file-server.ts";
import { inventoryName } from "./inventory.ts";
import { runManifests } from "./run-manifests.ts";

const ours = "0a7b3c1d-1111-4222-8333-444455556666";
const map = (name: string, data: Record<string, string> = {}, namespace = "ns"): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...(namespace === "" ? {} : { namespace }) }, data });
const namespace = (name: string): string => JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const definition = JSON.stringify({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.org" },
  spec: {
    group: "example.org",
    names: { kind: "Widget", plural: "widgets" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: { size: { type: "integer" } } } } },
        },
      },
    ],
  },
});
const widget = JSON.stringify({ apiVersion: "example.org/v1", kind: "Widget", metadata: { name: "one" }, spec: { size: 1 } });
const claim = JSON.stringify({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});

describe("sets of objects against a genuine kube-apiserver", () => {
  let server: RealApiServer;
  let files: FileServer;
  before(async () => {
    [server, files] = await Promise.all([startRealApiServer(), startFileServer()]);
  });
  after(async () => {
    await files.close();
    await server.close();
  });

  const give = (task: ManifestsTask, texts: readonly string[]): Promise<ManifestsResult> =>
    runManifests(
      task,
      { kubeconfig: server.kubeconfig, values: [], texts },
      {
        async open(text) {
          const transport = createHttpsTransport((await loadKubeconfig({ text })).config);
          return { client: createKubeClient(transport), close: () => transport.close() };
        },
        fetch: createManifestFetcher({ ca: files.ca }),
        clock: systemClock,
        timers: systemTimers,
        signal: new AbortController().signal,
      },
    );
  const taskOf = (name: string, over: Partial<ApplyManifestsTask> = {}): ApplyManifestsTask => ({
    kind: "apply-manifests",
    release: { name, namespace: `ns-${name}` },
    owner: `${name}-${ours}`,
    timeoutMs: HANGS_AFTER_MS,
    run: "0123456789ab",
    prune: true,
    pruneProtected: false,
    sources: [{ kind: "text", name: "sources[0]" }],
    inputs: "00000000000000aa",
    isOnce: false,
    takeOwnership: false,
    ...over,
  });
  const applySet = (name: string, text: readonly string[], over: Partial<ApplyManifestsTask> = {}): Promise<ManifestsResult> =>
    give(taskOf(name, over), [text.join("\n---\n")]);
  const removeSet = (name: string, over: Partial<Pick<ManifestsTask, "prune" | "pruneProtected">> = {}): Promise<ManifestsResult> => {
    const { release, owner, timeoutMs, run, prune, pruneProtected } = taskOf(name);
    return give({ kind: "remove-manifests", release, owner, timeoutMs, run, prune, pruneProtected, ...over }, []);
  };
  const told = (result: ManifestsResult): readonly unknown[] =>
    result.kind === "manifests-applied"
      ? [result.objects, result.pruned, result.kept.names]
      : result.kind === "manifests-removed"
        ? [result.wasThere, result.deleted, result.kept.names]
        : [result.reason, result.message];
  const reason = (result: ManifestsResult): string => (result.kind === "manifests-failed" ? result.reason : result.kind);
  const names = (kind: string, space: string): Promise<string> =>
    server.kubectl("get", kind, "-n", space, "-o", "jsonpath={.items[*].metadata.name}");
  const mapsOf = async (space: string): Promise<string> =>
    (await names("configmaps", space))
      .split(" ")
      .filter((name) => name !== "kube-root-ca.crt")
      .join(" ");

  test("makes a CRD, waits until it is served, then what it defines, and prunes what leaves the set", async () => {
    const whole = await applySet("one", [widget, map("kept", {}, ""), map("gone", {}, ""), claim, definition, namespace("ns-one")]);
    assert.deepEqual(told(whole), [6, 0, []]);
    assert.equal(await names("widgets", "ns-one"), "one");
    const inventory = await server.kubectl(
      "get",
      "configmap",
      inventoryName(`one-${ours}`),
      "-n",
      "kube-system",
      "-o",
      "jsonpath={.data.objects}",
    );
    assert.equal((JSON.parse(inventory) as readonly unknown[]).length, 6);
    const less = await applySet("one", [map("kept", { a: "b" }, "")]);
    assert.deepEqual(told(less), [
      1,
      2,
      ["Namespace ns-one", "CustomResourceDefinition widgets.example.org", "PersistentVolumeClaim ns-one/data"],
    ]);
    assert.equal(await mapsOf("ns-one"), "kept");
    assert.match(await server.kubectl("get", "ns,crd,pvc", "-A", "-o", "name"), /namespace\/ns-one[^]*widgets\.example\.org[^]*data/);
    // Asked for, they go as well, though it is another day.
    const asked = await applySet("one", [map("kept", { a: "b" }, "")], {
      pruneProtected: true,
      release: { name: "one", namespace: "ns-one" },
    });
    assert.deepEqual(told(asked), [1, 3, []]);
  });

  test("removes all that is its own, tells what it keeps, and is made anew over that", async () => {
    const set = [map("a", {}, ""), namespace("ns-two"), claim];
    await applySet("two", set);
    assert.deepEqual(told(await removeSet("two")), [true, 1, ["Namespace ns-two", "PersistentVolumeClaim ns-two/data"]]);
    assert.deepEqual(told(await removeSet("two")), [false, 0, []]);
    assert.equal(await mapsOf("ns-two"), "");
    // A set of another owner meets what was kept, and is not refused.
    const another = await give(taskOf("two", { owner: "another" }), [set.join("\n---\n")]);
    assert.deepEqual(told(another), [3, 0, []]);
  });

  test("never deletes what was there before, and gives its fields back", async () => {
    await server.kubectl("create", "namespace", "ns-three");
    await server.kubectl("create", "configmap", "theirs", "-n", "ns-three", "--from-literal=a=theirs");
    await applySet("three", [map("theirs", { b: "ours" }, ""), map("ours", {}, "")]);
    const data = (): Promise<string> => server.kubectl("get", "configmap", "theirs", "-n", "ns-three", "-o", "jsonpath={.data}");
    assert.deepEqual(JSON.parse(await data()), { a: "theirs", b: "ours" });
    assert.deepEqual(told(await removeSet("three")), [true, 1, []]);
    assert.deepEqual(JSON.parse(await data()), { a: "theirs" });
    assert.equal(await mapsOf("ns-three"), "theirs");
  });

  test("names who has a field, and takes it over only when that was asked for", async () => {
    await server.kubectl("create", "namespace", "ns-four");
    await server.kubectl("create", "configmap", "theirs", "-n", "ns-four", "--from-literal=a=theirs");
    const refused = await applySet("four", [map("theirs", { a: "ours" }, ""), map("beside", {}, "")]);
    assert.equal(reason(refused), "fields-not-ours");
    assert.match(String(told(refused)[1]), /ConfigMap ns-four\/theirs: \.data\.a belong to kubectl-create/);
    const taken = await applySet("four", [map("theirs", { a: "ours" }, "")], { takeOwnership: true });
    assert.deepEqual(told(taken), [1, 1, []]);
    assert.equal(reason(await give(taskOf("four", { owner: "another" }), [map("theirs", { a: "x" }, "")])), "object-not-ours");
  });

  test("leaves what somebody took its mark from", async () => {
    await applySet("five", [map("left", {}, ""), map("stays", {}, "")]);
    await server.kubectl("annotate", "configmap", "left", "-n", "ns-five", "talos-operator.dev/addon-owner-");
    assert.deepEqual(told(await applySet("five", [map("stays", {}, "")])), [1, 0, []]);
    assert.equal(await mapsOf("ns-five"), "left stays");
  });

  test("puts drift right, writes nothing where there is none, and once means once", async () => {
    const at = (): Promise<string> =>
      server.kubectl("get", "configmap", "a", "-n", "ns-six", "-o", "jsonpath={.metadata.resourceVersion} {.data.a}");
    await applySet("six", [map("a", { a: "asked" }, "")]);
    const first = await at();
    await applySet("six", [map("a", { a: "asked" }, "")]);
    assert.equal(await at(), first);
    const patch = ["patch", "configmap", "a", "-n", "ns-six", "--type=merge", '-p={"data":{"a":"drift"}}'];
    await server.kubectl(...patch, "--field-manager=talos-operator-addons/six-0a7b3c1d-1111-4222-8333-444455556666");
    await applySet("six", [map("a", { a: "asked" }, "")], { isOnce: true });
    assert.match(await at(), / drift$/);
    await applySet("six", [map("a", { a: "asked" }, "")], { takeOwnership: true });
    assert.match(await at(), / asked$/);
  });

  test("fetches what has the digest, and nothing else", async () => {
    const text = map("fetched", {}, "");
    const sha256 = createHash("sha256").update(text).digest("hex");
    const url = files.put("/set.yaml", text);
    const source = (over: object) => ({ sources: [{ kind: "url" as const, url, sha256, ...over }] });
    assert.deepEqual(told(await give(taskOf("seven", source({})), [])), [1, 0, []]);
    assert.deepEqual(told(await give(taskOf("seven", source({ url: files.redirect("/to", url) })), [])), [1, 0, []]);
    assert.equal(reason(await give(taskOf("seven", source({ sha256: "0".repeat(64) })), [])), "digest-mismatch");
    const plain = files.redirect("/plain", url.replace("https:", "http:"));
    assert.deepEqual(told(await give(taskOf("seven", source({ url: plain })), [])), [
      "source-unreachable",
      `${plain} cannot be fetched: it leads to an address without https://.`,
    ]);
    assert.equal(
      reason(await give(taskOf("seven", source({ url: files.put("/large", "x".repeat(5 * 2 ** 20)) })), [])),
      "source-too-large",
    );
    assert.equal(reason(await give(taskOf("seven", source({ url: `${files.url}/nothing` })), [])), "source-unreachable");
    const long = "#".repeat(3 * 2 ** 20);
    const three = Array.from({ length: 3 }, () => ({
      kind: "url" as const,
      url: files.put("/long", long),
      sha256: createHash("sha256").update(long).digest("hex"),
    }));
    assert.equal(reason(await give(taskOf("seven", { sources: three }), [])), "source-too-large");
    assert.equal(await mapsOf("ns-seven"), "fetched");
  });

  for (const [what, text, wanted, says] of [
    [
      "a kind that nobody serves",
      [map("a", {}, ""), '{"apiVersion":"x.org/v1","kind":"No","metadata":{"name":"a"}}'],
      "kind-not-served",
      /No of x\.org\/v1/,
    ],
    ["an object twice", [map("a", {}, ""), map("a", {}, "")], "manifests-invalid", /given twice/],
    [
      "a field that is none",
      [JSON.stringify({ apiVersion: "v1", kind: "Service", metadata: { name: "a" }, spec: { no: 1 } })],
      "api-refused",
      /Service ns-bad\/a/,
    ],
    [
      "a secret value that is refused",
      [JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "A_hunter2" }, data: {} })],
      "api-refused",
      /metadata\.name/,
    ],
  ] as const)
    test(`says what is wrong with ${what}`, async () => {
      const result = await applySet("bad", text);
      assert.equal(reason(result), wanted, JSON.stringify(result));
      assert.match(String(told(result)[1]), says);
    });

  test("touches nothing where the inventory cannot be read", async () => {
    await applySet("nine", [map("a", {}, ""), map("b", {}, "")]);
    const name = inventoryName(`nine-${ours}`);
    await server.kubectl("patch", "configmap", name, "-n", "kube-system", "--type=merge", '-p={"data":{"objects":"[{}]"}}');
    assert.equal(reason(await applySet("nine", [map("a", {}, "")])), "failed");
    assert.equal(reason(await removeSet("nine")), "failed");
    assert.equal(await mapsOf("ns-nine"), "a b");
  });
});

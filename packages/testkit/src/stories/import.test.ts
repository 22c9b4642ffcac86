import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { explain, printExplanation, readSubject } from "@talos-operator/operator";
import type { KubeTransport } from "@talos-operator/ports";
import { kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";
import { leaveBehind, leaveObjects } from "./left-behind.ts";

const manifestOf = (peer: "talos-alperen-cloud" | "vitistack-io"): string =>
  readFileSync(new URL(`../../testdata/peers/${peer}.yaml`, import.meta.url), "utf8");

const approve = "talos-operator.dev/import-approve";
const mode = "talos.alperen.cloud/reconcile-mode";

const imported = (world: Story): ReturnType<Story["condition"]> => world.condition(kinds.controlPlane, "Imported");

/** Everything that a takeover must not change: configurations, boots, members, disks. */
function nodes(world: Story): unknown {
  return world.datacenter.machines().map(({ address, state }) => [address, state.stage, state.bootId]);
}

function touched(world: Story, from: number): readonly string[] {
  return world.writes.slice(from).filter((write) => !write.includes("/status") && !write.includes("/events"));
}

/** Ten minutes after the peer's last write, and with a moment for looks. */
async function afterThePeer(world: Story): Promise<void> {
  await world.time.advance(11 * 60_000);
}

for (const peer of ["talos-alperen-cloud", "vitistack-io"] as const)
  test(`a cluster as ${peer} leaves it is verified and taken over; keys and nodes stay as they are`, () =>
    tell({}, async (world) => {
      const bundle = await leaveBehind(world);
      const before = nodes(world);
      const calls = world.sent.length;
      await leaveObjects(world, manifestOf(peer), bundle);
      await afterThePeer(world);
      await world.start();
      await world.until("taken over", async () => (await imported(world))?.status === "True", 120);
      await world.until("ready", async () => (await world.condition(kinds.controlPlane, "Ready"))?.status === "True");
      await world.until("the pool too", async () => (await world.condition(kinds.worker, "Ready", "pool"))?.status === "True");
      await world.time.advance(600_000);
      assert.deepEqual(world.sent.slice(calls), []);
      assert.deepEqual(nodes(world), before);
      const copy = (await world.get(kinds.secret, "demo-bundle-1")) as { readonly data?: Record<string, string> } | undefined;
      assert.equal(copy?.data?.["bundle"], bundle);
      const left = (await world.get(kinds.secret, peer === "vitistack-io" ? "t-demo-1234" : "demo-state")) as {
        readonly data?: Record<string, string>;
      };
      assert.equal(left.data?.[peer === "vitistack-io" ? "secrets.bundle" : "secretBundle"], bundle);
      const status = (await world.get(kinds.controlPlane))?.status as
        { readonly imported?: boolean; readonly configContract?: string } | undefined;
      assert.equal(status?.imported, true);
      assert.equal(status.configContract, "1.13", "as its configurations tell");
      assert.equal((await world.client.resource(kinds.machine).list()).items.length, 4);
    }));

test("differences are told with their paths and need a person's word for exactly them; until then nothing is written", () =>
  tell({}, async (world) => {
    const bundle = await leaveBehind(world);
    const before = nodes(world);
    const calls = world.sent.length;
    await leaveObjects(world, manifestOf("talos-alperen-cloud"), bundle, (object) =>
      object.kind === "TalosControlPlane"
        ? { ...object, spec: { ...(object["spec"] as object), kubeVersion: "v1.36.2", cni: { name: "none" } } }
        : object,
    );
    await afterThePeer(world);
    const writes = world.writes.length;
    await world.start();
    await world.until("told", async () => (await imported(world))?.reason === "ApprovalRequired", 120);
    const message = (await imported(world))?.message ?? "";
    assert.match(message, /Kubernetes v1\.36\.3 runs, the spec asks for v1\.36\.2/);
    assert.match(message, /demo-10\.5\.0\.1: this operator would write otherwise: [^\n]*cni/);
    const [, hash = ""] = /import-approve: ([0-9a-f]{10})/.exec(message) ?? [];
    for (const type of ["Bootstrapped", "EtcdHealthy", "NodesReady"] as const) {
      const said = await world.condition(kinds.controlPlane, type);
      assert.deepEqual([said?.status, said?.reason], ["Unknown", "ImportPending"], type);
      assert.match(said?.message ?? "", /^The running cluster is not taken over yet; see the condition Imported\./);
    }
    const told = await Promise.all([kinds.controlPlane, kinds.worker, kinds.machine].map((kind) => world.client.resource(kind).list()));
    assert.doesNotMatch(JSON.stringify(told), /no Kubernetes yet|not bootstrapped/, "a running cluster is not called new");
    assert.match((await world.condition(kinds.controlPlane, "EtcdHealthy"))?.message ?? "", /demo-10\.5\.0\.1 lists 3 members/);
    await world.annotate(kinds.controlPlane, approve, "0123456789");
    await world.until("told again", async () => /was for other differences/.test((await imported(world))?.message ?? ""), 60);
    await world.time.advance(120_000);
    assert.deepEqual(touched(world, writes), []);
    assert.equal((await imported(world))?.message.includes(hash), true);
    await world.annotate(kinds.controlPlane, approve, hash);
    await world.until("taken over", async () => (await imported(world))?.status === "True", 60);
    await world.until("answered", async () => (await world.get(kinds.controlPlane))?.metadata?.annotations?.[approve] === undefined, 60);
    await world.time.advance(600_000);
    assert.deepEqual(world.sent.slice(calls), []);
    assert.deepEqual(nodes(world), before);
    assert.equal((await world.condition(kinds.controlPlane, "UpgradePending"))?.status, "True");
  }));

test("what was approved stays as it is, also where drift is reverted: it is told with its paths, and sent on a person's word for one machine", () =>
  tell({}, async (world) => {
    const bundle = await leaveBehind(world);
    const calls = world.sent.length;
    await leaveObjects(world, manifestOf("talos-alperen-cloud"), bundle, (object) =>
      object.kind === "TalosControlPlane"
        ? { ...object, spec: { ...(object["spec"] as object), driftPolicy: "Revert", cni: { name: "none" } } }
        : object,
    );
    await afterThePeer(world);
    await world.start();
    await world.until("told", async () => (await imported(world))?.reason === "ApprovalRequired", 120);
    const [, hash = ""] = /import-approve: ([0-9a-f]{10})/.exec((await imported(world))?.message ?? "") ?? [];
    await world.annotate(kinds.controlPlane, approve, hash);
    const upToDate = (): ReturnType<Story["condition"]> => world.condition(kinds.controlPlane, "ConfigUpToDate");
    await world.until("explained", async () => (await upToDate())?.reason === "RenderedOtherwise", 120);
    await world.time.advance(900_000);
    assert.deepEqual(world.sent.slice(calls), []);
    assert.equal(await world.condition(kinds.controlPlane, "ConfigDrift"), undefined);
    const all = "demo-10.5.0.1, demo-10.5.0.2, demo-10.5.0.3 and 1 more";
    assert.match(
      (await upToDate())?.message ?? "",
      new RegExp(`taken over.* ${all}: cluster\\.network\\.cni\\.name\\. .*retry-config: demo-10\\.5\\.0\\.1`),
    );
    const subject = await readSubject(world.client, kinds.controlPlane, "default", "demo");
    assert.ok(subject !== undefined);
    const why = explain(subject);
    assert.equal(why.isSettled, true);
    assert.match(printExplanation(why, world.time.now()), /Worth knowing:[^]*cluster\.network\.cni\.name[^]*retry-config/);
    const word = "talos-operator.dev/retry-config";
    await world.annotate(kinds.controlPlane, word, "pool-10.5.0.4");
    await world.until(
      "sent",
      async () => !/^RollingOut|and 1 more/.test(`${(await upToDate())?.reason} ${(await upToDate())?.message}`),
      900,
    );
    assert.deepEqual(new Set(world.sent.slice(calls).map((call) => call.split(" ")[1])), new Set(["10.5.0.4"]));
    assert.equal((await world.get(kinds.controlPlane))?.metadata?.annotations?.[word], undefined);
    assert.equal((await upToDate())?.reason, "RenderedOtherwise");
  }));

test("settings that change in the very moment of the takeover are sent: what was taken over is what was compared", () => {
  let edit = async (): Promise<void> => {};
  const editedAtTakeover = (real: KubeTransport): KubeTransport => ({
    ...real,
    async send(request, options) {
      const answer = await real.send(request, options);
      if (request.method === "POST" && request.path.endsWith("/clusterrecords")) await edit();
      return answer;
    },
  });
  return tell({ kube: editedAtTakeover }, async (world) => {
    const bundle = await leaveBehind(world);
    await leaveObjects(world, manifestOf("talos-alperen-cloud"), bundle);
    await afterThePeer(world);
    const configPatches = [{ machine: { nodeLabels: { "example.org/rack": "r1" } } }];
    const value = { spec: { metalSpec: { machineSpec: { configPatches } } } };
    edit = async () =>
      void (await world.client.resource(kinds.worker).patch({ namespace: "default", name: "pool" }, { type: "merge", value }));
    const calls = world.sent.length;
    await world.start();
    const worker = world.datacenter.machine("10.5.0.4");
    await world.until("the setting is kept", async () => /example\.org\/rack: r1/.test(worker.state.config.persisted ?? ""), 300);
    // Tried, then kept.
    assert.deepEqual(world.sent.slice(calls), ["ApplyConfiguration 10.5.0.4", "ApplyConfiguration 10.5.0.4"]);
  });
});

const refusals: readonly {
  readonly what: string;
  readonly change?: (object: Record<string, unknown>) => unknown;
  readonly world?: (world: Story) => Promise<void>;
  readonly reason: string;
  readonly says: RegExp;
}[] = [
  {
    what: "keys that are nowhere",
    change: (object) => (object["kind"] === "Secret" ? { ...object, data: { state: "UmVhZHk=" } } : object),
    reason: "BundleNotFound",
    says: /import-bundle/,
  },
  {
    what: "an endpoint that the cluster was not made with",
    change: (object) =>
      object["kind"] === "TalosControlPlane"
        ? { ...object, spec: { ...(object["spec"] as object), endpoint: "https://10.5.0.99:6443" } }
        : object,
    reason: "Refused",
    says: /spec\.endpoint says https:\/\/10\.5\.0\.99:6443, and the cluster was made with https:\/\/10\.5\.0\.100:6443/,
  },
  {
    what: "a list without one of etcd's members",
    change: (object) => {
      if (object["kind"] !== "TalosControlPlane") return object;
      const spec = object["spec"] as { readonly metalSpec: object };
      return { ...object, spec: { ...spec, metalSpec: { ...spec.metalSpec, machines: [{ address: "10.5.0.1" }] } } };
    },
    reason: "Refused",
    says: /no machine in the list shows it/,
  },
  {
    what: "a control plane that does not answer",
    world: async (world) => {
      world.datacenter.machine("10.5.0.2").powerOff();
      await world.time.advance(60_000);
    },
    reason: "Verifying",
    says: /demo-10\.5\.0\.2 must answer to be verified/,
  },
];

for (const { what, change, world: prepare, reason, says } of refusals)
  test(`${what}: nothing is taken over, made or sent, and it says why`, () =>
    tell({}, async (world) => {
      const bundle = await leaveBehind(world);
      await leaveObjects(world, manifestOf("talos-alperen-cloud"), bundle, change);
      await afterThePeer(world);
      await prepare?.(world);
      const calls = world.sent.length;
      const writes = world.writes.length;
      await world.start();
      await world.until(reason, async () => (await imported(world))?.reason === reason, 120);
      await world.time.advance(300_000);
      assert.match((await imported(world))?.message ?? "", says);
      assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.reason, "ImportPending");
      assert.deepEqual(world.sent.slice(calls), []);
      assert.deepEqual(touched(world, writes), []);
    }));

test("two places with different keys: nothing is taken over", () =>
  tell({}, async (world) => {
    const bundle = await leaveBehind(world);
    const other = Buffer.from(
      Buffer.from(bundle, "base64")
        .toString("utf8")
        .replace(/token: .*/, "token: abcdef.0123456789abcdef"),
    ).toString("base64");
    await leaveObjects(world, manifestOf("talos-alperen-cloud"), bundle, (object) =>
      object.kind === "TalosControlPlane"
        ? {
            ...object,
            metadata: { ...object.metadata, annotations: { ...object.metadata?.annotations, "talos-operator.dev/import-bundle": "mine" } },
          }
        : object,
    );
    await world.client
      .resource(kinds.secret)
      .create({ apiVersion: "v1", kind: "Secret", metadata: { namespace: "default", name: "mine" }, data: { bundle: other } } as object);
    await afterThePeer(world);
    await world.start();
    await world.until("differ", async () => (await imported(world))?.reason === "BundlesDiffer", 120);
    assert.equal(await world.get(kinds.record), undefined);
  }));

test("objects of another operator without the word import are not acted on either: their traces ask for a person's approval", () =>
  tell({}, async (world) => {
    const bundle = await leaveBehind(world);
    await leaveObjects(world, manifestOf("talos-alperen-cloud"), bundle, (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: {} },
    }));
    await afterThePeer(world);
    const calls = world.sent.length;
    await world.start();
    await world.until("told", async () => (await imported(world))?.reason === "ApprovalRequired", 120);
    assert.match((await imported(world))?.message ?? "", /Traces of another operator were found \(Secret demo-state\)/);
    assert.equal(await world.get(kinds.secret, "demo-bundle-1"), undefined);
    const [, hash = ""] = /import-approve: ([0-9a-f]{10})/.exec((await imported(world))?.message ?? "") ?? [];
    await world.annotate(kinds.controlPlane, approve, hash);
    await world.until("ready", async () => (await world.condition(kinds.controlPlane, "Ready"))?.status === "True", 120);
    assert.deepEqual(world.sent.slice(calls), []);
  }));

test("a cluster that is not taken over yet is not wiped with its object, and says so", () =>
  tell({}, async (world) => {
    const bundle = await leaveBehind(world);
    await leaveObjects(world, manifestOf("talos-alperen-cloud"), bundle, (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: {} },
    }));
    await afterThePeer(world);
    const calls = world.sent.length;
    await world.start();
    await world.until("told", async () => (await imported(world))?.reason === "ApprovalRequired", 120);
    await world.client.resource(kinds.controlPlane).delete({ namespace: "default", name: "demo" });
    await world.time.advance(120_000);
    assert.match((await world.condition(kinds.controlPlane, "Deleting"))?.message ?? "", /not taken over yet/);
    assert.deepEqual(world.sent.slice(calls), []);
  }));

test("an operator killed at any moment of a takeover leaves nothing half done", () =>
  tell({}, async (world) => {
    const bundle = await leaveBehind(world);
    await leaveObjects(world, manifestOf("vitistack-io"), bundle);
    await afterThePeer(world);
    const calls = world.sent.length;
    for (let kill = 0; kill < 12; kill += 1) {
      await world.start();
      await world.time.advance(200 + kill * 150);
      await world.kill();
    }
    await world.start();
    await world.until("ready", async () => (await world.condition(kinds.controlPlane, "Ready"))?.status === "True", 120);
    assert.deepEqual(world.sent.slice(calls), []);
    const copy = (await world.get(kinds.secret, "demo-bundle-1")) as { readonly data?: Record<string, string> } | undefined;
    assert.equal(copy?.data?.["bundle"], bundle);
    await world.annotate(kinds.controlPlane, mode, undefined);
    await world.time.advance(120_000);
    assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
  }));

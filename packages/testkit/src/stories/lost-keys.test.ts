import assert from "node:assert/strict";
import { test } from "node:test";
import type { Condition } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import type { TalosCredentials } from "@talos-operator/ports";
import { generateSecretsBundle, printSecretsBundle } from "@talos-operator/talos";
import { explain } from "@talos-operator/operator";
import { createValueKeys } from "../world/value-keys.ts";
import { assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Conditioned, Story } from "./story.ts";
import { without } from "./without.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const demo = { namespace: "default", name: "demo" };

type Explained = Parameters<typeof explain>[0]["object"];

type TellingEvent = KubeObject & {
  readonly reason?: string;
  readonly type?: string;
  readonly regarding?: { readonly kind: string; readonly name: string };
};

const withoutBootstrap = (isHeld: () => boolean): ReturnType<typeof without> => without((method) => method.endsWith("/Bootstrap"), isHeld);

/** Deletes record and bundle as a person does who takes the finalizers off; returns them. */
async function lose(world: Story, ...which: readonly ("record" | "secret")[]): Promise<readonly KubeObject[]> {
  const lost: KubeObject[] = [];
  for (const kind of which) {
    const objects = world.client.resource(kinds[kind]);
    const key = { namespace: "default", name: kind === "record" ? "demo" : "demo-bundle-1" };
    lost.push(await objects.get(key));
    await objects.patch(key, { type: "merge", value: { metadata: { finalizers: null } } });
    // One that was deleted before is gone with its finalizer.
    if ((await objects.tryGet(key)) !== undefined) await objects.delete(key);
  }
  return lost;
}

async function putBack(world: Story, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const { resourceVersion: _version, uid: _uid, deletionTimestamp: _going, ...metadata } = object.metadata ?? {};
    await world.client.resource(object.kind === "Secret" ? kinds.secret : kinds.record).create({ ...object, metadata });
  }
}

test("a ClusterRecord and keys that somebody deletes stay behind their finalizers, and it is told; taken back as the runbook says, all is as before", () =>
  tell({}, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(cps));
    await world.start();
    await world.untilReady();
    const sent = world.sent.length;
    const held = (): Promise<Condition | undefined> => world.condition(kinds.controlPlane, "DeletionHeld");
    await world.client.resource(kinds.record).delete(demo);
    await world.until("told", async () => (await held())?.reason === "RecordDeleted", 240);
    assert.match((await held())?.message ?? "", /ClusterRecord demo, at 20.*talos-operator\.dev\/cluster-record.*runbooks\/record-deleted/);
    const events = (await world.client.resource(kinds.event).list({ namespace: "default" })).items as readonly TellingEvent[];
    const own = events.filter(({ reason, regarding }) => reason === "DeletionHeld" && regarding?.kind === "ClusterRecord");
    assert.deepEqual(
      own.map(({ type, regarding }) => [type, regarding?.name]),
      [["Warning", "demo"]],
    );
    await world.client.resource(kinds.secret).delete({ ...demo, name: "demo-bundle-1" });
    await world.until("told of both", async () => /Secret demo-bundle-1/.test((await held())?.message ?? ""), 240);
    assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "True");
    await world.time.advance(60_000);
    await assertQuiet(world);

    await world.stop();
    const saved = await lose(world, "record", "secret");
    await putBack(world, saved);
    await world.start();
    await world.until("taken back", async () => (await held()) === undefined, 240);
    await world.untilReady();
    assert.equal(world.sent.length, sent);
  }));

test("machines that were configured with keys that are gone are shut out by no new ones, and go on when the old ones return", () => {
  let isHeld = true;
  return tell({ dialer: withoutBootstrap(() => isHeld) }, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(cps));
    await world.start();
    await world.until("asked to bootstrap etcd", async () => {
      const record = await world.get(kinds.record);
      return (record?.spec?.["bootstrap"] as { readonly intent?: object } | undefined)?.intent !== undefined;
    });
    await world.kill();
    const lost = await lose(world, "record", "secret");
    await world.start();
    await world.until("said", async () => (await world.condition(kinds.controlPlane, "SecretsLost"))?.reason === "MachinesConfigured");
    const { message } = (await world.condition(kinds.controlPlane, "Ready")) ?? {};
    assert.match(message ?? "", /demo-10\.5\.0\.1.*Restore both from a backup/);
    await world.stop();
    await world.start();
    await world.time.advance(3_600_000);
    assert.equal(await world.get(kinds.secret, "demo-bundle-1"), undefined);
    assert.equal(await world.get(kinds.record), undefined);
    isHeld = false;
    await putBack(world, lost);
    await world.untilReady();
    assert.equal(world.effects.filter((effect) => effect.startsWith("ApplyConfiguration")).length, 3);
  });
});

test("without its record a cluster takes no Secret for its keys that no machine runs with", () =>
  tell({}, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(cps));
    await world.start();
    await world.untilReady();
    await world.kill();
    const [bundle] = await lose(world, "secret", "record");
    assert.ok(bundle !== undefined);
    const keys = createValueKeys(createSeededRandom(7));
    const other = await generateSecretsBundle({ contract: "1.13", clock: world.time.clock, random: createSeededRandom(7), keys });
    const written = { bundle: Buffer.from(printSecretsBundle(other)).toString("base64") };
    await putBack(world, [{ ...bundle, data: written } as KubeObject]);
    const sent = world.effects.length;
    await world.start();
    await world.until("said", async () => (await world.condition(kinds.controlPlane, "SecretsLost"))?.reason === "BundleUnproven");
    await world.time.advance(600_000);
    assert.equal(await world.get(kinds.record), undefined);
    await lose(world, "secret");
    await putBack(world, [bundle]);
    await world.until("Ready again", async () => (await world.get(kinds.record)) !== undefined);
    await world.untilReady();
    assert.equal(world.effects.length, sent);
  }));

test("keys that were lost before anything was sent are made anew, once every machine showed that it holds none", () =>
  tell({}, async (world) => {
    for (const address of cps) world.datacenter.machine(address).powerOff();
    await world.client.resource(kinds.cluster).create(demoCluster(cps));
    await world.start();
    await world.until("composed", async () => (await world.get(kinds.machine, "demo-10.5.0.3")) !== undefined);
    await lose(world, "record", "secret");
    await world.until("said", async () => (await world.condition(kinds.controlPlane, "SecretsLost"))?.reason === "MachinesConfigured");
    await world.time.advance(1_800_000);
    assert.equal(await world.get(kinds.secret, "demo-bundle-1"), undefined);
    for (const address of cps) world.datacenter.machine(address).powerOn();
    await world.untilReady(1_200);
    assert.equal(await world.condition(kinds.controlPlane, "SecretsLost"), undefined);
  }));

test("a record that is made after another one was lost in the same process counts its keys as found, not as made", () => {
  let isHeld = true;
  return tell({ dialer: withoutBootstrap(() => isHeld) }, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(cps));
    await world.start();
    const foundAt = async (): Promise<unknown> =>
      ((await world.get(kinds.record))?.spec?.["bundle"] as { readonly foundAt?: string } | undefined)?.foundAt;
    await world.until("asked to bootstrap etcd", async () => {
      const record = await world.get(kinds.record);
      return (record?.spec?.["bootstrap"] as { readonly intent?: object } | undefined)?.intent !== undefined;
    });
    assert.equal(await foundAt(), undefined);
    // Out of sight, and known to nobody but the record that is lost now.
    world.datacenter.machine("10.5.0.3").setConnected(false);
    await lose(world, "record");
    await world.until("a new record", async () => (await foundAt()) !== undefined);
    isHeld = false;
    await world.time.advance(600_000);
    assert.deepEqual(
      world.effects.filter((effect) => effect.startsWith("Bootstrap")),
      [],
    );
    assert.equal((await world.condition(kinds.controlPlane, "Bootstrapped"))?.reason, "ControlPlaneUnreachable");
    world.datacenter.machine("10.5.0.3").setConnected(true);
    await world.untilReady();
  });
});

test("a bootstrap that cannot even be asked is tried again after a pause, not without end", () => {
  let asked = 0;
  let isHeld = true;
  // Looks are made as os:reader; only an effect is made as os:admin.
  const keys = createValueKeys(createSeededRandom(0));
  const isAdmin = (_method: string, credentials: TalosCredentials): boolean => {
    const isOne = credentials.kind === "mutual" && keys.describeCertificate(credentials.certificate).organizations.includes("os:admin");
    if (isOne) asked += 1;
    // Without a pause no time would ever pass: the story must end to be told.
    if (asked > 2_000) isHeld = false;
    return isOne;
  };
  return tell({ dialer: without(isAdmin, () => isHeld) }, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"]));
    await world.start();
    await world.until("the first try", async () => asked > 0);
    const before = asked;
    await world.time.advance(60_000);
    assert.ok(asked - before >= 60, `${asked - before} calls in a minute`);
    // Two tries a second, two calls each.
    assert.ok(asked - before <= 250, `${asked - before} calls in a minute`);
    isHeld = false;
    await world.untilReady();
  });
});

/** What any object, event or explanation says that a machine would not survive. */
const DESTROYS =
  /reset (it|that|the)|wipe (it|that|the)|into maintenance mode|remove (it|the entry)|abandon-machine|another cluster|is not the machine/i;

for (const [what, which] of [
  ["the bundle", ["secret"]],
  ["record and bundle", ["record", "secret"]],
] as const)
  test(`nobody is told to reset a machine, or to take it off its list, while ${what} of its cluster is gone`, () =>
    tell({}, async (world) => {
      await world.client.resource(kinds.cluster).create(demoCluster(cps, ["10.5.0.4"]));
      await world.start();
      await world.untilReady();
      await world.kill();
      const lost = await lose(world, ...which);
      world.datacenter.machine("10.5.0.3").setConnected(false);
      await world.start();
      await world.until("said", async () => (await world.condition(kinds.worker, "Ready"))?.reason === "SecretsLost", 600);
      await world.time.advance(120_000);
      const types = [kinds.cluster, kinds.controlPlane, kinds.worker, kinds.machine];
      const objects = (await Promise.all(types.map(async (type) => (await world.client.resource<Conditioned>(type).list()).items))).flat();
      const machineStates = objects.filter(({ kind }) => kind === "TalosMachine");
      assert.deepEqual(
        machineStates.map(({ status }) => status?.conditions?.find(({ type }) => type === "Ready")?.reason),
        machineStates.map(() => "SecretsLost"),
      );
      for (const object of objects) {
        for (const { type, message } of object.status?.conditions ?? [])
          assert.doesNotMatch(message, DESTROYS, `${object.kind ?? ""} ${type}`);
        const related = objects.filter((one) => one !== object) as unknown as readonly Explained[];
        const { waitingFor } = explain({ object: object as unknown as Explained, related, record: undefined });
        for (const { releasedBy } of waitingFor) assert.doesNotMatch(releasedBy, DESTROYS, `why ${object.kind ?? ""}`);
      }
      const events = (await world.client.resource<TellingEvent & { readonly note?: string }>(kinds.event).list({ namespace: "default" }))
        .items;
      for (const { note } of events) assert.doesNotMatch(note ?? "", DESTROYS);
      world.datacenter.machine("10.5.0.3").setConnected(true);
      await putBack(world, lost);
      await world.untilReady(600);
    }));

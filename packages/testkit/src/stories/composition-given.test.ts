import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { KeyPair, Logger } from "@talos-operator/ports";
import { parseSecretsBundle } from "@talos-operator/talos";
import { conditionOf, flatCluster, tellComposition } from "./composition.ts";
import type { CompositionStory } from "./composition.ts";
import { createOldLists } from "./old-lists.ts";
import { assertQuiet } from "./quiet.ts";
import { kinds } from "./story.ts";

const TOKEN = "abcdef.0123456789abcdef";

const packed = (text: string): string => Buffer.from(text, "utf8").toString("base64");

/** An authority of the Talos API as somebody has it. */
const authorityOf = (world: CompositionStory, notBefore = world.time.now() - 3_600_000): Promise<KeyPair> =>
  world.keys.createAuthority({ kind: "ed25519", organization: "talos", notBefore });

function withInline({ certificate, key }: KeyPair): KubeObject {
  const machine = { type: "controlplane", token: TOKEN, ca: { crt: packed(certificate), key: packed(key) } };
  return flatCluster(1, { workers: 1 }, { talosConfig: { machine } });
}

const subnets = { podSubnets: ["10.50.0.0/16"], serviceSubnets: ["10.60.0.0/16"] };
const withReference = flatCluster(1, {}, { ...subnets, talosConfig: { machine: { secretRef: { name: "mine" } } } });

const giving = ({ certificate, key }: KeyPair): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "default", name: "mine" },
    data: { token: packed(TOKEN), "ca.crt": packed(certificate), "ca.key": packed(key) },
  }) as KubeObject;

async function bundleOf(world: CompositionStory) {
  const secret = (await world.get(kinds.secret, "demo-bundle-1")) as { readonly data?: Record<string, string> } | undefined;
  return secret === undefined ? undefined : parseSecretsBundle(Buffer.from(secret.data?.["bundle"] ?? "", "base64").toString("utf8"));
}

/** Everything that people see of a cluster: objects but Secrets, without what the person wrote, and files. */
async function shown(world: CompositionStory): Promise<string> {
  const events = { group: "events.k8s.io", version: "v1", plural: "events", kind: "Event", namespaced: true };
  const types = [kinds.vitistackMachine, kinds.controlPlane, kinds.worker, kinds.machine, kinds.record, events];
  const lists = await Promise.all(types.map((type) => world.client.resource(type).list()));
  const cluster = await world.cluster();
  return JSON.stringify([lists, cluster?.status, [...world.files.texts]]);
}

/** A log, and what it was told. */
function listening(): readonly [readonly unknown[], Logger] {
  const lines: unknown[] = [];
  const note = (...words: readonly unknown[]): void => void lines.push(words);
  const log: Logger = { debug: note, info: note, warn: note, error: note, child: () => log };
  return [lines, log];
}

/** Neither the token nor a part of the authorities is in what people see or in the log. */
async function assertHidden(world: CompositionStory, lines: readonly unknown[], authorities: readonly KeyPair[]): Promise<void> {
  const seen = `${await shown(world)}${JSON.stringify(lines)}`;
  assert.ok(lines.length > 10);
  const parts = authorities.flatMap(({ certificate, key }) => [key, packed(key), packed(certificate)]);
  for (const secret of [TOKEN, packed(TOKEN), ...parts])
    assert.ok(!seen.includes(secret) && !seen.includes(JSON.stringify(secret).slice(1, -1)));
}

async function told(world: CompositionStory, reason: string): Promise<string> {
  await world.until(reason, async () => conditionOf(await world.get(kinds.controlPlane), "Ready")?.reason === reason, 300);
  return conditionOf(await world.get(kinds.controlPlane), "Ready")?.message ?? "";
}

describe("a KubernetesCluster with secrets that somebody gives (A017)", () => {
  test("runs with the token and the authority of its spec, and shows neither anywhere", () => {
    const [lines, log] = listening();
    return tellComposition({ log }, async (world) => {
      const authority = await authorityOf(world);
      await world.client.resource(kinds.kubernetesCluster).create(withInline(authority));
      await world.start();
      await world.untilComposed(600);
      const bundle = await bundleOf(world);
      assert.equal(bundle?.trustdInfo.token, TOKEN);
      assert.deepEqual({ ...bundle?.certs.os }, { ...authority });
      await assertHidden(world, lines, [authority]);
      await world.time.advance(120_000);
      await assertQuiet(world, 3);
      await world.client.resource(kinds.kubernetesCluster).delete({ namespace: "default", name: "demo" });
      await world.until("gone", async () => (await world.cluster()) === undefined, 1_800);
      await world.time.advance(60_000);
      assert.deepEqual((await world.client.resource(kinds.secret).list()).items, []);
    });
  });

  test("waits for the Secret that it names, refuses one that does not fit with no keys made, goes on with a sound one, and shows none of it", () => {
    const [lines, log] = listening();
    return tellComposition({ log }, async (world) => {
      await world.client.resource(kinds.kubernetesCluster).create(withReference);
      await world.start();
      assert.match(await told(world, "GivenSecretsUnusable"), /Secret mine gives, and it does not exist/);
      const [mine, other] = [await authorityOf(world), await authorityOf(world)];
      const secrets = world.client.resource(kinds.secret);
      const stored = await secrets.create(giving({ certificate: mine.certificate, key: other.key }));
      await world.until("looked at", async () => /does not belong/.test(await told(world, "GivenSecretsUnusable")), 60);
      assert.equal(await bundleOf(world), undefined);
      assert.deepEqual(world.sent, []);
      await secrets.update({ ...giving(mine), metadata: stored.metadata });
      await world.untilComposed(600);
      assert.deepEqual({ ...(await bundleOf(world))?.certs.os }, { ...mine });
      const config = JSON.stringify(world.datacenter.machine("10.5.0.1").state.config.persisted);
      for (const [network] of Object.values(subnets))
        assert.ok(config.includes(network ?? ""), "A038: the subnets stand in the configuration");
      await assertHidden(world, lines, [mine, other]);
      // What the person keeps stays when the cluster goes.
      await world.client.resource(kinds.kubernetesCluster).delete({ namespace: "default", name: "demo" });
      await world.until("gone", async () => (await world.cluster()) === undefined, 1_800);
      await world.time.advance(60_000);
      assert.deepEqual(
        (await secrets.list()).items.map(({ metadata }) => metadata?.name),
        ["mine"],
      );
    });
  });

  test("refuses an authority that has run out, and a Secret that lacks a part", () =>
    tellComposition({}, async (world) => {
      const { data, ...rest } = giving(await authorityOf(world, world.time.now() - 11 * 365 * 86_400_000)) as unknown as {
        readonly data: Record<string, string>;
      };
      await world.client.resource(kinds.secret).create({ ...rest, data } as unknown as KubeObject);
      await world.client.resource(kinds.kubernetesCluster).create(withReference);
      await world.start();
      assert.match(await told(world, "GivenSecretsUnusable"), /its ca\.crt is not valid now/);
      const { token: _gone, ...fewer } = data;
      const live = await world.client.resource(kinds.secret).get({ namespace: "default", name: "mine" });
      await world.client.resource(kinds.secret).update({ ...live, data: fewer } as unknown as KubeObject);
      await world.until("said", async () => /it lacks token/.test(await told(world, "GivenSecretsUnusable")), 60);
      assert.equal(await bundleOf(world), undefined);
    }));
});

test("given keys of a cluster that is paused are copied into no Secret, also by an operator whose lists are behind", () => {
  const lists = createOldLists();
  return tellComposition({ kube: (real) => lists.kube(real) }, async (world) => {
    const clusters = world.client.resource(kinds.kubernetesCluster);
    const { metadata, ...wanted } = withInline(await authorityOf(world));
    await clusters.create({ ...wanted, metadata: { ...metadata, finalizers: ["cluster.vitistack.io/finalizer"] } });
    lists.keep(kinds.kubernetesCluster.plural, (await clusters.list()).items);
    const annotations = { "talos.alperen.cloud/reconcile-mode": "disable" };
    await clusters.patch({ namespace: "default", name: "demo" }, { type: "merge", value: { metadata: { annotations } } });
    await world.start();
    await world.time.advance(60_000);
    assert.deepEqual((await world.client.resource(kinds.secret).list()).items, []);
  });
});

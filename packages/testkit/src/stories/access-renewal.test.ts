import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { parseTalosconfig } from "@talos-operator/talos";
import { createTalosClient } from "@talos-operator/talos/client";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const DAY_MS = 86_400_000;
const STROKE_DAYS = 10;

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const textOf = async (world: Story, name: string, key: string): Promise<string> => {
  const secret = await world.client.resource<Secret>(kinds.secret).tryGet({ namespace: "default", name });
  return Buffer.from(secret?.data?.[key] ?? "", "base64").toString("utf8");
};
const talosconfig = (world: Story): Promise<string> => textOf(world, "demo-talosconfig", "demo.talosconfig");
const kubeconfig = (world: Story): Promise<string> => textOf(world, "demo-kubeconfig", "kubeconfig");

/** Asks a machine with what stands in the Secret, as a person would. */
async function isAccepted(world: Story): Promise<boolean> {
  const { contexts } = parseTalosconfig(await talosconfig(world));
  const [context] = contexts.values();
  const decode = (text: string | undefined): string => Buffer.from(text ?? "", "base64").toString("utf8");
  const [ca, certificate, key] = [context?.ca, context?.crt, context?.key].map(decode) as [string, string, string];
  const client = createTalosClient(world.datacenter.dialer().dial({ address: "10.5.0.1" }, { kind: "mutual", ca, certificate, key }));
  try {
    await client.version({ timeoutMs: 3_000 });
    return true;
  } catch {
    return false;
  } finally {
    client.close();
  }
}

/** Days pass: some at a stroke, each stroke followed by minutes in which the operator works. Its own certificates end every 12 hours. */
async function days(world: Story, count: number): Promise<void> {
  for (let day = 0; day < count; day += STROKE_DAYS) {
    world.time.setClock(world.time.clock.now() + STROKE_DAYS * DAY_MS);
    await world.time.advance(150_000);
  }
}

test("an idle cluster renews its access Secrets before they end, once a year, and what is renewed works; nothing else is written or sent", () =>
  tell({}, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1"]));
    await world.start();
    await world.untilReady();
    await world.time.advance(60_000);
    const first = { talos: await talosconfig(world), kube: await kubeconfig(world) };
    const writes = world.writes.length;
    const sent = world.sent.length;

    await days(world, 330);
    assert.equal(await talosconfig(world), first.talos, "renewed too early");
    assert.equal(await kubeconfig(world), first.kube, "renewed too early");
    await days(world, 10);
    const second = { talos: await talosconfig(world), kube: await kubeconfig(world) };
    assert.notEqual(second.talos, first.talos, "not renewed with less than 30 days left");
    assert.notEqual(second.kube, first.kube, "not renewed with less than 30 days left");
    await days(world, 60);
    assert.equal(await isAccepted(world), true);
    assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
    await days(world, 330);
    assert.equal(await isAccepted(world), true);
    assert.notEqual(await talosconfig(world), second.talos);
    assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");

    assert.deepEqual(world.sent.slice(sent), []);
    const secrets = world.writes.slice(writes).filter((write) => write.startsWith("PUT") && write.includes("/secrets/"));
    assert.equal(secrets.length, 4, secrets.join("\n"));
  }));

test("a talosconfig leads to the control planes that are there, also when all that it led to were replaced", () =>
  tell({}, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1"]));
    await world.start();
    await world.untilReady();
    const endpoints = async (): Promise<readonly string[]> =>
      [...parseTalosconfig(await talosconfig(world)).contexts.values()].flatMap((context) => context.endpoints ?? []);
    assert.deepEqual(await endpoints(), ["10.5.0.1"]);
    const value = { spec: { controlPlane: { metalSpec: { machines: [{ address: "10.5.0.2" }] } } } };
    await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
    await world.until("written anew", async () => (await endpoints()).join() === "10.5.0.2", 900);
    await world.untilReady();
    const written = await talosconfig(world);
    await world.time.advance(600_000);
    assert.equal(await talosconfig(world), written);
  }));

test("a Secret of somebody else with the name of the kubeconfig is looked at every ten seconds: when it goes, the kubeconfig comes", () =>
  tell({}, async (world) => {
    const secrets = world.client.resource<Secret>(kinds.secret);
    const key = { namespace: "default", name: "demo-kubeconfig" };
    await secrets.create({ apiVersion: "v1", kind: "Secret", metadata: { ...key }, data: { kubeconfig: btoa("somebody's") } });
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1"]));
    await world.start();
    for (let n = 0; n < 10; n += 1) {
      await world.time.advance(30_000);
      if ((await world.condition(kinds.controlPlane, "Ready"))?.reason === "NameConflict") break;
    }
    assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.reason, "NameConflict");
    assert.equal(await kubeconfig(world), "somebody's");
    await world.time.advance(10_000);
    await secrets.delete(key);
    await world.time.advance(12_000);
    assert.notEqual(await kubeconfig(world), "");
  }));

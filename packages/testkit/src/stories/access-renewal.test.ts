import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import type { TalosCluster } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { TalosDialer } from "@talos-operator/ports";
import { parseTalosconfig } from "@talos-operator/talos";
import { createTalosClient } from "@talos-operator/talos/client";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";
import { withCalls } from "../world/with-calls.ts";

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

test("access is renewed and written anew also while the spec cannot be", () =>
  tell({}, async (world) => {
    const spec = demoCluster(["10.5.0.1"]).spec?.controlPlane;
    const object = {
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosControlPlane",
      metadata: { namespace: "default", name: "demo" },
      spec,
    };
    await world.client.resource(kinds.controlPlane).create(object);
    await world.start();
    await world.until("Ready", async () => (await world.condition(kinds.controlPlane, "Ready"))?.status === "True");
    const first = { talos: await talosconfig(world), kube: await kubeconfig(world) };
    const patch = { type: "merge", value: { spec: { version: "v0.9.0" } } } as const;
    await world.client.resource(kinds.controlPlane).patch({ namespace: "default", name: "demo" }, patch);
    await world.until("said", async () => (await world.condition(kinds.controlPlane, "EditRefused"))?.reason === "SpecInvalid");
    const sent = world.sent.length;
    await days(world, 340);
    assert.notEqual(await talosconfig(world), first.talos);
    assert.notEqual(await kubeconfig(world), first.kube);
    await world.client.resource(kinds.secret).delete({ namespace: "default", name: "demo-kubeconfig" });
    await world.until("made again", async () => (await kubeconfig(world)) !== "");
    assert.equal((await world.condition(kinds.controlPlane, "EditRefused"))?.reason, "SpecInvalid");
    assert.deepEqual(world.sent.slice(sent), []);
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

test("a talosconfig leads to no control plane that left, also while others of its endpoints stay", () =>
  tell({}, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1", "10.5.0.2", "10.5.0.3"]));
    await world.start();
    await world.untilReady();
    const endpoints = async (): Promise<readonly string[]> =>
      [...parseTalosconfig(await talosconfig(world)).contexts.values()].flatMap((context) => context.endpoints ?? []);
    const machines = ["10.5.0.1", "10.5.0.4", "10.5.0.5"].map((address) => ({ address }));
    const value = { spec: { controlPlane: { metalSpec: { machines } } } };
    await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
    await world.until("written anew", async () => (await endpoints()).join() === "10.5.0.1,10.5.0.4,10.5.0.5", 900);
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

test("a control plane that leaves the question unanswered keeps nobody from a kubeconfig that another one gives", () => {
  let world: Story | undefined;
  let isHanging = false;
  const dialer = (real: TalosDialer): TalosDialer =>
    withCalls(real, ({ address, channel }) => ({
      async *serverStream(method, request, options) {
        const hangs = isHanging && address === "10.5.0.1" && method.path.endsWith("/Kubeconfig");
        if (hangs) await new Promise<void>((resolve) => world?.time.timers.schedule(5_000, resolve));
        yield* channel.serverStream(hangs ? { ...method, path: "/machine.MachineService/Unknown" } : method, request, options);
      },
    }));
  return tell({ dialer }, async (told) => {
    world = told;
    await told.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1", "10.5.0.2", "10.5.0.3"]));
    await told.start();
    await told.untilReady();
    const first = await kubeconfig(told);
    isHanging = true;
    await told.client.resource<Secret>(kinds.secret).delete({ namespace: "default", name: "demo-kubeconfig" });
    await told.until("written anew", async () => (await kubeconfig(told)) !== "", 240);
    assert.notEqual(await kubeconfig(told), first);
  });
});

/** The archive that a machine gives, with a certificate in it that nobody can read. */
function spoiled(archive: Uint8Array): Uint8Array {
  const tar = gunzipSync(archive);
  const mark = "client-certificate-data: ";
  tar.fill("A", tar.indexOf(mark) + mark.length, tar.indexOf(mark) + mark.length + 40);
  return gzipSync(tar);
}

test("a kubeconfig of no use replaces none that works: people are told, and as soon as a machine gives a good one it is renewed", () => {
  let isLying = false;
  const dialer = (real: TalosDialer): TalosDialer =>
    withCalls(real, ({ channel }) => ({
      async *serverStream(method, request, options) {
        for await (const message of channel.serverStream(method, request, options)) {
          const { bytes } = message as { readonly bytes?: Uint8Array };
          yield isLying && bytes !== undefined && method.path.endsWith("/Kubeconfig") ? { ...message, bytes: spoiled(bytes) } : message;
        }
      },
    }));
  return tell({ dialer }, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1"]));
    await world.start();
    await world.untilReady();
    const first = await kubeconfig(world);
    isLying = true;
    await days(world, 340);
    assert.equal(await kubeconfig(world), first);
    const told = await world.condition(kinds.controlPlane, "AccessNotRenewed");
    assert.equal(told?.reason, "KubeconfigRejected");
    assert.match(told.message, /10\.5\.0\.1 makes is not given to people: its certificates cannot be read/);
    isLying = false;
    await world.time.advance(120_000);
    assert.notEqual(await kubeconfig(world), first);
    assert.equal(await world.condition(kinds.controlPlane, "AccessNotRenewed"), undefined);
  });
});

test("access Secrets that a person made immutable: somebody is told in time, nothing else stops, and once they are deleted they are made anew", () =>
  tell({}, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1"]));
    await world.start();
    await world.untilReady();
    const secrets = world.client.resource<Secret>(kinds.secret);
    const names = ["demo-kubeconfig", "demo-talosconfig"];
    for (const name of names) await secrets.patch({ namespace: "default", name }, { type: "merge", value: { immutable: true } });
    await days(world, 300);
    assert.equal(await world.condition(kinds.controlPlane, "AccessNotRenewed"), undefined);
    const writes = world.writes.length;
    await days(world, 40);
    const told = await world.condition(kinds.controlPlane, "AccessNotRenewed");
    assert.equal(told?.reason, "SecretImmutable");
    assert.match(told.message, /demo-kubeconfig .* delete it, .*demo-talosconfig .* delete it/);
    assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
    assert.deepEqual(
      world.writes.slice(writes).filter((write) => write.includes("/secrets")),
      [],
    );
    for (const name of names) await secrets.delete({ namespace: "default", name });
    await world.time.advance(150_000);
    assert.equal(await isAccepted(world), true);
    assert.equal(await world.condition(kinds.controlPlane, "AccessNotRenewed"), undefined);
  }));

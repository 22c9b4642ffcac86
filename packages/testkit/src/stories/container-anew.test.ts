import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { demoCluster, kinds, tell } from "./story.ts";

const NAME = "demo-10.5.0.2";
const ACCEPT = "talos-operator.dev/accept-identity";

test("a container made anew with another card is named with its key, taken in by that very key alone, and each answer is an event", () =>
  tell({ machines: ["10.5.0.1", "10.5.0.2"].map((address) => ({ address, platform: "container" as const })) }, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1"], ["10.5.0.2"]));
    await world.start();
    await world.untilReady();
    const machine = world.datacenter.machine("10.5.0.2");
    machine.powerOff();
    machine.replaceCard("02:aa:aa:aa:aa:aa");
    machine.powerOn();
    const ready = () => world.condition(kinds.machine, "Ready", NAME);
    await world.until("named", async () => (await ready())?.reason === "IdentityMismatch");
    assert.equal((await world.get(kinds.machine, NAME))?.status?.state, "IdentityMismatch");
    const key = /accept-identity: (\S+)\.$/.exec((await ready())?.message ?? "")?.[1] ?? "";
    assert.match(key, /^\S{20,}$/);
    const isAnswered = async (): Promise<boolean> => (await world.get(kinds.controlPlane))?.metadata?.annotations?.[ACCEPT] === undefined;
    for (const other of [key.slice(0, 12), `${key}A`, "another"]) {
      await world.annotate(kinds.controlPlane, ACCEPT, other);
      await world.until("refused", isAnswered);
      await world.time.advance(60_000);
      assert.equal((await ready())?.reason, "IdentityMismatch", other);
    }
    // A machine that boots, or renews its certificate, shows another key: the word of before does not count for it.
    machine.powerCycle();
    const isRenewed = async (): Promise<boolean> => {
      const { reason, message = "" } = (await ready()) ?? {};
      return reason === "IdentityMismatch" && !message.includes(key);
    };
    await world.until("its other key is named", isRenewed);
    await world.annotate(kinds.controlPlane, ACCEPT, key);
    await world.until("refused", isAnswered);
    await world.time.advance(60_000);
    assert.equal((await ready())?.reason, "IdentityMismatch");
    const now = /accept-identity: (\S+)\.$/.exec((await ready())?.message ?? "")?.[1] ?? "";
    await world.annotate(kinds.controlPlane, ACCEPT, now);
    await world.until("taken in", async () => (await isAnswered()) && (await ready())?.reason === "AllReady");
    await world.untilReady();
    const notes = (await world.client.resource(kinds.event).list()).items.map((event) => String((event as { note?: string }).note));
    assert.ok(
      notes.some((note) => note.includes("names a key that none shows")),
      notes.join("\n"),
    );
    assert.ok(notes.some((note) => note.includes("was taken in with its new hardware addresses")));
  }));

test("a container that is started again with its card needs nobody's word", () =>
  tell({ machines: ["10.5.0.1", "10.5.0.2"].map((address) => ({ address, platform: "container" as const })) }, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1"], ["10.5.0.2"]));
    await world.start();
    await world.untilReady();
    world.datacenter.machine("10.5.0.2").powerCycle();
    await world.time.advance(300_000);
    assert.equal((await world.condition(kinds.machine, "Ready", NAME))?.reason, "AllReady");
    assert.equal((await world.get(kinds.controlPlane))?.metadata?.annotations?.[ACCEPT], undefined);
  }));

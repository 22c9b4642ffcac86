import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { genuineTimings } from "@talos-operator/simulator";
import { asPerson } from "./as-person.ts";
import { containerMachines } from "./container-documents.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const three = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];

/** Lets time pass, and returns everything that a condition of the control plane said meanwhile, each once. */
async function said(world: Story, condition: string, seconds: number): Promise<readonly string[]> {
  const all = new Set<string>();
  for (let step = 0; step < seconds * 5; step += 1) {
    await world.time.advance(200);
    const one = await world.condition(kinds.controlPlane, condition);
    if (one !== undefined) all.add(`${one.reason}: ${one.message}`);
  }
  return [...all];
}

async function removeLast(world: Story): Promise<void> {
  const removed = asPerson(world, "10.5.0.1", async (client) => {
    const members = await client.etcdMemberList();
    const last = members.find(({ peerUrls }) => peerUrls.some((url) => url.includes("10.5.0.3")));
    await client.etcdRemoveMemberById(last?.id ?? "");
  });
  await world.time.advance(1_000);
  await removed;
}

describe("trouble of etcd that passes", () => {
  test("control planes that join at the pace of genuine ones are never called unhealthy, and nobody is to replace one", () =>
    tell({ timings: { ...genuineTimings, etcdCheckMs: 20_000 } }, async (world) => {
      await world.client.resource(kinds.cluster).create(demoCluster(three));
      await world.start();
      const ready = await said(world, "Ready", 240);
      assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "True");
      assert.ok(ready.some((one) => one.startsWith("Joining: ")));
      assert.deepEqual(
        ready.filter((one) => /^EtcdUnhealthy|replaced by|power, network/.test(one)),
        [],
      );
    }));

  test("a member that answers no question about etcd for four seconds, as under many writes, keeps its cluster Ready", () =>
    tell({}, async (world) => {
      await world.client.resource(kinds.cluster).create(demoCluster(three));
      await world.start();
      await world.untilReady();
      await world.time.advance(120_000);
      const methods = ["EtcdMemberList", "EtcdStatus"];
      const faults = methods.map((method) => world.datacenter.inject({ machine: "10.5.0.2", method, effect: { kind: "silent" } }));
      await world.until("asked", async () => faults.some(({ hits }) => hits > 0), 120);
      const ready = [...(await said(world, "Ready", 4))];
      for (const fault of faults) fault.remove();
      ready.push(...(await said(world, "Ready", 60)));
      assert.deepEqual([...new Set(ready)], ["AllReady: etcd is healthy and every control plane node is ready."]);
    }));

  test("a container whose member somebody removed is told of in one sentence, which says what to do in a container", () =>
    tell({ machines: containerMachines }, async (world) => {
      await world.client.resource(kinds.cluster).create(demoCluster(three));
      await world.start();
      await world.untilReady();
      const before = world.sent.length;
      await removeLast(world);
      const health = async (): Promise<string> => (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.message ?? "";
      await world.until("told", async () => /cannot join with its old data/.test(await health()), 180);
      const sentences = [...(await said(world, "EtcdHealthy", 120)), ...(await said(world, "Ready", 120))];
      assert.equal(sentences.length, 2, sentences.join("\n"));
      for (const sentence of sentences) {
        assert.match(sentence, /Stop its container, empty \/var\/lib\/etcd in its volume, and start it again/);
        assert.doesNotMatch(sentence, /reset|To continue/);
      }
      assert.deepEqual(world.sent.slice(before), ["EtcdRemoveMemberByID 10.5.0.1"], "nothing is sent for it");
    }));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { explain, printExplanation, readSubject } from "@talos-operator/operator";
import type { Explanation } from "@talos-operator/operator";
import type { ResourceType } from "@talos-operator/kube-runtime";
import { flatCluster, tellComposition } from "./composition.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

async function why(world: Pick<Story, "client">, type: ResourceType, name = "demo"): Promise<Explanation> {
  const subject = await readSubject(world.client, type, "default", name);
  assert.ok(subject !== undefined);
  return explain(subject);
}

test("why names the machine that is missing, since when, and what releases it; afterwards that nothing is waited for", () =>
  tell({}, async (world) => {
    world.datacenter.machine("10.5.0.2").powerOff();
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1", "10.5.0.2", "10.5.0.3"]));
    await world.start();
    await world.until("told", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "WaitingForMachines");
    await world.time.advance(60_000);
    for (const type of [kinds.cluster, kinds.controlPlane]) {
      const told = await why(world, type);
      assert.equal(told.isSettled, false);
      assert.ok(
        told.waitingFor.some(
          ({ message, releasedBy, since }) =>
            message.includes("demo-10.5.0.2") && /power|Boot|See|says of/.test(releasedBy) && since !== "",
        ),
        JSON.stringify(told.waitingFor, undefined, 1),
      );
      assert.match(printExplanation(told, world.time.now()), /To continue: /);
    }
    const machine = await why(world, kinds.machine, "demo-10.5.0.2");
    assert.equal(machine.waitingFor[0]?.reason, "WaitingForMachines");
    world.datacenter.machine("10.5.0.2").powerOn();
    await world.untilReady();
    const settled = await why(world, kinds.cluster);
    assert.equal(settled.isSettled, true);
    assert.match(printExplanation(settled, world.time.now()), /nothing is waited for/);
  }));

test("why says of a cluster that is ready and gets new settings what it says of its control plane: that it is not as asked for", () =>
  tell({}, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1", "10.5.0.2", "10.5.0.3"]));
    await world.start();
    await world.untilReady();
    const configPatches = [{ machine: { sysctls: { "net.core.somaxconn": "4096" } } }];
    const value = { spec: { controlPlane: { metalSpec: { machineSpec: { configPatches } } } } };
    await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
    await world.until("tried", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "RollingOut");
    for (const type of [kinds.cluster, kinds.controlPlane]) {
      const told = await why(world, type);
      assert.equal(told.isSettled, false);
      assert.doesNotMatch(printExplanation(told, world.time.now()), /It is as the spec asks/);
    }
  }));

test("why names what a KubernetesCluster waits for, in it and in its pools; afterwards that nothing is waited for", () =>
  tellComposition({}, async (world) => {
    world.provider.hold(true);
    await world.client.resource(kinds.kubernetesCluster).create(flatCluster(1, { workers: 1 }));
    await world.start();
    await world.time.advance(60_000);
    const waiting = await why(world, kinds.kubernetesCluster);
    assert.equal(waiting.isSettled, false);
    assert.match(printExplanation(waiting, world.time.now()), /^KubernetesCluster\/demo in namespace default: [A-Z]\w+\n[^]*demo-cp-0/);
    world.provider.hold(false);
    await world.untilComposed();
    const settled = await why(world, kinds.kubernetesCluster);
    assert.match(printExplanation(settled, world.time.now()), /nothing is waited for[^]*Last decisions/);
  }));

test("why does not say that a deletion goes on by itself, while its message may ask for a person's word", () => {
  const message = "The control plane demo goes. demo-1 must be wiped and does not answer.";
  const deleting = { type: "Deleting", status: "True", reason: "WaitingForChildren", message, lastTransitionTime: "" } as const;
  const object = { kind: "KubernetesCluster", metadata: { namespace: "default", name: "demo" }, status: { conditions: [deleting] } };
  const { waitingFor } = explain({ object, related: [], record: undefined });
  assert.deepEqual(
    waitingFor.map(({ releasedBy }) => releasedBy),
    ["See the message: it names what is waited for, and who releases it."],
  );
});

test("every entry of the journal says what, why, which rule, and what releases it, and there are never more than fifty", () =>
  tell({}, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1", "10.5.0.2", "10.5.0.3"]));
    await world.start();
    await world.untilReady();
    const { decisions } = await why(world, kinds.controlPlane);
    assert.ok(decisions.length >= 5 && decisions.length <= 50);
    for (const decision of decisions) {
      for (const word of [decision.action, decision.reason, decision.rule, decision.message, decision.releasedBy])
        assert.ok(word !== undefined && word !== "", JSON.stringify(decision));
    }
    assert.ok(decisions.some(({ action, rule }) => action === "Bootstrap" && rule === "bootstrapOnce"));
    assert.ok(decisions.some(({ action, rule }) => action === "CreateBundle" && rule === "keepKeys"));
  }));

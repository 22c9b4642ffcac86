// What no pass may break stays on in production: a rule that is wrong sends nothing, and people are told.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetricsRegistry } from "@talos-operator/kube-runtime";
import { defaultRules } from "@talos-operator/operator/testing";
import type { Action, Rule } from "@talos-operator/operator/testing";
import { demoCluster, kinds, tell } from "./story.ts";

/** Boots two control planes at once as soon as somebody asks for it by a label, as no rule does. */
const wrong: Rule = {
  name: "wrong",
  decide({ seen, facts }) {
    if (seen.record.kind !== "present" || facts === undefined || seen.controlPlane.metadata.labels?.["boot"] === undefined)
      return undefined;
    const targets = facts.machines.filter(({ role }) => role === "controlplane").slice(0, 2);
    const intents = targets.map(({ name, address, uuid, role }) => {
      const times = { at: seen.now, deadline: seen.now + 60_000 };
      return { what: "Reboot" as const, machine: name, address, uuid, role, ...times, why: "" };
    });
    const boots = targets.map(({ name, address, uuid, role }): Action => ({
      kind: "RebootMachine",
      machine: name,
      address,
      ifUuid: uuid,
      role,
      ifBootId: "",
    }));
    const write: Action = {
      kind: "WriteRecord",
      ifResourceVersion: seen.record.value.resourceVersion,
      facts: { ...facts, intents },
      why: "wrong",
    };
    return { actions: [write, ...boots] };
  },
};

const labelled = (boot: string | null): { readonly metadata: object } => ({ metadata: { labels: { boot } } });

test("a rule that would boot two control planes at once sends nothing, says so, and lets go when it asks for nothing any more", () => {
  const metrics = createMetricsRegistry();
  const found: string[] = [];
  const onInvariantBroken = (invariant: string): void => void found.push(invariant);
  return tell({ metrics, operator: { rules: [wrong, ...defaultRules], onInvariantBroken } }, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1", "10.5.0.2", "10.5.0.3"]));
    await world.start();
    await world.untilReady();
    const sent = world.sent.length;
    const controlPlanes = world.client.resource(kinds.controlPlane);
    await controlPlanes.patch({ namespace: "default", name: "demo" }, { type: "merge", value: labelled("now") });
    const ready = (): ReturnType<typeof world.condition> => world.condition(kinds.controlPlane, "Ready");
    await world.until("it is told", async () => (await ready())?.reason === "InvariantBroken", 60);
    const { status, message = "" } = (await ready()) ?? {};
    assert.equal(status, "False");
    assert.match(message, /Nothing is sent: what was decided \(wrong\) would break S11: .*2 open intents/);
    await world.time.advance(120_000);
    assert.equal(world.sent.length, sent, "nothing was sent to a machine");
    const record = await world.get(kinds.record);
    assert.equal(record?.spec?.["openControlPlaneIntent"], undefined);
    assert.match(metrics.text(), /talos_operator_invariants_broken_total\{invariant="S11"\} [1-9]/);
    assert.deepEqual([...new Set(found)], ["S11"]);
    const { items } = await world.client.resource(kinds.event).list({ namespace: "default" });
    const told = items.filter((event) => (event as { readonly reason?: string }).reason === "InvariantBroken");
    assert.equal(told.length, 1, "one event for one fault");
    await controlPlanes.patch({ namespace: "default", name: "demo" }, { type: "merge", value: labelled(null) });
    await world.until("it goes on", async () => (await ready())?.status === "True", 60);
  });
});

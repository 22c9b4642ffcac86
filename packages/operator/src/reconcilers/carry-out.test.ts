import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  clusterRecordResource,
  kubernetesClusterResource,
  talosClusterResource,
  talosControlPlaneResource,
  talosMachineResource,
  talosWorkerResource,
} from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import { createKubeClient, silentTracer } from "@talos-operator/kube-runtime";
import type { KubeClient, ReconcileContext } from "@talos-operator/kube-runtime";
import { createFakeApi, createMemoryLog, createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { LookGate } from "../looking/look-gate.ts";
import { Turnstile } from "../looking/turnstile.ts";
import { configured, facts, NOW, observed } from "../testing/builders.ts";
import { silentTelling } from "../testing/silent-telling.ts";
import { createReading } from "../controllers/shared/latest.ts";
import type { BrainOptions } from "./brain.ts";
import { carryOut } from "./carry-out.ts";
import type { EffectPorts } from "./carry-out.ts";
import type { Cluster } from "./clusters.ts";
import { readClusterRecord } from "../observe/fresh-copies.ts";
import { printRecord } from "../record/facts-codec.ts";
import { ClusterSession } from "./cluster-session.ts";
import type { Decision } from "../model/decision.ts";
import type { ClusterFacts, IntentFact } from "../model/record.ts";
import type { ObservePorts } from "../observe/observe-ports.ts";

const key = { namespace: "default", name: "demo" };
const one = configured("10.0.1.1", "worker", "demo-workers");
const before = facts({ machines: [one] });
const reboot: IntentFact = {
  what: "Reboot",
  machine: one.name,
  address: one.address,
  uuid: one.uuid,
  role: "worker",
  at: NOW,
  deadline: NOW + 60_000,
  why: "",
};
const meanwhile = facts({ machines: [one], intents: [reboot] });
const decision = {
  rule: "tendNodes",
  actions: [{ kind: "Uncordon", machine: one.name, node: "a", address: one.address, ifUuid: one.uuid }],
} as unknown as Decision;

/**
 * Takes the cordon off a Node, which was decided on the record `before`.
 *
 * @param stored the record as it is by then
 * @returns what stopped it, and what the next pass takes for the record
 */
async function uncordoned(stored: ClusterFacts, given: { readonly leads?: boolean } = {}) {
  const { clock, timers } = createVirtualTime();
  const api = createFakeApi();
  const client = createKubeClient(api.transport());
  const collection = "/apis/talos-operator.dev/v1alpha1/clusterrecords";
  const dial = (): never => {
    throw new Error("no machine is asked");
  };
  const ports = {
    dialer: { dial, reaches: async () => true, hold: async () => "released" as const },
    clock,
    timers,
    random: createSeededRandom(1),
    gate: new LookGate(timers),
  };
  const workload = {
    use: (_user: unknown, _place: unknown, work: (client: KubeClient, timeoutMs: number) => Promise<unknown>) => work(client, 1_000),
    staleNodes: () => undefined,
    close: () => undefined,
  };
  const session = Object.assign(new ClusterSession({ ...ports, turnstile: new Turnstile(4), makingKeys: new Set() }, () => undefined), {
    workload,
  }) as unknown as ClusterSession;
  const writer = { identity: "one", fencingToken: "1/1" };
  api.put(collection, printRecord(key, before, undefined, writer));
  session.record = { at: clock.now(), value: await client.resource<ClusterRecord>(clusterRecordResource).get(key) };
  api.put(collection, printRecord(key, stored, undefined, writer));
  const leading = { ...writer, mayDisturb: true, remainingMs: () => 15_000, confirm: async () => given.leads !== false };
  const latest: BrainOptions["latest"] = {
    talosCluster: createReading(talosClusterResource, client),
    controlPlane: createReading(talosControlPlaneResource, client),
    worker: createReading(talosWorkerResource, client),
    machine: createReading(talosMachineResource, client),
    kubernetesCluster: createReading(kubernetesClusterResource, client),
  };
  const neighbours = { find: async () => undefined };
  const options = { ...ports, client, leading, latest, neighbours, events: silentTelling } as unknown as BrainOptions;
  const context = { signal: new AbortController().signal, log: createMemoryLog(), span: silentTracer } as unknown as ReconcileContext;
  const seen = observed({ facts: before });
  const stopped = await carryOut(decision, seen, { key, session } as Cluster, options, {} as EffectPorts, context);
  const record = await readClusterRecord(key, session, { client, clock, clusters: 1 } as ObservePorts);
  session.close();
  return {
    code: (stopped as { readonly code?: unknown } | undefined)?.code,
    next: record.kind === "present" ? record.value.facts : undefined,
  };
}

describe("a pass whose effect was held back at the last moment", () => {
  it("is followed by one that reads the record anew when that had changed", async () => {
    const { code, next } = await uncordoned(meanwhile);
    assert.equal(code, "RECORD_CHANGED");
    assert.deepEqual(
      next?.intents.map(({ what }) => what),
      ["Reboot"],
    );
  });

  it("is followed by one that goes on with what it knows when the record had nothing to do with it", async () => {
    const { code, next } = await uncordoned(meanwhile, { leads: false });
    assert.equal(code, "NOT_LEADING");
    assert.deepEqual(next?.intents, []);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MAX_KNOWN_MACHINES } from "@talos-operator/api";
import { assess } from "../assess/assess.ts";
import { configured, controlPlane, facts, founded, inMaintenance, member, NOW, observed, running, worker } from "../testing/builders.ts";
import { planMachines } from "../procedures/join/plan.ts";
import { finishDeletion } from "../procedures/delete/rule.ts";
import { printRecord } from "./facts-codec.ts";
import { intentsThatFit } from "./room.ts";
import type { Action } from "../model/effect.ts";
import type { ClusterFacts, MachineFact } from "../model/record.ts";

/** What etcd takes in one request. */
const ETCD_TAKES = 1.5 * 1024 * 1024;

const POOL = "demo-workers";
const address = (n: number): string => `10.1.${n >> 8}.${n & 255}`;
const mac = (n: number): string =>
  `00:25:90:${[n >> 16, (n >> 8) & 255, n & 255].map((byte) => byte.toString(16).padStart(2, "0")).join(":")}`;

/** Workers as hardware is, with so many hardware addresses each. */
function workersOf(count: number, macs: number, over: (n: number) => Partial<MachineFact> = () => ({})): readonly MachineFact[] {
  return Array.from({ length: count }, (_, n) =>
    configured(address(n), "worker", POOL, {
      uuid: "4c4c4544-0042-3010-8056-b4c04f4a4e33",
      spki: "Xn9vJ0V0GdKk2dTqz0nXbAAAAAAAAAAAAAAAAAAAAAA=",
      macs: Array.from({ length: macs }, (_unused, k) => mac(n * macs + k)),
      configHash: "0123456789abcdef",
      contract: "1.13",
      appliedHash: "a".repeat(64),
      pool: POOL,
      metaHash: "none",
      ...over(n),
    }),
  );
}

const controlPlanes = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((one) => configured(one));

function bytesOf(known: ClusterFacts): number {
  const writer = { identity: "talos-operator-7d9f8c6b5-abcde_0b8a6a5e-1111-2222-3333-444455556666", fencingToken: "1/42" };
  return Buffer.byteLength(JSON.stringify(printRecord({ namespace: "default", name: "demo" }, known, undefined, writer)));
}

/** The cluster with a pool of so many machines, those beyond what is known in maintenance mode. */
function joining(machines: readonly MachineFact[], listed: number): ReturnType<typeof planMachines> {
  const known = facts({ machines: [...controlPlanes, ...machines], bootstrapDone: founded });
  const names = new Set(machines.filter(({ releasedAt }) => releasedAt === undefined).map(({ name }) => name));
  const places = Array.from({ length: listed }, (_, n) => address(n));
  const waiting = places.filter((one) => !names.has(`${POOL}-${one}`));
  const pool = worker(0);
  const seen = observed({
    facts: known,
    controlPlane: controlPlane(3),
    workers: [
      {
        ...pool,
        spec: { ...pool.spec, metalSpec: { ...pool.spec?.metalSpec, machines: places.map((one) => ({ address: one })) } },
      } as typeof pool,
    ],
    looks: {
      ...Object.fromEntries(controlPlanes.map((one, index) => [one.address, running(member(index, 3))])),
      ...Object.fromEntries(waiting.map((one) => [one, inMaintenance(one)])),
    },
  });
  return planMachines(assess(seen), known);
}

describe("the room in a ClusterRecord", () => {
  it("is enough for as many workers as it may list, as hardware is", () => {
    const { facts: next, stopped } = joining(workersOf(MAX_KNOWN_MACHINES - 1, 2), MAX_KNOWN_MACHINES);
    assert.deepEqual(stopped, []);
    assert.ok(bytesOf(next) < ETCD_TAKES);
  });

  it("ends: one worker more is told so by name, and keeps nobody else from being written down", () => {
    const { facts: next, configure, stopped } = joining(workersOf(MAX_KNOWN_MACHINES - 1, 2), MAX_KNOWN_MACHINES + 1);
    assert.deepEqual(
      configure.map(({ machine }) => machine.name),
      [`${POOL}-${address(MAX_KNOWN_MACHINES - 1)}`],
    );
    assert.deepEqual(
      stopped.map(({ name, reason }) => [name, reason]),
      [[`${POOL}-${address(MAX_KNOWN_MACHINES)}`, "UnsupportedReplicas"]],
    );
    assert.match(stopped[0]?.message ?? "", /holds as many machines as it can.*Take machines out of the list/);
    assert.equal(next.machines.filter(({ role }) => role === "worker").length, MAX_KNOWN_MACHINES);
  });

  it("ends sooner where machines tell many hardware addresses: etcd takes the record all the same", () => {
    const { facts: next, stopped } = joining(workersOf(700, 64), 701);
    assert.deepEqual(
      stopped.map(({ reason }) => reason),
      ["UnsupportedReplicas"],
    );
    assert.ok(bytesOf(next) < ETCD_TAKES);
  });

  it("is made by forgetting workers that were released long ago, and not those that left last or are listed again", () => {
    const listed = 3;
    const gone = (n: number): Partial<MachineFact> => (n < listed - 1 ? {} : { releasedAt: NOW - n * 60_000 });
    const machines = workersOf(MAX_KNOWN_MACHINES, 2, gone);
    const { facts: next, stopped } = joining(machines, listed);
    assert.deepEqual(stopped, []);
    const [again] = next.machines.filter(({ name }) => name === `${POOL}-${address(listed - 1)}`);
    assert.equal(again?.releasedAt, undefined);
    const { facts: grown } = joining(
      machines.map((fact, n) => (n === 5 ? { ...fact, name: `${POOL}-elsewhere` } : fact)),
      6,
    );
    const left = grown.machines.filter(({ releasedAt }) => releasedAt !== undefined);
    assert.equal(left.length, 64);
    assert.ok(
      left.some(({ name }) => name === `${POOL}-${address(6)}`),
      "the last one that left",
    );
    assert.equal(grown.machines.filter(({ role }) => role === "controlplane").length, 3);
    assert.ok(grown.machines.some(({ name, releasedAt }) => name === `${POOL}-${address(5)}` && releasedAt === undefined));
  });

  it("is kept for wipes: a cluster of as many workers as there can be is taken down in rounds that etcd takes", () => {
    const known = facts({ machines: [...controlPlanes, ...workersOf(MAX_KNOWN_MACHINES, 2)], bootstrapDone: founded });
    const deletionTimestamp = new Date(NOW).toISOString();
    const pool = worker(0);
    const places = Array.from({ length: MAX_KNOWN_MACHINES }, (_, n) => ({ address: address(n) }));
    const seen = observed({
      facts: known,
      controlPlane: controlPlane(3, {}, { deletionTimestamp }),
      workers: [
        {
          ...pool,
          metadata: { ...pool.metadata, deletionTimestamp, finalizers: ["talosworker.talos.alperen.cloud/finalizer"] },
          spec: { ...pool.spec, metalSpec: { machines: places } },
        } as typeof pool,
      ],
      looks: Object.fromEntries(places.map((one) => [one.address, running()])),
      namespaceIsTerminating: false,
    });
    const { actions = [] } = finishDeletion.decide(assess(seen)) ?? {};
    const written = actions.flatMap((action: Action) => (action.kind === "WriteRecord" ? [action.facts] : []))[0];
    assert.ok(written !== undefined && written.intents.length > 100, `${written?.intents.length} wipes at once`);
    assert.ok(bytesOf(written) < ETCD_TAKES, `${bytesOf(written)} bytes`);
    const wiped = actions.filter(({ kind }) => kind === "ResetMachine");
    assert.equal(wiped.length, written.intents.length);
  });

  it("never keeps the last effect from being written down", () => {
    const [first] = workersOf(1, 2);
    assert.ok(first !== undefined);
    const intent = {
      what: "Reset",
      machine: first.name,
      address: first.address,
      uuid: first.uuid,
      role: "worker",
      at: NOW,
      deadline: NOW,
      why: "x",
    } as const;
    assert.equal(intentsThatFit(facts({ machines: workersOf(1500, 64) }), intent), 1);
  });
});

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { inMaintenance, machinesOf, running } from "@talos-operator/operator/testing";
import type { Action, ClusterFacts, DecidedPass, Observed } from "@talos-operator/operator/testing";
import { createEffectWorld } from "./effect-world.ts";
import type { EffectWorld, Lie, Meanwhile } from "./effect-world.ts";

type Row = Meanwhile & { readonly action?: Action; readonly seen?: Observed };

const factOf = (known: ClusterFacts, address: string): ClusterFacts["machines"][number] => {
  const found = known.machines.find((one) => one.address === address);
  assert.ok(found !== undefined);
  return found;
};

/** The record with one machine as it is by then. */
const machine =
  (address: string, over: Partial<ClusterFacts["machines"][number]>) =>
  (facts: ClusterFacts): ClusterFacts => ({
    ...facts,
    machines: facts.machines.map((one) => (one.address === address ? { ...one, ...over } : one)),
  });

describe("a first configuration", () => {
  let world: EffectWorld;
  let known: ClusterFacts;
  let seen: Observed;
  let action: Extract<Action, { readonly kind: "ConfigureMachine" }>;

  before(async () => {
    world = await createEffectWorld("configured");
    known = await world.facts();
    const looks = Object.fromEntries(known.machines.map(({ address, spki = "" }) => [address, inMaintenance(address, { spki })]));
    seen = await world.seen({ looks });
    const [declared] = machinesOf(seen.controlPlane);
    assert.ok(declared !== undefined);
    action = { kind: "ConfigureMachine", machine: declared, ifSpki: factOf(known, declared.address).spki ?? "", installDisk: "/dev/sda" };
  });
  after(() => world.end());

  test("is sent when nothing is in its way", async () => {
    assert.deepEqual(await world.send(action, seen, (facts) => facts), ["ApplyConfiguration 10.0.0.1"]);
  });

  const heldBackBy: Readonly<Record<string, () => Row>> = {
    "another key at the address, which is told nothing": () => ({ moved: ["10.0.0.1", "10.0.0.9"], key: action.ifSpki }),
    "another key that a connection lets through": () => ({ key: "another" }),
    "a machine that does not say that it waits": () => ({
      lies: [
        {
          method: "Get",
          credentials: "maintenance",
          tell: () => {
            throw Object.assign(new Error("not found"), { name: "TalosCallFailure" as const, code: 5 });
          },
        },
      ],
    }),
    "a machine that is not declared any more": () => ({ seen: { ...seen, machines: seen.machines.slice(1) } }),
    "a machine that was not seen waiting": () => ({
      seen: { ...seen, machines: seen.machines.map(({ declared }) => ({ declared, look: running() })) },
    }),
    "a record without its intent": () => ({ record: machine("10.0.0.1", { configuredAt: undefined }) }),
    "a record with another key": () => ({ record: machine("10.0.0.1", { spki: "another" }) }),
    "a record in which it was released": () => ({ record: machine("10.0.0.1", { releasedAt: 5_000 }) }),
    "a record with another address": () => ({ record: machine("10.0.0.1", { address: "10.0.0.8" }) }),
  };
  for (const [what, row] of Object.entries(heldBackBy))
    test(`is held back by ${what}`, async () => {
      const { seen: other = seen, ...meanwhile } = row();
      assert.deepEqual(await world.send(action, other, (facts) => facts, meanwhile), []);
    });

  test("names control planes for certificates by the addresses that are known, and by nothing where a reference gives none yet", async () => {
    const names = async (other: Observed): Promise<readonly string[]> => {
      let config = "";
      const onSend = (_address: string, request: unknown): void => {
        config = Buffer.from((request as { readonly data: Uint8Array }).data).toString();
      };
      await world.send(action, other, (facts) => facts, { onSend });
      const [, listed = ""] = /certSANs:\n((?: +- .*\n)+)/.exec(config) ?? [];
      return listed
        .split("\n")
        .map((line) => line.replace(/^ *- ?/, "").replaceAll(/["']/g, ""))
        .slice(0, -1);
    };
    const unknownAt = (address: string): Observed["machines"] =>
      seen.machines.map((one) => (one.declared.address === address ? { ...one, declared: { ...one.declared, address: "" } } : one));
    const all = await names(seen);
    assert.ok(all.includes("10.0.0.2") && all.includes("10.0.0.3"), all.join());
    assert.deepEqual(
      await names({ ...seen, machines: unknownAt("10.0.0.3") }),
      all.filter((name) => name !== "10.0.0.3"),
    );
  });

  test("is sent again when all that is over", async () => {
    assert.deepEqual(await world.send(action, seen, (facts) => facts), ["ApplyConfiguration 10.0.0.1"]);
  });

  test("is not held up by another machine that does not answer (V19)", async () => {
    const begunAt = world.story.time.now();
    const sentAfter: number[] = [];
    const onSend = (): void => void sentAfter.push(world.story.time.now() - begunAt);
    const others = machinesOf(seen.controlPlane).slice(0, 2);
    const actions = others.map((declared): Action => ({
      ...action,
      machine: declared,
      ifSpki: factOf(known, declared.address).spki ?? "",
    }));
    const sent = await world.send(actions, seen, (facts) => facts, { cut: ["10.0.0.1"], onSend });
    assert.deepEqual(sent, ["ApplyConfiguration 10.0.0.2"]);
    assert.ok((sentAfter[0] ?? Infinity) < 1_000, `sent after ${sentAfter.join()} ms`);
  });
});

describe("the founding of etcd", () => {
  let world: EffectWorld;
  let known: ClusterFacts;
  let seen: Observed;
  let action: Extract<Action, { readonly kind: "BootstrapEtcd" }>;

  before(async () => {
    world = await createEffectWorld("founded");
    // The operator may have been stopped while a control plane was still on its way.
    await world.story.time.advance(60_000);
    known = await world.facts();
    seen = await world.seen();
    const target = factOf(known, known.bootstrapIntent?.address ?? "");
    assert.equal(target.address, "10.0.0.1");
    action = {
      kind: "BootstrapEtcd",
      machine: target.name,
      address: target.address,
      ifUuid: target.uuid,
      onlyAfterReboot: false,
      imageAwaitedSince: undefined,
      probe: known.machines
        .filter(({ role }) => role === "controlplane")
        .map(({ name, address, spki, uuid }) => ({ machine: name, address, wasConfigured: true, spki, uuid })),
    };
  });
  after(() => world.end());

  const probing = (over: object): Action => ({
    ...action,
    probe: action.probe.map((target) => (target.address === "10.0.0.2" ? { ...target, ...over } : target)),
  });
  const shows = (address: string, state: string): Lie => ({
    method: "ServiceList",
    address,
    tell: (reply: { readonly messages: readonly { readonly services: readonly { readonly id: string; state: string }[] }[] }) => {
      for (const { services } of reply.messages) for (const service of services) if (service.id === "etcd") service.state = state;
      return reply;
    },
  });
  const unimplemented = (): never => {
    throw Object.assign(new Error("unknown service"), { name: "TalosCallFailure", code: 12 });
  };
  const aboutHardware =
    (tell: () => never) =>
    (reply: object, request: { readonly type: string }): object =>
      request.type === "SystemInformations.hardware.talos.dev" ? tell() : reply;
  const runs = (address: string): Lie => shows(address, "Running");
  const holdsData = (address: string): Lie => ({
    method: "List",
    address,
    tell: (entries: readonly object[]) => [...entries, { ...entries[0], name: "/var/lib/etcd/member", relativeName: "member" }],
  });

  test("is sent when nothing is in its way", async () => {
    assert.deepEqual(await world.send(action, seen, (facts) => facts), ["Bootstrap 10.0.0.1"]);
  });

  for (const state of ["Finished", "Failed"])
    test(`is sent to a target whose etcd is ${state} and whose folder is empty, also when it was answered before`, async () => {
      const again = { ...action, onlyAfterReboot: true };
      assert.deepEqual(await world.send(again, seen, (facts) => facts, { lies: [shows("10.0.0.1", state)] }), ["Bootstrap 10.0.0.1"]);
      assert.deepEqual(await world.send(again, seen, (facts) => facts, { lies: [shows("10.0.0.1", state), holdsData("10.0.0.1")] }), []);
    });

  for (const [what, probe] of Object.entries({
    "is silent": {},
    "is no Talos machine": { address: "10.0.0.2" },
  }))
    test(`does not wait for a machine that was never configured and ${what}`, async () => {
      const sent = await world.send(probing({ ...probe, wasConfigured: false, spki: undefined, uuid: "" }), seen, (facts) => facts, {
        cut: ["10.0.0.2"],
      });
      assert.deepEqual(sent, ["Bootstrap 10.0.0.1"]);
    });

  const heldBackBy: Readonly<Record<string, () => Row>> = {
    "data in the folder of the target": () => ({ lies: [holdsData("10.0.0.1")] }),
    "data in the folder of a control plane that prepares": () => ({ lies: [holdsData("10.0.0.2")] }),
    "a control plane that does not tell what is in the folder": () => ({
      lies: [{ method: "List", address: "10.0.0.2", tell: () => [] }],
    }),
    "a control plane whose etcd has stopped": () => ({ lies: [shows("10.0.0.2", "Finished")] }),
    "etcd that runs on the target": () => ({ lies: [runs("10.0.0.1")] }),
    "another machine at the address of the target": () => ({ moved: ["10.0.0.1", "10.0.0.3"] }),
    "a target that did not lose the request in a boot": () => ({
      action: { ...action, onlyAfterReboot: true },
      prepare: ({ effects }) => {
        effects.session.bootIdAtBootstrap = world.story.datacenter.machine("10.0.0.1").state.bootId;
      },
    }),
    "an intent on another machine": () => ({ action: { ...action, ...targetOf("10.0.0.2") } }),
    "a control plane that is silent and was configured": () => ({ cut: ["10.0.0.2"] }),
    "a control plane that was configured, and at whose address something else than Talos answers": () => ({
      // Only in what is asked for the send: a watch that fails at once would close the connection, and the machine would count as silent.
      lies: [{ method: "Get", address: "10.0.0.2", tell: aboutHardware(unimplemented) }],
    }),
    "a control plane on which etcd runs": () => ({ lies: [runs("10.0.0.2")] }),
    "a control plane with another machine in its place": () => ({ moved: ["10.0.0.2", "10.0.0.3"] }),
    "a control plane with a machine in its place that waits with another key": () => ({ moved: ["10.0.0.2", "10.0.0.9"] }),
    "a control plane without an address that was configured": () => ({ action: probing({ address: "" }), cut: ["10.0.0.2"] }),
    "a control plane that nobody looks at": () => ({
      seen: { ...seen, machines: seen.machines.filter(({ declared }) => declared.address !== "10.0.0.2") },
    }),
  };
  const targetOf = (address: string): object => {
    const { name, uuid } = factOf(known, address);
    return { machine: name, address, ifUuid: uuid };
  };
  for (const [what, row] of Object.entries(heldBackBy))
    test(`is held back by ${what}`, async () => {
      const { action: otherAction = action, seen: other = seen, ...meanwhile } = row();
      assert.deepEqual(await world.send(otherAction, other, (facts) => facts, meanwhile), []);
    });

  test("is not taken for answered when a question before it is answered with the word for that", async () => {
    const alreadyExists = (): never => {
      throw Object.assign(new Error("already exists"), { name: "TalosCallFailure", code: 6 });
    };
    let told: DecidedPass | undefined;
    const sent = await world.send(action, seen, (facts) => facts, {
      lies: [{ method: "ServiceList", address: "10.0.0.1", tell: alreadyExists }],
      prepare: (pass) => void (told = pass),
    });
    assert.deepEqual(sent, []);
    assert.equal(told?.effects.session.sent().get("Bootstrap")?.outcome, "refused");
  });

  test("is sent again when all that is over, and never once it is recorded", async () => {
    assert.deepEqual(await world.send(action, seen, (facts) => facts), ["Bootstrap 10.0.0.1"]);
    const done = { machine: action.machine, address: action.address, uuid: action.ifUuid, at: 5_000, evidence: "seen" };
    const record = (facts: ClusterFacts): ClusterFacts => ({ ...facts, bootstrapDone: done });
    assert.deepEqual(await world.send(action, seen, (facts) => facts, { record, isForGood: true }), []);
  });
});

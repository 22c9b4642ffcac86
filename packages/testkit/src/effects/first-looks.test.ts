import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { inMaintenance, machinesOf, running } from "@talos-operator/operator/testing";
import type { Action, ClusterFacts, DecidedPass, Observed } from "@talos-operator/operator/testing";
import { createEffectWorld } from "./effect-world.ts";
import type { EffectWorld, Lie } from "./effect-world.ts";
import { lastRows, pausedMachine, play, storedAs } from "./held-back.ts";

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

/** It is being deleted by then. */
const going = ({ metadata }: KubeObject): object => ({ metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });

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

  const released = machine("10.0.0.1", { releasedAt: 5_000 });
  play("ConfigureMachine", () => world, {
    action: () => action,
    seen: () => seen,
    sends: "ApplyConfiguration 10.0.0.1",
    heldBackBy: {
      unpaused: () => ({ stored: pausedMachine }),
      declared: () => ({ seen: { ...seen, machines: seen.machines.map(({ declared }) => ({ declared, look: running() })) } }),
      waits: () => ({
        // Who is not asked shows no key either.
        beside: ["pinnedKey"],
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
      pinnedKey: () => ({ key: "another" }),
      configured: () => ({ record: machine("10.0.0.1", { configuredAt: undefined }) }),
      key: () => ({ record: machine("10.0.0.1", { spki: "another" }) }),
      notReleased: () => ({ record: released }),
      address: () => ({ record: machine("10.0.0.1", { address: "10.0.0.8" }) }),
      kept: () => ({ stored: storedAs("TalosControlPlane", going) }),
      ...lastRows<"ConfigureMachine">(
        () => world,
        () => ({ record: released }),
      ),
    },
    also: {
      "another key at the address, which is told nothing": () => ({ moved: ["10.0.0.1", "10.0.0.9"], key: action.ifSpki }),
      "a machine that is not declared any more": () => ({ seen: { ...seen, machines: seen.machines.slice(1) } }),
    },
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

  const probing = (over: object): typeof action => ({
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

  const targetOf = (address: string): { readonly machine: string; readonly address: string; readonly ifUuid: string } => {
    const { name, uuid } = factOf(known, address);
    return { machine: name, address, ifUuid: uuid };
  };
  const refused = (): never => {
    throw Object.assign(new Error("certificate required"), { name: "TalosCallFailure", code: 14, tls: "client-refused" });
  };
  const onOther = (): ReturnType<Parameters<typeof play<"BootstrapEtcd">>[2]["heldBackBy"]["target"]> => ({
    action: { ...action, ...targetOf("10.0.0.2") },
    sends: "Bootstrap 10.0.0.2",
  });
  play("BootstrapEtcd", () => world, {
    action: () => action,
    seen: () => seen,
    sends: "Bootstrap 10.0.0.1",
    remembers: "refused",
    atLast: [],
    heldBackBy: {
      unpaused: () => ({ stored: pausedMachine }),
      imageThere: () => ({
        action: { ...action, imageAwaitedSince: world.story.time.now() },
        lies: [
          {
            method: "List",
            address: "10.0.0.1",
            tell: (entries: readonly { readonly name?: string }[]) => entries.filter(({ name }) => !/etcd[:@]/.test(name ?? "")),
          },
        ],
      }),
      othersWatched: () => ({
        seen: { ...seen, machines: seen.machines.filter(({ declared }) => declared.address !== "10.0.0.2") },
      }),
      othersThemselves: () => ({ moved: ["10.0.0.2", "10.0.0.3"] }),
      othersWait: () => ({ lies: [shows("10.0.0.2", "Finished")] }),
      othersEmpty: () => ({ lies: [holdsData("10.0.0.2")] }),
      othersKeys: () => ({ moved: ["10.0.0.2", "10.0.0.9"] }),
      othersHeard: () => ({ cut: ["10.0.0.2"] }),
      // Only in what is asked for the send: a watch that fails at once would close the connection, and the machine would count as silent.
      othersTalos: () => ({ lies: [{ method: "Get", address: "10.0.0.2", tell: aboutHardware(unimplemented) }] }),
      othersOurs: () => ({ lies: [{ method: "Get", address: "10.0.0.2", tell: aboutHardware(refused) }] }),
      waitingEtcd: () => ({ lies: [runs("10.0.0.1")] }),
      sameMachine: () => ({ moved: ["10.0.0.1", "10.0.0.3"] }),
      lostInReboot: () => ({
        action: { ...action, onlyAfterReboot: true },
        prepare: ({ effects }) => {
          effects.session.bootIdAtBootstrap = world.story.datacenter.machine("10.0.0.1").state.bootId;
        },
      }),
      target: onOther,
      ...lastRows<"BootstrapEtcd">(() => world, onOther),
      // What it says cannot be taken back: from here on it stands in the record.
      notFounded: () => ({
        isForGood: true,
        record: (facts) => ({
          ...facts,
          bootstrapDone: { machine: action.machine, address: action.address, uuid: action.ifUuid, at: 5_000, evidence: "seen" },
        }),
      }),
    },
    also: {
      "data in the folder of the target": () => ({ lies: [holdsData("10.0.0.1")] }),
      "a control plane that does not tell what is in the folder": () => ({
        lies: [{ method: "List", address: "10.0.0.2", tell: () => [] }],
      }),
      "a control plane on which etcd runs": () => ({ lies: [runs("10.0.0.2")] }),
      "a control plane without an address that was configured": () => ({ action: probing({ address: "" }), cut: ["10.0.0.2"] }),
    },
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
});

import assert from "node:assert/strict";
import test from "node:test";
import { isTalosError } from "@talos-operator/talos/client";
import type { TalosErrorCode } from "@talos-operator/talos/client";
import { instantTimings, realisticTimings } from "../node/timings.ts";
import { createTestWorld } from "../testing/world.ts";
import type { TestWorld } from "../testing/world.ts";
import { createDatacenter } from "./datacenter.ts";
import { SimulatorError } from "./errors.ts";
import { machineStatusOf } from "../node/status.ts";
import type { DatacenterSnapshot } from "./types.ts";

const machines = (count: number, talosVersion = "v1.13.9"): { address: string; talosVersion: string }[] =>
  Array.from({ length: count }, (_, n) => ({ address: `10.5.0.${n + 1}`, talosVersion }));

function fails(call: Promise<unknown>, code: TalosErrorCode, text?: RegExp): Promise<void> {
  return assert.rejects(call, (error) => {
    assert.ok(isTalosError(error));
    assert.equal(error.code, code);
    if (text !== undefined) assert.match(error.message, text);
    return true;
  });
}

/** `count` control planes, configured and bootstrapped on the first. */
async function cluster(count: number, workers = 0, version = "v1.13.9"): Promise<TestWorld> {
  const world = await createTestWorld(machines(count + workers, version));
  for (let n = 1; n <= count; n += 1) await world.apply(`10.5.0.${n}`, "controlplane");
  for (let n = count + 1; n <= count + workers; n += 1) await world.apply(`10.5.0.${n}`, "worker");
  await world.time.advance(10);
  await (await world.client("10.5.0.1", "os:admin")).bootstrap();
  await world.time.advance(100);
  return world;
}

for (const version of ["v1.12.11", "v1.13.9", "v1.14.0"]) {
  test(`three control planes and three workers of ${version} become one cluster with one etcd`, async () => {
    const world = await createTestWorld(machines(6, version));
    for (const n of [1, 2, 3]) await world.apply(`10.5.0.${n}`, "controlplane");
    for (const n of [4, 5, 6]) await world.apply(`10.5.0.${n}`, "worker");
    await world.time.advance(10);
    assert.deepEqual(
      world.datacenter.machines().map((machine) => machine.state.stage),
      ["booting", "booting", "booting", "running", "running", "running"],
    );
    const admin = await world.client("10.5.0.1", "os:admin");
    await admin.bootstrap();
    await world.time.advance(100);
    const members = await admin.etcdMemberList();
    assert.deepEqual(
      members.map((member) => member.isLearner),
      [false, false, false],
    );
    const { stages, ready } = {
      stages: new Set(world.datacenter.machines().map((machine) => machine.state.stage)),
      ready: new Set(world.datacenter.machines().map((machine) => machine.state.kubernetes.isNodeReady)),
    };
    assert.deepEqual([[...stages], [...ready]], [["running"], [true]]);
    assert.equal(world.datacenter.etcdClusters().length, 1);
  });
}

test("two bootstraps in a row both succeed and found one etcd; later ones are refused", async () => {
  const world = await createTestWorld(machines(1), { timings: realisticTimings });
  await world.time.advance(60_000);
  const apply = world.apply("10.5.0.1", "controlplane");
  await world.time.advance(300_000);
  await apply;
  const admin = await world.client("10.5.0.1", "os:admin");
  const both = Promise.all([admin.bootstrap(), admin.bootstrap()]);
  await world.time.advance(1_000);
  await both;
  await world.time.advance(60_000);
  assert.equal(world.datacenter.etcdClusters().length, 1);
  const third = fails(admin.bootstrap(), "ALREADY_EXISTS", /etcd data directory is not empty/);
  await world.time.advance(100);
  await third;
});

test("bootstraps on two machines found two clusters: the mistake shows", async () => {
  const world = await createTestWorld(machines(2));
  for (const n of [1, 2]) await world.apply(`10.5.0.${n}`, "controlplane");
  await world.time.advance(10);
  const clients = [await world.client("10.5.0.1", "os:admin"), await world.client("10.5.0.2", "os:admin")];
  await Promise.all(clients.map((client) => client.bootstrap()));
  await world.time.advance(100);
  assert.equal(world.datacenter.etcdClusters().length, 2);
  assert.equal(new Set(world.datacenter.etcdClusters().map((one) => one.clusterId)).size, 1);
});

test("a member list before bootstrap hangs until the caller's deadline", async () => {
  const world = await createTestWorld(machines(1));
  await world.apply("10.5.0.1", "controlplane");
  await world.time.advance(10);
  const reader = await world.client("10.5.0.1", "os:reader");
  const call = fails(reader.etcdMemberList({}, { timeoutMs: 7_000 }), "DEADLINE_EXCEEDED");
  const before = world.time.now();
  await world.time.advance(7_000);
  await call;
  assert.equal(world.time.now() - before, 7_000);
});

test("a machine whose address lies in the pod range never gets an etcd spec", async () => {
  const world = await createTestWorld([{ address: "10.244.3.4" }]);
  await world.apply("10.244.3.4", "controlplane");
  await world.time.advance(3_600_000);
  const etcd = world.datacenter.machine("10.244.3.4").state.services["etcd"];
  assert.equal(etcd?.state, "Waiting");
  assert.equal(etcd.events.at(-1)?.message, "Waiting for etcd spec");
});

test("two of three control planes down: no leader, and a dead one cannot be replaced", async () => {
  const world = await cluster(3);
  const admin = await world.client("10.5.0.1", "os:admin");
  world.datacenter.machine("10.5.0.2").powerOff();
  assert.equal((await admin.etcdMemberList()).length, 3);
  world.datacenter.machine("10.5.0.3").powerOff();
  await fails(admin.etcdMemberList(), "NODE_FAILED", /no leader/);
  assert.equal(world.datacenter.machine("10.5.0.1").state.services["etcd"]?.isHealthy, false);
  world.datacenter.machine("10.5.0.2").powerOn();
  await world.time.advance(100);
  assert.equal((await admin.etcdMemberList()).length, 3);
});

test("a removed member does not come back with its old data", async () => {
  const world = await cluster(3);
  const admin = await world.client("10.5.0.1", "os:admin");
  const victim = (await admin.etcdMemberList())[2];
  assert.ok(victim !== undefined);
  await admin.etcdRemoveMemberById(victim.id);
  await world.time.advance(100);
  assert.equal((await admin.etcdMemberList()).length, 2);
  world.datacenter.machine("10.5.0.3").powerCycle();
  await world.time.advance(1_000);
  assert.equal((await admin.etcdMemberList()).length, 2);
  assert.equal(world.datacenter.machine("10.5.0.3").state.services["etcd"]?.state, "Waiting");
});

test("the etcd of a removed member runs for a second every six seconds, answers nobody, and its machine is not ready meanwhile", async () => {
  const world = await cluster(3);
  const admin = await world.client("10.5.0.1", "os:admin");
  const victim = (await admin.etcdMemberList())[2];
  await admin.etcdRemoveMemberById(victim?.id ?? "");
  const machine = world.datacenter.machine("10.5.0.3");
  const states: string[] = [];
  for (let second = 0; second < 12; second += 1) {
    await world.time.advance(second === 0 ? 500 : 1_000);
    states.push(`${machine.state.services["etcd"]?.state} ${machine.state.services["etcd"]?.isHealthy}`);
    assert.equal(machineStatusOf(machine.state).isReady, false);
  }
  const cycle = [...Array.from({ length: 5 }, () => "Waiting undefined"), "Running false"];
  assert.deepEqual(states, [...cycle, ...cycle]);
  assert.equal((await admin.etcdMemberList()).length, 2);
});

test("a learner passes no health check, and is healthy seconds after its promotion", async () => {
  const world = await createTestWorld(machines(2), {
    timings: { ...instantTimings, etcdHealthyMs: 5_000, etcdPromoteMs: 10_000, etcdCheckMs: 20_000 },
  });
  for (const address of ["10.5.0.1", "10.5.0.2"]) await world.apply(address, "controlplane");
  await world.time.advance(10);
  await (await world.client("10.5.0.1", "os:admin")).bootstrap();
  const etcdOf = (): string => {
    const { services, etcd } = world.datacenter.machine("10.5.0.2").state;
    const own = world.datacenter.etcdClusters()[0]?.members.find(({ id }) => id === etcd.data?.memberId);
    return `${own?.isLearner === true ? "learner" : "voter"} ${services["etcd"]?.isHealthy}`;
  };
  const told: string[] = [];
  for (let second = 0; second < 40; second += 1) {
    await world.time.advance(1_000);
    if (world.datacenter.machine("10.5.0.2").state.etcd.data !== undefined) told.push(etcdOf());
  }
  assert.deepEqual([...new Set(told)], ["learner undefined", "learner false", "voter false", "voter true"]);
  const lag = told.filter((one) => one === "voter false").length;
  assert.ok(lag >= 9 && lag <= 11, `${lag} s`);
});

test("a machine that left etcd is let in again as a new member after a wipe", async () => {
  const world = await cluster(3);
  const admin = await world.client("10.5.0.1", "os:admin");
  const before = new Set((await admin.etcdMemberList()).map((member) => member.id));
  const leaver = await world.client("10.5.0.3", "os:admin");
  await leaver.reset({ graceful: true, reboot: true, systemPartitions: ["STATE", "EPHEMERAL"] });
  await world.time.advance(100);
  assert.equal((await admin.etcdMemberList()).length, 2);
  assert.equal(world.datacenter.machine("10.5.0.3").state.stage, "maintenance");
  await world.apply("10.5.0.3", "controlplane");
  await world.time.advance(100);
  const after = (await admin.etcdMemberList()).map((member) => member.id);
  assert.equal(after.length, 3);
  assert.equal(after.filter((id) => !before.has(id)).length, 1);
});

test("a graceful reset is answered at once; a member that etcd does not released asks again, and is wiped when it may leave", async () => {
  const world = await cluster(3);
  const leaver = await world.client("10.5.0.3", "os:admin");
  world.datacenter.machine("10.5.0.2").powerOff();
  await world.time.advance(100);
  await leaver.reset({ graceful: true, reboot: true });
  const machine = world.datacenter.machine("10.5.0.3");
  await world.time.advance(60_000);
  assert.equal(machine.state.stage, "resetting");
  assert.equal(machine.state.wipes, 0);
  assert.equal(world.datacenter.etcdClusters()[0]?.members.length, 3);
  world.datacenter.machine("10.5.0.2").powerOn();
  await world.time.advance(20_000);
  assert.equal(machine.state.wipes, 1);
  assert.equal(world.datacenter.etcdClusters()[0]?.members.length, 2);
});

test("a graceful reset that etcd refuses for good wipes nothing, and another one without leaving does", async () => {
  const world = await cluster(3);
  const leaver = await world.client("10.5.0.3", "os:admin");
  world.datacenter.machine("10.5.0.2").powerOff();
  await world.time.advance(100);
  await leaver.reset({ graceful: true, reboot: true });
  const machine = world.datacenter.machine("10.5.0.3");
  await world.time.advance(10 * 60_000);
  world.datacenter.machine("10.5.0.2").powerOn();
  await world.time.advance(60_000);
  assert.equal(machine.state.wipes, 0);
  assert.equal(machine.state.services["etcd"]?.state, "Running");
  await leaver.reset({ graceful: false, reboot: true });
  await world.time.advance(100);
  assert.equal(machine.state.wipes, 1);
});

test("workers wait for a control plane that signs their certificate", async () => {
  const world = await createTestWorld(machines(2));
  await world.apply("10.5.0.2", "worker");
  await world.time.advance(60_000);
  assert.equal(world.datacenter.machine("10.5.0.2").state.api.kind, "down");
  await world.apply("10.5.0.1", "controlplane");
  await world.time.advance(10);
  assert.equal(world.datacenter.machine("10.5.0.2").state.api.kind, "configured");
});

test("a configured machine refuses who comes without a certificate, and shows another key after a wipe", async () => {
  const world = await createTestWorld(machines(1));
  const maintenance = await world.client("10.5.0.1");
  await maintenance.version();
  const first = maintenance.peerSpki();
  await world.apply("10.5.0.1", "controlplane");
  await world.time.advance(10);
  await assert.rejects(maintenance.version(), isTalosError);
  const admin = await world.client("10.5.0.1", "os:admin");
  await admin.reset({ graceful: false, reboot: true });
  await world.time.advance(100);
  const again = await world.client("10.5.0.1");
  await again.version();
  assert.notEqual(again.peerSpki(), first);
  await assert.rejects(admin.version(), isTalosError);
});

test("a machine with another disk waits in maintenance mode, and joins etcd as a new member in place of its old one", async () => {
  const world = await cluster(3);
  const admin = await world.client("10.5.0.1", "os:admin");
  const before = (await admin.etcdMemberList()).map((member) => member.id);
  const machine = world.datacenter.machine("10.5.0.3");
  machine.replaceDisk();
  assert.notEqual(machine.state.config.persisted, undefined, "a disk is not taken out of a machine that runs");
  machine.powerOff();
  machine.replaceDisk();
  machine.powerOn();
  await world.time.advance(100);
  assert.deepEqual([machine.state.stage, machine.state.config.persisted], ["maintenance", undefined]);
  await world.apply("10.5.0.3", "controlplane");
  await world.time.advance(100);
  const after = (await admin.etcdMemberList()).map((member) => member.id);
  assert.deepEqual([after.length, after.filter((id) => !before.includes(id)).length], [3, 1]);
});

test("every member tells the alarm of one, until it is taken back", async () => {
  const world = await cluster(3);
  const admin = await world.client("10.5.0.1", "os:admin");
  const raised = world.datacenter.machine("10.5.0.3");
  const { memberId = "" } = raised.state.etcd.data ?? {};
  raised.setEtcdAlarm("NOSPACE");
  assert.deepEqual((await admin.etcdStatus()).errors, [`memberID:${BigInt(`0x${memberId}`)} alarm:NOSPACE `]);
  assert.equal((await admin.etcdAlarmList()).length, 1);
  assert.equal((await admin.etcdAlarmDisarm()).length, 1);
  assert.deepEqual((await admin.etcdStatus()).errors, []);
});

test("an uninstalled machine forgets its configuration, an installed one keeps it", async () => {
  const world = await createTestWorld(machines(2, "v1.14.0"));
  await world.apply("10.5.0.1", "controlplane");
  const withoutDisk = world
    .config("controlplane")
    .replace(/---\napiVersion: v1alpha1\nkind: UnattendedInstallConfig\n(?: .*\n|[a-z].*\n)*/, "");
  const spare = await world.client("10.5.0.2");
  await spare.applyConfiguration({ config: withoutDisk, mode: "auto" });
  await world.time.advance(10);
  const [installed, uninstalled] = [world.datacenter.machine("10.5.0.1"), world.datacenter.machine("10.5.0.2")];
  assert.deepEqual([installed.state.isInstalled, uninstalled.state.isInstalled], [true, false]);
  const { bootId } = installed.state;
  for (const machine of [installed, uninstalled]) machine.powerCycle();
  await world.time.advance(10);
  assert.notEqual(installed.state.bootId, bootId);
  assert.deepEqual([installed.state.api.kind, uninstalled.state.api.kind], ["configured", "maintenance"]);
});

const faultCases = [
  { name: "a dropped request changes nothing", effect: { kind: "drop-request" }, founded: 0 },
  { name: "a dropped reply leaves the effect", effect: { kind: "drop-reply" }, founded: 1 },
  { name: "a duplicated call acts twice", effect: { kind: "duplicate" }, founded: 1 },
  { name: "a crash before the call loses it", effect: { kind: "crash-before", downMs: 0 }, founded: 0 },
  { name: "a crash after the call loses what lived in memory", effect: { kind: "crash-after", downMs: 0 }, founded: 0 },
] as const;
for (const { name, effect, founded } of faultCases) {
  test(name, async () => {
    const world = await createTestWorld(machines(1));
    await world.apply("10.5.0.1", "controlplane");
    await world.time.advance(10);
    const handle = world.datacenter.inject({ machine: "10.5.0.1", method: "Bootstrap", times: 1, effect });
    const admin = await world.client("10.5.0.1", "os:admin");
    const outcome = await admin.bootstrap().then(
      () => "answered",
      () => "failed",
    );
    assert.equal(outcome, effect.kind === "duplicate" ? "answered" : "failed");
    await world.time.advance(1_000);
    assert.equal(world.datacenter.etcdClusters().length, founded);
    assert.equal(handle.hits, 1);
  });
}

test("a silent machine costs the caller its deadline, a delayed effect happens after the caller gave up", async () => {
  const world = await createTestWorld(machines(1));
  await world.apply("10.5.0.1", "controlplane");
  await world.time.advance(10);
  const admin = await world.client("10.5.0.1", "os:admin");
  world.datacenter.inject({ method: "Version", times: 1, effect: { kind: "silent" } });
  const silent = fails(admin.version({ timeoutMs: 2_000 }), "DEADLINE_EXCEEDED");
  await world.time.advance(2_000);
  await silent;
  world.datacenter.inject({ method: "Bootstrap", times: 1, effect: { kind: "delay", ms: 600_000 } });
  const late = fails(admin.bootstrap({ timeoutMs: 5_000 }), "DEADLINE_EXCEEDED");
  await world.time.advance(5_000);
  await late;
  assert.equal(world.datacenter.etcdClusters().length, 0);
  await world.time.advance(600_000);
  assert.equal(world.datacenter.etcdClusters().length, 1);
});

test("a datacenter goes on where its snapshot left off: same keys, same etcd, no second founding", async () => {
  const world = await cluster(3, 1);
  const snapshot = JSON.parse(JSON.stringify(world.datacenter.snapshot())) as DatacenterSnapshot;
  const admin = await world.credentials("os:reader");
  await world.datacenter.close();
  const again = createDatacenter({
    clock: world.time,
    timers: world.time,
    random: { bytes: (length) => new Uint8Array(length), fraction: () => 0 },
    keys: world.keys,
    timings: instantTimings,
    machines: machines(4),
    snapshot,
  });
  await world.time.advance(100);
  assert.deepEqual(again.etcdClusters(), snapshot.etcdClusters);
  assert.deepEqual(
    again.machines().map((machine) => machine.state.api),
    snapshot.machines.map((machine) => machine.api),
  );
  const channel = again.dialer().dial({ address: "10.5.0.1" }, admin);
  assert.equal(channel.peerSpki(), undefined);
  await again.close();
});

test("a snapshot taken at any moment of a rollout ends in the same cluster", async () => {
  const moments: DatacenterSnapshot[] = [];
  const world = await createTestWorld(machines(3));
  const stop = world.datacenter.onMachine(() => moments.push(structuredClone(world.datacenter.snapshot())));
  for (const n of [1, 2, 3]) await world.apply(`10.5.0.${n}`, "controlplane");
  await world.time.advance(10);
  await (await world.client("10.5.0.1", "os:admin")).bootstrap();
  const accepted = moments.length;
  await world.time.advance(100);
  stop();
  assert.ok(moments.length > accepted + 3, `${moments.length - accepted} moments`);
  for (const snapshot of moments.slice(accepted)) {
    const again = createDatacenter({
      clock: world.time,
      timers: world.time,
      random: { bytes: (length) => new Uint8Array(length), fraction: () => 0 },
      keys: world.keys,
      timings: instantTimings,
      machines: [],
      snapshot,
    });
    await world.time.advance(100);
    assert.deepEqual(
      again.machines().map((machine) => machine.state.stage),
      ["running", "running", "running"],
    );
    assert.equal(again.etcdClusters().length, 1);
    assert.deepEqual(
      again.etcdClusters()[0]?.members.map((member) => member.isLearner),
      [false, false, false],
    );
    await again.close();
  }
});

test("an answer leaves only after onChange has put the change away", async () => {
  const saved: string[] = [];
  let release: () => void = () => undefined;
  const world = await createTestWorld(machines(1), {
    onChange: (change) => {
      saved.push(change.kind);
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    },
  });
  release();
  const apply = world.apply("10.5.0.1", "controlplane");
  await world.time.advance(0);
  assert.notEqual(world.datacenter.machine("10.5.0.1").state.config.persisted, undefined);
  assert.equal(await Promise.race([apply.then(() => "answered"), Promise.resolve("waiting")]), "waiting");
});

test("an idle cluster has no timers of its own", async () => {
  const world = await cluster(3, 2);
  await world.time.advance(60_000);
  const calls = world.time.pending;
  assert.equal(calls, 0);
});

test("every call is traced when it arrives and when it is answered", async () => {
  const trace: string[] = [];
  const world = await createTestWorld(machines(1), {
    onCall: (event) => trace.push(`${event.phase} ${event.path} ${event.mutating} ${event.code ?? ""}`.trim()),
  });
  await (await world.client("10.5.0.1")).version();
  assert.deepEqual(trace, ["received /machine.MachineService/Version false", "answered /machine.MachineService/Version false 0"]);
});

for (const { name, specs, code } of [
  { name: "two machines with one address", specs: [{ address: "10.0.0.1" }, { address: "10.0.0.1" }], code: "ADDRESS_IN_USE" },
  { name: "an address that is none", specs: [{ address: "machine-1" }], code: "BAD_MACHINE" },
  { name: "a Talos that is not simulated", specs: [{ address: "10.0.0.1", talosVersion: "v1.9.0" }], code: "BAD_MACHINE" },
]) {
  test(`refuses ${name}`, async () => {
    await assert.rejects(createTestWorld(specs), (error) => error instanceof SimulatorError && error.code === code);
  });
}

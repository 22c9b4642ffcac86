import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosClient } from "@talos-operator/talos/client";
import { etcdQuotaBytes, isTalosError, resourceKinds } from "@talos-operator/talos/client";
import { instantTimings } from "../node/timings.ts";
import type { EtcdDatabase } from "../etcd/etcd-database.ts";
import { createTestWorld } from "../testing/world.ts";
import type { TestWorld } from "../testing/world.ts";

const mib = 1_048_576;
const gib = 1_024 * mib;
/** What a file has beside its content that was just defragmented. */
const overhead = 8_192;
const exceeded = "etcdserver: mvcc: database space exceeded";
const corruptCluster = "etcdserver: corrupt cluster";
const address = (n: number): string => `10.5.0.${n}`;

interface Options {
  readonly talosVersion?: string;
  /** `quota-backend-bytes`, of every machine. */
  readonly quota?: string;
  readonly msPerGib?: number;
}

/** A cluster of control planes at 10.5.0.1 and following; the first founds. */
async function cluster(count: number, { talosVersion = "v1.13.9", quota, msPerGib = 10_000 }: Options = {}): Promise<TestWorld> {
  const machines = Array.from({ length: count }, (_, index) => ({ address: address(index + 1), talosVersion }));
  const world = await createTestWorld(machines, { timings: { ...instantTimings, etcdDefragmentMsPerGib: msPerGib } });
  for (const { address: host } of machines) {
    const config = withQuota(world.config("controlplane"), quota);
    await (await world.client(host)).applyConfiguration({ config, mode: "auto" });
  }
  await world.time.advance(10);
  await (await admin(world, 1)).bootstrap();
  await world.time.advance(1_000);
  assert.equal(world.datacenter.etcdClusters()[0]?.members.filter(({ isLearner }) => !isLearner).length, count);
  return world;
}

function withQuota(config: string, quota: string | undefined): string {
  if (quota === undefined) return config;
  const changed = config.replace(
    /^( +)etcd:\n/m,
    (line, indent: string) => `${line}${indent}    extraArgs:\n${indent}        quota-backend-bytes: "${quota}"\n`,
  );
  assert.notEqual(changed, config);
  return changed;
}

const admin = (world: TestWorld, n: number): Promise<TalosClient> => world.client(address(n), "os:admin");
const memberOf = (world: TestWorld, n: number): string => world.datacenter.machine(address(n)).state.etcd.data?.memberId ?? "";
const etcdOf = (world: TestWorld, n: number): string | undefined => world.datacenter.machine(address(n)).state.services["etcd"]?.state;

function databaseOf(world: TestWorld): EtcdDatabase {
  const [first] = world.datacenter.etcdClusters();
  const database = world.datacenter.etcdDatabase(first?.key ?? "");
  assert.ok(database !== undefined);
  return database;
}

/** What came of a call, once time has passed. */
async function outcome(world: TestWorld, call: Promise<unknown>, ms: number): Promise<string> {
  const end = call.then(
    () => "OK",
    (error: unknown) => (isTalosError(error) ? `${error.code}: ${error.nodeText}` : String(error)),
  );
  await world.time.advance(ms);
  return Promise.race([end, Promise.resolve("still waits")]);
}

const sizes = async (client: TalosClient): Promise<readonly number[]> => {
  const { dbSizeBytes, dbSizeInUseBytes } = await client.etcdStatus();
  return [dbSizeBytes, dbSizeInUseBytes];
};

describe("the size of an etcd", () => {
  test("is small while nobody asks anything of it, and no part of its state then", async () => {
    const world = await cluster(3);
    assert.deepEqual(await sizes(await admin(world, 1)), [20_480, 16_384]);
    await (await admin(world, 1)).etcdDefragment();
    assert.deepEqual([world.datacenter.etcdClusters()[0]?.space, databaseOf(world).isWatched], [undefined, false]);
  });

  test("is the same on every member, and goes down on the one that defragments", async () => {
    const world = await cluster(3, { msPerGib: 0 });
    const database = databaseOf(world);
    database.put(64 * mib, { keeps: false });
    assert.equal(database.compact(), undefined);
    const [one, two] = [await admin(world, 1), await admin(world, 2)];
    const [before = 0] = await sizes(one);
    assert.ok(before > 64 * mib);
    assert.deepEqual(await sizes(two), await sizes(one));
    await one.etcdDefragment();
    assert.deepEqual(await sizes(one), [24_576, 16_384]);
    assert.deepEqual(await sizes(two), [before, 16_384]);
  });

  test("is kept over a restart of the datacenter", async () => {
    const world = await cluster(1);
    databaseOf(world).fill();
    const snapshot = JSON.parse(JSON.stringify(world.datacenter.snapshot())) as ReturnType<typeof world.datacenter.snapshot>;
    const again = await createTestWorld([], { snapshot });
    const key = snapshot.etcdClusters[0]?.key ?? "";
    assert.deepEqual(again.datacenter.etcdDatabase(key)?.alarms(), databaseOf(world).alarms());
  });

  test("of a new member is that of the leader", async () => {
    const world = await cluster(3);
    databaseOf(world).fill();
    const machine = world.datacenter.machine(address(3));
    const before = memberOf(world, 3);
    machine.powerOff();
    machine.replaceDisk();
    machine.powerOn();
    await world.time.advance(100);
    await world.apply(address(3), "controlplane");
    await world.time.advance(1_000);
    assert.notEqual(memberOf(world, 3), before);
    assert.equal((await sizes(await admin(world, 3)))[0], 2 * gib);
    // etcd's RemoveMember takes no alarm away: who disarms does.
    assert.ok((await (await admin(world, 1)).etcdAlarmList()).some(({ memberId }) => memberId === before));
  });
});

describe("an etcd that is full", () => {
  test("tells so of every voter, by each of them", async () => {
    const world = await cluster(3);
    databaseOf(world).fill();
    for (const n of [1, 2, 3]) {
      const client = await admin(world, n);
      const wanted = [1, 2, 3].map((one) => ({ memberId: memberOf(world, one), alarm: "no-space" as const }));
      assert.deepEqual(await client.etcdAlarmList(), wanted);
      assert.deepEqual((await client.etcdStatus()).alarms, wanted);
    }
  });

  for (const [talosVersion, text] of [
    ["v1.13.9", /^memberID:\d+ alarm:NOSPACE $/],
    ["v1.14.0", /^memberID:\d+ {2}alarm:NOSPACE$/],
  ] as const)
    test(`says it in the words of the etcd of Talos ${talosVersion}`, async () => {
      const world = await cluster(1, { talosVersion });
      databaseOf(world).fill();
      assert.match((await (await admin(world, 1)).etcdStatus()).errors.join("|"), text);
    });

  test("goes on when each member has been defragmented and the alarms were taken back, and not before", async () => {
    const world = await cluster(3, { msPerGib: 0 });
    const database = databaseOf(world);
    database.fill();
    const clients = await Promise.all([1, 2, 3].map((n) => admin(world, n)));
    const [first] = clients;
    assert.ok(first !== undefined);
    assert.equal((await first.etcdAlarmDisarm()).length, 3);
    assert.equal(database.put(100), exceeded, "the alarm is back with the next write");
    assert.equal(database.alarms().length, 3);
    for (const client of clients) {
      await client.etcdDefragment();
      assert.equal(database.put(100), exceeded);
    }
    await first.etcdAlarmDisarm();
    assert.equal(database.put(100), undefined);
    assert.deepEqual(await first.etcdAlarmList(), []);
    assert.deepEqual(await first.etcdAlarmDisarm(), [], "asked again it finds nothing");
  });

  for (const [what, quota, want] of [
    ["of its configuration", String(64 * mib), 64 * mib],
    ["of 2 GiB where the configuration says 0", "0", 2 * gib],
    ["above what etcd advises", String(16 * gib), 16 * gib],
    ["in another base", "0x4000000", 64 * mib],
  ] as const)
    for (const talosVersion of ["v1.12.11", "v1.13.9", "v1.14.0"])
      test(`keeps to the quota ${what}, which its machine tells (${talosVersion})`, async () => {
        const world = await cluster(1, { quota, talosVersion });
        databaseOf(world).fill();
        const client = await admin(world, 1);
        assert.equal((await client.etcdStatus()).dbSizeBytes, want);
        const spec = await (await world.client(address(1), "os:reader")).resources.get(resourceKinds.etcdSpec);
        assert.deepEqual(spec?.spec.extraArguments, { "quota-backend-bytes": [quota] });
        assert.equal(etcdQuotaBytes(spec.spec.extraArguments), want);
      });

  test("keeps to a new quota only when its process starts anew", async () => {
    const world = await cluster(1, { quota: String(64 * mib) });
    const database = databaseOf(world);
    database.fill();
    const client = await admin(world, 1);
    await client.applyConfiguration({ config: withQuota(world.config("controlplane"), String(gib)), mode: "staged" });
    await client.etcdAlarmDisarm();
    assert.equal(database.put(100), exceeded);
    world.datacenter.machine(address(1)).powerCycle();
    await world.time.advance(1_000);
    await (await admin(world, 1)).etcdAlarmDisarm();
    assert.equal(database.put(100), undefined);
  });

  for (const quota of ["8Gi", "9223372036854775808"])
    test(`does not start again with a quota that it cannot read: ${quota}`, async () => {
      const world = await cluster(1);
      const config = withQuota(world.config("controlplane"), quota);
      await (await admin(world, 1)).applyConfiguration({ config, mode: "staged" });
      const machine = world.datacenter.machine(address(1));
      machine.powerCycle();
      await world.time.advance(60_000);
      assert.equal(etcdOf(world, 1), "Waiting");
      assert.match(machine.state.services["etcd"]?.events.at(-1)?.message ?? "", /going to restart forever: .* exit code 2$/);
      await (await admin(world, 1)).applyConfiguration({ config: world.config("controlplane"), mode: "staged" });
      machine.powerCycle();
      await world.time.advance(60_000);
      assert.equal(etcdOf(world, 1), "Running", "its data are what they were");
    });

  test("fills by what is overwritten, and does not compact any more", async () => {
    const world = await cluster(3, { quota: String(64 * mib) });
    const database = databaseOf(world);
    database.setChurn(10 * mib);
    await world.time.advance(4 * 60_000);
    assert.deepEqual(database.alarms(), []);
    await world.time.advance(4 * 60_000);
    assert.equal(database.alarms().length, 3);
    const full = await sizes(await admin(world, 1));
    await world.time.advance(60 * 60_000);
    assert.deepEqual(await sizes(await admin(world, 1)), full);
  });
});

describe("EtcdDefragment", () => {
  const half = (world: TestWorld): void => databaseOf(world).fill(0.5);

  test("takes as long as what is in use is large, and its member answers nothing meanwhile", async () => {
    const world = await cluster(3);
    half(world);
    const client = await admin(world, 3);
    const call = client.etcdDefragment();
    const patient = { timeoutMs: 60_000 };
    const meanwhile = [client.etcdStatus(patient), client.etcdAlarmList(patient), client.etcdMemberList({ queryLocal: true }, patient)];
    assert.deepEqual(await Promise.all(meanwhile.map((one) => outcome(world, one, 0))), Array(3).fill("still waits"));
    assert.equal((await (await admin(world, 1)).etcdStatus()).dbSizeBytes, 2 * gib, "the others answer");
    assert.deepEqual([await outcome(world, call, 9_000), await outcome(world, call, 1_001)], ["still waits", "OK"]);
    assert.deepEqual(await Promise.all(meanwhile.map((one) => outcome(world, one, 0))), Array(3).fill("OK"));
    assert.equal((await client.etcdStatus()).dbSizeBytes, gib + overhead);
  });

  test("leaves its member a voter and, if it leads, the leader", async () => {
    const world = await cluster(3);
    half(world);
    const leader = world.datacenter.etcdClusters()[0]?.leader;
    assert.equal(leader, memberOf(world, 1));
    void (await admin(world, 1)).etcdDefragment();
    await world.time.advance(5_000);
    assert.equal((await (await admin(world, 2)).etcdStatus()).leaderId, leader);
  });

  test("goes on when its caller goes away, and when his deadline passes", async () => {
    const world = await cluster(1);
    half(world);
    const client = await admin(world, 1);
    const dies = new AbortController();
    const call = client.etcdDefragment({ signal: dies.signal });
    await world.time.advance(1_000);
    dies.abort();
    assert.match(await outcome(world, call, 0), /^CANCELED/);
    assert.match(await outcome(world, client.etcdDefragment({ timeoutMs: 2_000 }), 2_000), /^DEADLINE_EXCEEDED/);
    // The second one waited for the first, and is done after it.
    await world.time.advance(20_000);
    assert.equal((await client.etcdStatus()).dbSizeBytes, gib + overhead);
  });

  test("asked twice does it twice, one after the other", async () => {
    const world = await cluster(1);
    half(world);
    const client = await admin(world, 1);
    const calls = [client.etcdDefragment(), client.etcdDefragment()];
    const at = async (ms: number): Promise<readonly string[]> => {
      await world.time.advance(ms);
      return Promise.all(calls.map((call) => outcome(world, call, 0)));
    };
    assert.deepEqual(
      [await at(10_100), await at(9_000), await at(1_500)],
      [
        ["OK", "still waits"],
        ["OK", "still waits"],
        ["OK", "OK"],
      ],
    );
  });

  test("makes the service unhealthy when it takes longer than its health check, until it is over", async () => {
    const world = await cluster(1);
    half(world);
    world.datacenter.machine(address(1)).setDefragmentTime(60_000);
    const client = await admin(world, 1);
    void client.etcdDefragment();
    const isHealthy = async (ms: number): Promise<boolean | undefined> => {
      await world.time.advance(ms);
      return (await client.serviceList()).find(({ id }) => id === "etcd")?.isHealthy;
    };
    assert.deepEqual([await isHealthy(14_000), await isHealthy(2_000), await isHealthy(44_500)], [true, false, true]);
  });

  test("that never ends is ended by a boot, and the file is as it was", async () => {
    const world = await cluster(1);
    half(world);
    const machine = world.datacenter.machine(address(1));
    machine.setDefragmentTime("never");
    const client = await admin(world, 1);
    const call = client.etcdDefragment({ timeoutMs: 3_600_000 });
    assert.equal(await outcome(world, call, 3_000_000), "still waits");
    machine.powerCycle();
    assert.match(await outcome(world, call, 1_000), /^UNAVAILABLE/);
    assert.deepEqual(await sizes(await admin(world, 1)), [2 * gib, gib]);
    machine.setDefragmentTime(undefined);
    assert.equal(await outcome(world, (await admin(world, 1)).etcdDefragment(), 11_000), "OK");
  });
});

describe("who is asked", () => {
  const calls = (client: TalosClient): readonly (() => Promise<unknown>)[] => [
    () => client.etcdAlarmList(),
    () => client.etcdAlarmDisarm({ timeoutMs: 10_000 }),
    () => client.etcdDefragment({ timeoutMs: 10_000 }),
  ];

  test("a worker has no etcd", async () => {
    const world = await cluster(1);
    world.datacenter.addMachine({ address: address(2), talosVersion: "v1.13.9" });
    await world.time.advance(10);
    await world.apply(address(2), "worker");
    await world.time.advance(100);
    const client = await admin(world, 2);
    for (const call of [() => client.etcdStatus(), ...calls(client)])
      assert.match(await outcome(world, call(), 0), /^UNIMPLEMENTED: etcd .* is only available on control plane nodes/);
  });

  test("where etcd does not run the call waits for it until the caller gives up", async () => {
    const world = await createTestWorld([{ address: address(1) }]);
    await world.apply(address(1), "controlplane");
    await world.time.advance(10);
    const client = await admin(world, 1);
    for (const call of [() => client.etcdStatus(), ...calls(client)])
      assert.match(await outcome(world, call(), 10_001), /^DEADLINE_EXCEEDED/);
  });

  test("without a leader a member tells its status and defragments, and waits with its alarms", async () => {
    const world = await cluster(3, { msPerGib: 0 });
    for (const n of [2, 3]) world.datacenter.machine(address(n)).powerOff();
    await world.time.advance(10);
    const client = await admin(world, 1);
    assert.equal((await client.etcdStatus()).leaderId, undefined);
    const [list, disarm, defragment] = calls(client);
    assert.equal(await outcome(world, defragment?.() ?? assert.fail(), 0), "OK");
    for (const call of [list, disarm]) assert.match(await outcome(world, call?.() ?? assert.fail(), 10_001), /^DEADLINE_EXCEEDED/);
    const waiting = client.etcdAlarmList();
    for (const n of [2, 3]) world.datacenter.machine(address(n)).powerOn();
    assert.equal(await outcome(world, waiting, 1_000), "OK");
  });

  test("a learner tells its status and nothing else", async () => {
    const world = await cluster(3);
    const machine = world.datacenter.machine(address(3));
    machine.powerOff();
    machine.replaceDisk();
    machine.setCatchingUp(false);
    machine.powerOn();
    await world.time.advance(100);
    await world.apply(address(3), "controlplane");
    await world.time.advance(100);
    assert.equal(etcdOf(world, 3), "Running");
    const client = await admin(world, 3);
    assert.equal((await client.etcdStatus()).isLearner, true);
    for (const call of calls(client)) assert.match(await outcome(world, call(), 0), /^NODE_FAILED: .*rpc not supported for learner/);
  });
});

describe("an etcd with wrong data", () => {
  test("of one member refuses writes, goes on being read, and lets that member be removed", async () => {
    const world = await cluster(3);
    world.datacenter.machine(address(3)).corruptEtcd();
    const client = await admin(world, 1);
    assert.deepEqual((await client.etcdStatus()).alarms, [{ memberId: memberOf(world, 3), alarm: "corrupt" }]);
    assert.equal(databaseOf(world).put(10), corruptCluster);
    assert.equal((await client.etcdMemberList()).length, 3);
    await client.etcdRemoveMemberById(memberOf(world, 3));
    assert.equal((await client.etcdMemberList()).length, 2);
    assert.equal(databaseOf(world).put(10), corruptCluster, "the alarm outlives its member");
    assert.equal((await client.etcdAlarmDisarm()).length, 1);
    assert.equal(databaseOf(world).put(10), undefined);
    await world.time.advance(3_600_000);
    assert.deepEqual((await client.etcdStatus()).alarms, []);
  });

  test("of the leader gives them to whoever joins", async () => {
    const world = await cluster(3);
    assert.equal(world.datacenter.etcdClusters()[0]?.leader, memberOf(world, 1));
    world.datacenter.machine(address(1)).corruptEtcd();
    const client = await admin(world, 1);
    assert.deepEqual((await client.etcdStatus()).alarms, [{ memberId: memberOf(world, 1), alarm: "corrupt" }]);
    await client.etcdRemoveMemberById(memberOf(world, 3));
    const machine = world.datacenter.machine(address(3));
    machine.powerOff();
    machine.replaceDisk();
    machine.powerOn();
    await world.time.advance(100);
    await world.apply(address(3), "controlplane");
    await world.time.advance(1_000);
    await client.etcdAlarmDisarm();
    await world.time.advance(300_000);
    assert.deepEqual(
      (await client.etcdStatus()).alarms,
      [{ memberId: memberOf(world, 2), alarm: "corrupt" }],
      "now the one that was right is blamed",
    );
  });

  test("of two of three names nobody", async () => {
    const world = await cluster(3);
    for (const n of [2, 3]) world.datacenter.machine(address(n)).corruptEtcd();
    const alarms = await (await admin(world, 1)).etcdAlarmList();
    // The first was named while it was alone.
    assert.deepEqual(
      alarms.map(({ memberId }) => memberId),
      [memberOf(world, 2), "0000000000000000"],
    );
  });

  test("lets no member up beside another one that is wrong: Talos starts etcd with its initial check", async () => {
    const world = await cluster(3);
    world.datacenter.machine(address(3)).corruptEtcd();
    for (const n of [2, 3]) {
      const machine = world.datacenter.machine(address(n));
      machine.powerCycle();
      await world.time.advance(60_000);
      assert.equal(etcdOf(world, n), "Waiting", `10.5.0.${n}`);
      assert.match(machine.state.services["etcd"]?.events.at(-1)?.message ?? "", /going to restart forever/);
      machine.powerOff();
      await world.time.advance(10);
      if (n === 2) {
        // Without the wrong one beside it, and with a majority.
        world.datacenter.machine(address(3)).powerOff();
        machine.powerOn();
        await world.time.advance(60_000);
        assert.equal(etcdOf(world, 2), "Running");
        world.datacenter.machine(address(3)).powerOn();
        await world.time.advance(60_000);
        assert.equal(etcdOf(world, 3), "Waiting");
      }
    }
  });

  test("gives a snapshot with other contents", async () => {
    const world = await cluster(3);
    const bytesOf = async (n: number): Promise<string> => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of (await admin(world, n)).etcdSnapshot()) chunks.push(chunk);
      return Buffer.concat(chunks).toString("hex");
    };
    assert.equal(await bytesOf(3), await bytesOf(2));
    world.datacenter.machine(address(3)).corruptEtcd();
    assert.notEqual(await bytesOf(3), await bytesOf(2));
  });
});

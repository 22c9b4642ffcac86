// Genuine parts: etcd, etcdctl, etcdutl, talosctl
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { createX509Keys, systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { HANGS_AFTER_MS, ownAddress, tool, until } from "@talos-operator/adapters/testing";
import { generateMachineConfig, generateSecretsBundle } from "@talos-operator/talos";
import { createTalosClient } from "@talos-operator/talos/client";
import type { TalosClient } from "@talos-operator/talos/client";
import { RealEtcd, said } from "../../../etcd-snapshot/src/testing/real-etcd.ts";
import { createDatacenter } from "../datacenter/datacenter.ts";
import { demoTimings } from "../node/timings.ts";
import { untilMachines } from "../testing/adapters/until-machines.ts";
import { createTestWorld } from "../testing/world.ts";
import { serveDatacenter } from "./serve-datacenter.ts";

const run = promisify(execFile);
const mib = 1_048_576;

let folder: string;
before(async () => void (folder = await mkdtemp(join(tmpdir(), "simulator-etcd-"))));
after(() => rm(folder, { recursive: true }));

const quota = 4 * mib;
/** As long as one argument of a program may be. */
const valueBytes = 100_000;

/** An etcd of one member with a small quota. */
interface Subject {
  /** What it refuses the write with, `undefined` = written. Writes take each other's place. */
  put(bytes: number): Promise<string | undefined>;
  erase(): Promise<string | undefined>;
  compact(): Promise<string | undefined>;
  defragment(): Promise<void>;
  /** The alarms that there were, as `status` tells them. */
  disarm(): Promise<readonly string[]>;
  status(): Promise<{ readonly sizeBytes: number; readonly inUseBytes: number; readonly errors: readonly string[] }>;
  alarms(): Promise<readonly string[]>;
  /** Writes a snapshot to a file. */
  snapshot(file: string): Promise<void>;
  readonly memberId: string;
}

/** What a program says when it fails, as far as it is etcd's. */
async function refusalOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (thrown) {
    const { stderr } = thrown as { readonly stderr?: string };
    return (
      /desc = (etcdserver: .*?)["\n]/.exec(stderr ?? "")?.[1] ?? /(etcdserver: [a-z: ]+[a-z])/.exec(stderr ?? "")?.[1] ?? String(thrown)
    );
  }
}

interface EndpointStatus {
  readonly header: { readonly member_id: bigint | number; readonly revision: number };
  readonly dbSize: number;
  readonly dbSizeInUse: number;
  readonly dbSizeQuota: number;
  readonly errors?: readonly string[];
}

async function genuine(etcd: RealEtcd): Promise<Subject> {
  const etcdctl = (...args: readonly string[]): Promise<string> => said("etcdctl", "--endpoints", etcd.url, ...args);
  const lines = async (...args: readonly string[]): Promise<readonly string[]> =>
    (await etcdctl(...args)).split("\n").filter((line) => line !== "");
  const status = async (): Promise<EndpointStatus> => {
    const [one] = JSON.parse(await etcdctl("endpoint", "status", "-w", "json")) as readonly { readonly Status: EndpointStatus }[];
    assert.ok(one !== undefined);
    return one.Status;
  };
  assert.equal((await status()).dbSizeQuota, quota);
  const [, memberId = ""] = /"member_id":(\d+)/.exec(await etcdctl("endpoint", "status", "-w", "json")) ?? [];
  return {
    memberId,
    put: (bytes) => refusalOf(etcdctl("put", "key", "v".repeat(bytes))),
    erase: () => refusalOf(etcdctl("del", "key")),
    compact: async () => refusalOf(etcdctl("compact", "--physical", String((await status()).header.revision))),
    defragment: async () => void (await etcdctl("defrag")),
    disarm: () => lines("alarm", "disarm"),
    alarms: () => lines("alarm", "list"),
    snapshot: async (file) => void (await etcdctl("snapshot", "save", file)),
    async status() {
      const { dbSize, dbSizeInUse, errors = [] } = await status();
      return { sizeBytes: dbSize, inUseBytes: dbSizeInUse, errors };
    },
  };
}

async function simulated(): Promise<Subject> {
  const world = await createTestWorld([{ address: "10.5.0.1" }]);
  const config = world
    .config("controlplane")
    .replace(
      /^( +)etcd:\n/m,
      (line, indent: string) => `${line}${indent}    extraArgs:\n${indent}        quota-backend-bytes: "${quota}"\n`,
    );
  await (await world.client("10.5.0.1")).applyConfiguration({ config, mode: "auto" });
  await world.time.advance(10);
  const client: TalosClient = await world.client("10.5.0.1", "os:admin");
  await client.bootstrap();
  await world.time.advance(100);
  const database = world.datacenter.etcdDatabase(world.datacenter.etcdClusters()[0]?.key ?? "");
  assert.ok(database !== undefined);
  const printed = (alarms: Awaited<ReturnType<TalosClient["etcdAlarmList"]>>): readonly string[] =>
    alarms.map(({ memberId, alarm }) => `memberID:${BigInt(`0x${memberId}`)} alarm:${alarm === "no-space" ? "NOSPACE" : alarm} `);
  return {
    memberId: String(BigInt(`0x${(await client.etcdStatus()).memberId}`)),
    put: async (bytes) => database.put(bytes, { keeps: false }),
    erase: async () => database.erase(valueBytes),
    compact: async () => database.compact(),
    defragment: () => client.etcdDefragment(),
    disarm: async () => printed(await client.etcdAlarmDisarm()),
    alarms: async () => printed(await client.etcdAlarmList()),
    snapshot: (file) => writeFile(file, client.etcdSnapshot()),
    async status() {
      const { dbSizeBytes, dbSizeInUseBytes, errors } = await client.etcdStatus();
      return { sizeBytes: dbSizeBytes, inUseBytes: dbSizeInUseBytes, errors };
    },
  };
}

const exceeded = "etcdserver: mvcc: database space exceeded";

/** One life of an etcd that runs out of space, with what is to be seen at each step. */
async function runOutOfSpace(etcd: Subject, snapshot: string): Promise<void> {
  const alarm = `memberID:${etcd.memberId} alarm:NOSPACE `;
  const refused = async (what: string): Promise<void> => assert.equal(await etcd.put(valueBytes), exceeded, what);
  assert.deepEqual([await etcd.alarms(), (await etcd.status()).errors], [[], []]);
  assert.equal(await etcd.erase(), undefined);
  let writes = 0;
  while (writes < 64 && (await etcd.put(valueBytes)) === undefined) writes += 1;
  assert.ok(writes > 20 && writes < 64, `${writes} writes fit`);
  await refused("again");
  assert.deepEqual([await etcd.alarms(), (await etcd.status()).errors], [[alarm], [alarm]]);
  const full = await etcd.status();
  // A genuine file grows with each commit, ten a second: what was written since the last one is not held against the quota yet, nor told as in use.
  assert.ok(full.sizeBytes > quota * 0.9 && full.sizeBytes <= quota * 1.5 && full.inUseBytes > quota * 0.4, JSON.stringify(full));

  await etcd.snapshot(snapshot);
  const { totalKey } = JSON.parse(await said("etcdutl", "snapshot", "status", snapshot, "-w", "json")) as { readonly totalKey: number };
  assert.ok(totalKey > 0, "it is read, and so are snapshots");

  assert.deepEqual(await etcd.disarm(), [alarm], "disarmed while it is full");
  assert.deepEqual(await etcd.alarms(), []);
  await refused("the file is as large as before");
  assert.deepEqual(await etcd.alarms(), [alarm], "and the alarm is back");

  assert.equal(await etcd.compact(), undefined, "a compaction is no write");
  await refused("the alarm is still there");
  await etcd.disarm();
  await refused("free pages count, too");
  // A genuine etcd tells the pages that were freed with one of its next commits.
  let compacted = full;
  await until(
    "the freed pages are told",
    async () => (compacted = await etcd.status()).inUseBytes < quota * 0.2,
    () => compacted,
  );
  assert.ok(compacted.sizeBytes >= full.sizeBytes, JSON.stringify(compacted));

  await etcd.defragment();
  const small = await etcd.status();
  assert.ok(small.sizeBytes < quota * 0.2 && small.sizeBytes - small.inUseBytes < quota * 0.02, JSON.stringify(small));
  await refused("the alarm is still there, though there is space");
  assert.equal(await etcd.erase(), undefined, "a delete goes on");
  assert.deepEqual(await etcd.disarm(), [alarm]);
  assert.deepEqual(await etcd.disarm(), [], "asked again it finds nothing");
  assert.equal(await etcd.put(valueBytes), undefined);
  assert.deepEqual([await etcd.alarms(), (await etcd.status()).errors], [[], []]);
}

describe("an etcd that runs out of space", () => {
  test("a genuine one", async () => {
    const etcd = await RealEtcd.start(join(folder, "data"), [`--quota-backend-bytes=${quota}`]);
    try {
      await runOutOfSpace(await genuine(etcd), join(folder, "genuine.db"));
    } finally {
      await etcd.stop();
    }
  });
  test("a simulated one", async () => runOutOfSpace(await simulated(), join(folder, "simulated.db")));
});

describe("genuine talosctl on simulated machines whose etcd is full", () => {
  /** Three control planes. talosctl dials port 50000. */
  const addresses = [1, 2, 3].map(ownAddress);
  const address = (n: number): string => addresses[n - 1] ?? "";
  const keys = createX509Keys();
  const ports = { clock: systemClock, timers: systemTimers, random: systemRandom, keys };
  const datacenter = createDatacenter({ ...ports, timings: demoTimings, machines: addresses.map((address) => ({ address })) });
  let served: Awaited<ReturnType<typeof serveDatacenter>>;

  const talosctl = async (...args: readonly string[]): Promise<string> =>
    (await run(tool("talosctl"), ["--talosconfig", join(folder, "talosconfig"), ...args], { timeout: HANGS_AFTER_MS })).stdout;
  const all = ["-n", addresses.join(",")];
  const memberOf = (n: number): string => datacenter.machine(address(n)).state.etcd.data?.memberId ?? "";
  const database = (): NonNullable<ReturnType<typeof datacenter.etcdDatabase>> => {
    const found = datacenter.etcdDatabase(datacenter.etcdClusters()[0]?.key ?? "");
    assert.ok(found !== undefined);
    return found;
  };

  before(async () => {
    served = await serveDatacenter(datacenter);
    const secrets = await generateSecretsBundle({ contract: "1.13", ...ports });
    const config = generateMachineConfig({
      role: "controlplane",
      clusterName: "full",
      endpoint: `https://${address(1)}:6443`,
      contract: "1.13",
      kubernetesVersion: "1.36.1",
      secrets,
      install: { disk: "/dev/sda" },
    });
    await untilMachines(datacenter, () => datacenter.machines().every((machine) => machine.state.api.kind === "maintenance"));
    for (const n of [1, 2, 3]) {
      const client = createTalosClient(datacenter.dialer().dial({ address: address(n) }, { kind: "maintenance" }));
      await client.applyConfiguration({ config, mode: "auto" });
    }
    const admin = await keys.signCertificate(secrets.certs.os, {
      usage: "client",
      organizations: ["os:admin"],
      notBefore: systemClock.now(),
      lifetimeMs: 3_600_000,
    });
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    await writeFile(
      join(folder, "talosconfig"),
      `context: full\ncontexts:\n    full:\n        endpoints: [${address(1)}]\n        nodes: [${address(1)}]\n        ca: ${base64(secrets.certs.os.certificate)}\n        crt: ${base64(admin.certificate)}\n        key: ${base64(admin.key)}\n`,
    );
    await untilMachines(datacenter, () =>
      [1, 2, 3].every(
        (n) => datacenter.machine(address(n)).state.services["etcd"]?.state === "Preparing" && served.portOf(address(n)) !== undefined,
      ),
    );
    await talosctl("bootstrap");
    await untilMachines(datacenter, () => {
      const voters = datacenter.etcdClusters()[0]?.members.filter(({ isLearner }) => !isLearner) ?? [];
      return voters.length === 3 && datacenter.machines().every(({ state }) => state.services["etcd"]?.isHealthy === true);
    });
  });
  after(async () => {
    await served.close();
    await datacenter.close();
  });

  test("it lists no alarm of an etcd that has none", async () => {
    assert.equal(await talosctl(...all, "etcd", "alarm", "list"), "");
    assert.match(await talosctl("etcd", "status"), /20 kB +16 kB \(80\.00%\)/);
  });

  test("it tells sizes and alarms of each member, defragments one after the other, and disarms", async () => {
    database().fill();
    const listed = await talosctl(...all, "etcd", "alarm", "list");
    assert.match(listed, /^NODE +MEMBER +ALARM\n/);
    for (const n of [1, 2, 3])
      assert.equal(listed.split("\n").filter((line) => line.includes(memberOf(n)) && line.endsWith(" NOSPACE")).length, 3, listed);
    const status = await talosctl(...all, "etcd", "status");
    assert.match(status, new RegExp(`${memberOf(1)} +2\\.1 GB +537 MB \\(25\\.00%\\) .*alarm:NOSPACE`));
    for (const n of [1, 2, 3]) await talosctl("-n", address(n), "etcd", "defrag");
    assert.equal((await talosctl(...all, "etcd", "status")).match(/537 MB +537 MB \(100\.00%\)/g)?.length, 3);
    const disarmed = await talosctl("etcd", "alarm", "disarm");
    for (const n of [1, 2, 3]) assert.match(disarmed, new RegExp(`${memberOf(n)} +NOSPACE`));
    assert.equal(await talosctl(...all, "etcd", "alarm", "list"), "");
    assert.equal(database().put(100), undefined);
  });

  test("it defragments one node at a time", async () => {
    await assert.rejects(talosctl(...all, "etcd", "defrag"), /etcd defrag.*is not supported with multiple nodes/);
    database().fill();
    await talosctl("-n", address(2), "etcd", "defrag");
    assert.match(await talosctl("-n", address(2), "etcd", "status"), /537 MB +537 MB \(100\.00%\)/);
    assert.match(await talosctl("-n", address(1), "etcd", "status"), /2\.1 GB +537 MB \(25\.00%\)/);
  });

  test("it names corrupt data by member, and nobody where nobody knows whose", async () => {
    await talosctl("etcd", "alarm", "disarm");
    datacenter.machine(address(3)).corruptEtcd();
    assert.match(await talosctl("etcd", "alarm", "list"), new RegExp(`${memberOf(3)} +CORRUPT`));
    datacenter.machine(address(2)).corruptEtcd();
    assert.match(await talosctl("etcd", "alarm", "list"), /0{16} +CORRUPT/);
    assert.match(await talosctl("etcd", "status"), /, alarm:CORRUPT|alarm:CORRUPT ,|alarm:CORRUPT$/m);
  });
});

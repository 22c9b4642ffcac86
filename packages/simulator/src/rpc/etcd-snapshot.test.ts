import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createTrailerCheck } from "@talos-operator/etcd-snapshot";
import type { TrailerVerdict } from "@talos-operator/etcd-snapshot";
import { isTalosError } from "@talos-operator/talos/client";
import type { TalosClient } from "@talos-operator/talos/client";
import type { FaultEffect } from "../datacenter/faults.ts";
import { createTestWorld } from "../testing/world.ts";
import type { TestWorld } from "../testing/world.ts";
import type { WorkloadApi, WorkloadContents } from "../workload/api.ts";

const address = (n: number): string => `10.5.0.${n}`;

/** A cluster of control planes at 10.5.0.1 and following, and one worker behind them. */
async function cluster(controlPlanes: number, options: Parameters<typeof createTestWorld>[1] = {}): Promise<TestWorld> {
  const world = await createTestWorld(
    Array.from({ length: controlPlanes + 1 }, (_, index) => ({ address: address(index + 1) })),
    options,
  );
  for (let n = 1; n <= controlPlanes + 1; n += 1) await world.apply(address(n), n <= controlPlanes ? "controlplane" : "worker");
  await world.time.advance(10);
  await (await world.client(address(1), "os:admin")).bootstrap();
  await world.time.advance(1_000);
  return world;
}

/** The messages of a snapshot, or the text of the refusal behind them. */
async function take(
  client: TalosClient,
): Promise<{ readonly sizes: readonly number[]; readonly bytes: Buffer; readonly refusal?: string }> {
  const chunks: Uint8Array[] = [];
  const told = (): { readonly sizes: readonly number[]; readonly bytes: Buffer } => ({
    sizes: chunks.map(({ length }) => length),
    bytes: Buffer.concat(chunks),
  });
  try {
    for await (const chunk of client.etcdSnapshot({ timeoutMs: 60_000 })) chunks.push(Uint8Array.from(chunk));
    return told();
  } catch (error) {
    return { ...told(), refusal: isTalosError(error) ? `${error.code}: ${error.nodeText}` : String(error) };
  }
}

function verdict(bytes: Uint8Array): TrailerVerdict {
  const check = createTrailerCheck();
  check.write(bytes);
  return check.finish();
}

/** A Kubernetes API that keeps these objects and answers every write. */
function keeping(contents: () => WorkloadContents): WorkloadApi {
  return {
    open: () =>
      Promise.resolve({
        transport: {
          send: () => Promise.resolve({ status: 201, headers: {}, body: {} }),
          watch: () => new Promise(() => undefined),
          close: () => undefined,
        },
        serve: () => Promise.resolve(),
        unserve: () => Promise.resolve(),
        stored: contents,
        close: () => Promise.resolve(),
      }),
  };
}

describe("EtcdSnapshot", () => {
  test("streams a database with its hash in messages of 1,024 bytes, the hash in one of its own", async () => {
    const world = await cluster(1);
    const { sizes, bytes, refusal } = await take(await world.client(address(1), "os:etcd:backup"));
    assert.equal(refusal, undefined);
    assert.equal(verdict(bytes).fault, undefined);
    assert.deepEqual([new Set(sizes.slice(0, -1)), sizes.at(-1)], [new Set([1_024]), 32]);
  });

  test("is for admins, operators and backups", async () => {
    const world = await cluster(1);
    const allowed = async (role: string): Promise<boolean> =>
      (await take(await world.client(address(1), role))).refusal !== "PERMISSION_DENIED: not authorized";
    assert.deepEqual(await Promise.all(["os:admin", "os:operator", "os:etcd:backup", "os:reader"].map(allowed)), [true, true, true, false]);
  });

  test("is refused by a worker, and waits for an etcd that does not run", async () => {
    const world = await cluster(1);
    assert.match((await take(await world.client(address(2), "os:etcd:backup"))).refusal ?? "", /only available on control plane nodes/);
    const waiting = await createTestWorld([{ address: address(1) }]);
    await waiting.apply(address(1), "controlplane");
    await waiting.time.advance(10);
    const taken = take(await waiting.client(address(1), "os:etcd:backup"));
    assert.equal(await Promise.race([taken.then(() => "answered"), waiting.time.advance(5_000).then(() => "waits")]), "waits");
    await (await waiting.client(address(1), "os:admin")).bootstrap();
    await waiting.time.advance(1_000);
    assert.equal(verdict((await taken).bytes).fault, undefined);
  });

  test("holds what the cluster's API stores, and a member that fell behind what it stored then", async () => {
    let revision = 7;
    const node = (): WorkloadContents => ({
      revision,
      objects: [
        { resource: "/nodes", key: "/one", revision, object: { kind: "Node", apiVersion: "v1", metadata: { name: `at-${revision}` } } },
      ],
    });
    const world = await cluster(3, { workload: keeping(node) });
    const stored = async (n: number): Promise<readonly boolean[]> => {
      const { bytes } = await take(await world.client(address(n), "os:etcd:backup"));
      return ["/registry/minions/one", "at-7", "at-8"].map((text) => bytes.includes(text));
    };
    assert.deepEqual(await stored(1), [true, true, false]);
    world.datacenter.machine(address(3)).setCatchingUp(false);
    revision = 8;
    assert.deepEqual(
      [await stored(1), await stored(3)],
      [
        [true, false, true],
        [true, true, false],
      ],
    );
    world.datacenter.machine(address(3)).setCatchingUp(true);
    assert.deepEqual(await stored(3), [true, false, true]);
  });

  test("needs no leader", async () => {
    const world = await cluster(3);
    for (const n of [2, 3]) world.datacenter.machine(address(n)).powerOff();
    await world.time.advance(1_000);
    assert.equal(world.datacenter.etcdClusters()[0]?.leader, undefined);
    assert.equal(verdict((await take(await world.client(address(1), "os:etcd:backup"))).bytes).fault, undefined);
  });

  test("of an etcd that stops in the middle ends as if it were whole; of a machine that loses power it breaks", async () => {
    const world = await cluster(3);
    const call = async (n: number, harm: () => Promise<void> | void): ReturnType<typeof take> => {
      world.datacenter.inject({ method: "EtcdSnapshot", times: 1, effect: { kind: "slow-stream", pauseMs: 1_000 } });
      const taken = take(await world.client(address(n), "os:etcd:backup"));
      await world.time.advance(10_000);
      await harm();
      await world.time.advance(50_000);
      return taken;
    };
    const admin = await world.client(address(2), "os:admin");
    const silent = await call(2, async () => {
      admin.etcdLeaveCluster().catch(() => undefined);
      await world.time.advance(1);
    });
    assert.match(silent.refusal ?? "", /^SNAPSHOT_DAMAGED/);
    assert.ok(silent.bytes.length > 0);
    const broken = await call(3, () => world.datacenter.machine(address(3)).powerOff());
    assert.doesNotMatch(broken.refusal ?? "SNAPSHOT_DAMAGED", /^SNAPSHOT_DAMAGED/);
  });

  const faults: readonly { readonly what: string; readonly effect: FaultEffect; readonly want: TrailerVerdict["fault"] }[] = [
    { what: "without a byte", effect: { kind: "end-early", bytes: 0 }, want: "too-short" },
    { what: "with one byte", effect: { kind: "end-early", bytes: 1 }, want: "too-short" },
    { what: "in the middle of a sector", effect: { kind: "end-early", bytes: 8_192 + 31 }, want: "no-trailer" },
    { what: "in the middle, where a hash could stand", effect: { kind: "end-early", bytes: 8_192 + 32 }, want: "wrong-digest" },
    { what: "without its hash", effect: { kind: "end-early", bytes: -32 }, want: "no-trailer" },
    { what: "with a changed byte", effect: { kind: "flip-byte", at: 5_000 }, want: "wrong-digest" },
    { what: "with a changed hash", effect: { kind: "flip-byte", at: -1 }, want: "wrong-digest" },
    { what: "with the hash of another file", effect: { kind: "foreign-hash" }, want: "wrong-digest" },
  ];
  for (const { what, effect, want } of faults)
    test(`a stream ${what} can be told from a good one`, async () => {
      const world = await cluster(1);
      world.datacenter.inject({ method: "EtcdSnapshot", times: 1, effect });
      const client = await world.client(address(1), "os:etcd:backup");
      const bad = await take(client);
      assert.equal(verdict(bad.bytes).fault, want);
      assert.match(bad.refusal ?? "", /^SNAPSHOT_DAMAGED/, "the stream itself ends as a good one");
      assert.equal(verdict((await take(client)).bytes).fault, undefined);
    });
});

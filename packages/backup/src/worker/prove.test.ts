import assert from "node:assert/strict";
import { test } from "node:test";

import type { BackupFacts } from "../manifest/facts.ts";
import type { TaskResult } from "../task/result.ts";
import { DrillFailure, type RestoreDrill, type WorkerDeps } from "./deps.ts";
import { runTask } from "./run-task.ts";
import { createWorkerBench, slot, type WorkerBench } from "./testing/bench.ts";

const identity = "AGE-SECRET-KEY-1FRIEND";

async function taken(bench: WorkerBench, recipients: readonly string[] = []): Promise<BackupFacts> {
  const result = await bench.take("a1", { recipients });
  assert.ok(result.kind === "taken", JSON.stringify(result));
  return result.facts;
}

function prove(
  bench: WorkerBench,
  options: { readonly identity?: string; readonly drill?: "restore" | "read"; readonly deps?: Partial<WorkerDeps> } = {},
): Promise<TaskResult> {
  const { identity: given, drill = "read", deps } = options;
  return runTask(
    { ...bench.task, kind: "prove", drill },
    { ...bench.secrets, ...(given === undefined ? {} : { identity: given }) },
    { ...bench.deps, ...deps },
  );
}

function refused(result: TaskResult, reason: string): string {
  assert.ok(result.kind === "failed" && result.reason === reason, JSON.stringify(result));
  return result.message;
}

test("a backup in clear is read from the store", async () => {
  const bench = createWorkerBench();
  await taken(bench);
  const result = await prove(bench);
  assert.deepEqual(result.kind === "proved" && result.proof, { how: "read", on: "store" });
});

test("IN91: an encrypted one is compared without an identity, read with one, and refused with another's before anything is restored", async () => {
  const bench = createWorkerBench();
  await taken(bench, ["age1friend"]);
  const without = await prove(bench);
  assert.deepEqual(without.kind === "proved" && without.proof, { how: "stored", on: "store", weakerBecause: "no-identity" });
  const withOne = await prove(bench, { identity });
  assert.deepEqual(withOne.kind === "proved" && withOne.proof, { how: "read", on: "store" });
  refused(await prove(bench, { identity: "AGE-SECRET-KEY-1STRANGER" }), "bad-identity");
  refused(await prove(bench, { identity: "nonsense" }), "bad-identity");
});

for (const recipients of [[], ["age1friend"]]) {
  for (const given of [undefined, identity]) {
    test(`one changed byte anywhere fails, ${recipients.length} recipients, ${given === undefined ? "no" : "an"} identity`, async () => {
      const bench = createWorkerBench();
      const facts = await taken(bench, recipients);
      const bytes = bench.bucket.objects.get(facts.object) as Buffer;
      for (const at of [0, 8, 60, bytes.length >> 1, bytes.length - 33, bytes.length - 1]) {
        bytes[at] = (bytes[at] ?? 0) ^ 0x10;
        const message = refused(await prove(bench, given === undefined ? {} : { identity: given }), "proof-failed");
        assert.ok(message.toLowerCase().includes(facts.object.toLowerCase()) && message.includes("SHA-256"), message);
        bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      }
      for (const part of [bytes.subarray(0, -1), bytes.subarray(0, 100), Buffer.concat([bytes, Buffer.alloc(1)])]) {
        bench.bucket.objects.set(facts.object, part);
        assert.match(refused(await prove(bench, given === undefined ? {} : { identity: given }), "proof-failed"), /bytes, and had/);
      }
    });
  }
}

test("IN90: an object or a manifest that is gone is missing", async () => {
  const bench = createWorkerBench();
  const facts = await taken(bench);
  bench.bucket.objects.delete(facts.object);
  assert.match(refused(await prove(bench), "backup-missing"), /db\.zst/);
  bench.bucket.objects.clear();
  assert.match(refused(await prove(bench), "backup-missing"), /\.json/);
});

test("the cluster's keys that are gone fail the proof", async () => {
  const bench = createWorkerBench();
  const facts = await taken(bench, ["age1friend"]);
  bench.bucket.objects.delete(facts.keysObject ?? "");
  assert.match(refused(await prove(bench), "proof-failed"), /keys\.age/);
});

test("a transfer that breaks off goes on where it was", async () => {
  const bench = createWorkerBench();
  await taken(bench);
  const open = bench.bucket.open.bind(bench.bucket);
  const offsets: (number | undefined)[] = [];
  const openStore: WorkerDeps["openStore"] = () => {
    const store = open();
    return {
      ...store,
      get: async (key, options) => {
        const found = await store.get(key, options);
        if (found === undefined || !key.endsWith(".zst")) return found;
        offsets.push(options?.offset);
        const isFirst = offsets.length === 1;
        const body = (async function* (): AsyncGenerator<Uint8Array> {
          let count = 0;
          for await (const chunk of found.body) {
            yield chunk;
            if (isFirst && (count += 1) === 2) throw Object.assign(new Error("cut"), { name: "ObjectStoreFailure", kind: "cut-off" });
          }
        })();
        return { ...found, body };
      },
    };
  };
  assert.equal((await prove(bench, { deps: { openStore } })).kind, "proved");
  assert.deepEqual(offsets, [undefined, 8192]);
});

const drill = (restored: Partial<{ revision: number; liveKeys: number }> = {}, version = "3.6.4"): RestoreDrill => ({
  version,
  restore: () => Promise.resolve({ revision: 201, liveKeys: 200, restoreMs: 7, ...restored }),
});

test("a restore in etcd is the strongest proof", async () => {
  const bench = createWorkerBench();
  await taken(bench);
  const proofOf = async (deps: Partial<WorkerDeps>): Promise<unknown> => {
    const result = await prove(bench, { drill: "restore", deps });
    return result.kind === "proved" ? result.proof : result;
  };
  assert.deepEqual(await proofOf({ drill: drill() }), { how: "restored", on: "store", restoreMs: 7 });
  assert.deepEqual(await proofOf({}), { how: "read", on: "store", weakerBecause: "no-etcd" });
  assert.deepEqual(await proofOf({ drill: drill({}, "3.5.21") }), { how: "read", on: "store", weakerBecause: "etcd-too-old" });
  const noRoom = { ...bench.deps.scratch, file: () => undefined };
  assert.deepEqual(await proofOf({ drill: drill(), scratch: noRoom }), { how: "read", on: "store", weakerBecause: "no-room" });
  const unable: RestoreDrill = { version: "3.6.4", restore: () => Promise.reject(new DrillFailure("unable", "no such file")) };
  assert.deepEqual(await proofOf({ drill: unable }), { how: "read", on: "store", weakerBecause: "no-etcd" });
});

for (const [name, given] of Object.entries({
  "another revision": drill({ revision: 202 }),
  "another count of keys": drill({ liveKeys: 199 }),
  "a refusal": { version: "3.6.4", restore: () => Promise.reject(new DrillFailure("refused", "snapshot file integrity check failed")) },
} satisfies Record<string, RestoreDrill>)) {
  test(`${name} in etcd fails the proof, and a backup that is being taken`, async () => {
    const bench = createWorkerBench();
    await taken(bench);
    refused(await prove(bench, { drill: "restore", deps: { drill: given } }), "proof-failed");
    const fresh = createWorkerBench();
    refused(await runTask({ ...fresh.task, drill: "restore" }, fresh.secrets, { ...fresh.deps, drill: given }), "proof-failed");
    assert.deepEqual([...fresh.bucket.objects.keys()], []);
    assert.equal(fresh.bucket.uploads.size, 0);
  });
}

test("a slot is removed, its manifest first, and given again it removes the rest", async () => {
  const clean = createWorkerBench();
  await taken(clean, ["age1friend"]);
  const task = { ...clean.task, kind: "remove", slots: [slot] } as const;
  clean.bucket.calls.length = 0;
  const before = new Set(clean.bucket.objects.keys());
  assert.deepEqual(await runTask(task, clean.secrets, clean.deps), { kind: "removed", slots: [slot], kept: [] });
  assert.equal(before.size - clean.bucket.objects.size, 3);
  for (let at = 1; at <= clean.bucket.calls.length; at += 1) {
    const bench = createWorkerBench();
    const facts = await taken(bench, ["age1friend"]);
    const strangers = [`${facts.object}.bak`, facts.object.replace(slot, `${slot}.b`)];
    for (const key of strangers) bench.bucket.objects.set(key, Buffer.from("mine"));
    bench.bucket.calls.length = 0;
    bench.bucket.fault = (call) => (call === at ? { when: "after", kind: "unreachable", isLast: true } : undefined);
    await runTask(task, bench.secrets, bench.deps);
    bench.bucket.fault = undefined;
    const hasManifest = bench.bucket.objects.has(facts.object.replace(/\.a1\.db.*$/, ".json"));
    if (hasManifest) assert.ok(bench.bucket.objects.has(facts.object));
    assert.deepEqual(await runTask(task, bench.secrets, bench.deps), { kind: "removed", slots: [slot], kept: [] });
    const left = [...bench.bucket.objects.keys()].filter((key) => !key.endsWith(".probe"));
    assert.deepEqual(left.toSorted(), strangers.toSorted());
  }
});

test("IN90: what a bucket keeps is told, and a locked manifest keeps its data", async () => {
  for (const onRemove of ["marked", "locked"] as const) {
    const bench = createWorkerBench();
    const facts = await taken(bench);
    bench.bucket.onRemove = onRemove;
    const result = await runTask({ ...bench.task, kind: "remove", slots: [slot] }, bench.secrets, bench.deps);
    assert.deepEqual(result, { kind: "removed", slots: [], kept: [slot] });
    assert.equal(bench.bucket.objects.has(facts.object), onRemove === "locked");
  }
});

test("bytes stay that nothing locks but their manifest, for it is to name no data that are gone", async () => {
  const bench = createWorkerBench();
  const { object } = await taken(bench);
  bench.bucket.onRemove = (key) => (key.endsWith(".json") ? "locked" : "gone");
  const result = await runTask({ ...bench.task, kind: "remove", slots: [slot] }, bench.secrets, bench.deps);
  assert.deepEqual(result, { kind: "removed", slots: [], kept: [slot] });
  assert.equal(bench.bucket.objects.has(object), true);
});

test("a slot with a manifest of somebody else is not removed", async () => {
  const bench = createWorkerBench();
  await taken(bench);
  const count = bench.bucket.objects.size;
  const secrets = { ...bench.secrets, manifestKey: Buffer.alloc(32, 9).toString("base64") };
  refused(await runTask({ ...bench.task, kind: "remove", slots: [slot] }, secrets, bench.deps), "manifest-refused");
  assert.equal(bench.bucket.objects.size, count);
});

test("without the key of its cluster a backup is proved and removed by what is known of it, and nothing else", async () => {
  const bench = createWorkerBench();
  const { object, size, sha256, storedSize, storedSha256 } = await taken(bench);
  const known = { object, size, sha256, storedSize, storedSha256 };
  const { manifestKey: _gone, ...secrets } = bench.secrets;
  const prove = (over: Partial<typeof known> | undefined): Promise<TaskResult> =>
    runTask(
      { ...bench.task, kind: "prove", drill: "read", ...(over === undefined ? {} : { known: { ...known, ...over } }) },
      secrets,
      bench.deps,
    );
  const proved = await prove({});
  assert.deepEqual(proved.kind === "proved" && proved.proof, { how: "read", on: "store" });
  refused(await prove(undefined), "bad-task");
  for (const over of [
    { object: `${object}.bak` },
    { size: size + 512 },
    { sha256: "0".repeat(64) },
    { storedSize: storedSize + 1 },
    { storedSha256: "0".repeat(64) },
  ])
    refused(await prove(over), "manifest-refused");
  refused(await runTask({ ...bench.task, attempt: "a2" }, secrets, bench.deps), "bad-task");
  const remove = { ...bench.task, kind: "remove", slots: [slot], known } as const;
  refused(await runTask({ ...remove, known: { ...known, sha256: "0".repeat(64) } }, secrets, bench.deps), "manifest-refused");
  refused(await runTask({ ...remove, slots: [slot, "20261124T020000Z-nightly"] }, secrets, bench.deps), "bad-task");
  assert.equal(bench.bucket.objects.has(object), true);
  assert.deepEqual(await runTask(remove, secrets, bench.deps), { kind: "removed", slots: [slot], kept: [] });
  assert.equal(bench.bucket.objects.has(object), false);
});

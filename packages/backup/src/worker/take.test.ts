import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import * as fc from "fast-check";

import { SnapshotError } from "@talos-operator/etcd-snapshot";
import { backupKeys } from "../layout/keys.ts";
import { openManifest } from "../manifest/manifest.ts";
import type { TaskResult } from "../task/result.ts";
import type { RestoreDrill, WorkerDeps } from "./deps.ts";
import { runTask } from "./run-task.ts";
import { createWorkerBench, slot, type WorkerBench } from "./testing/bench.ts";
import { sampleSnapshot } from "./testing/member.ts";

const identity = "AGE-SECRET-KEY-1FRIEND";
const recipients = ["age1friend"];

function keysOf(bench: WorkerBench): ReturnType<typeof backupKeys> {
  return backupKeys(bench.task.place.prefix, bench.task.owner);
}

/** One good manifest, its objects, nothing of any other attempt, no open upload, and it reads back. */
async function assertOneBackup(bench: WorkerBench): Promise<void> {
  const { bucket, secrets } = bench;
  bucket.fault = undefined;
  const keys = keysOf(bench);
  const manifests = [...bucket.objects.keys()].filter((key) => keys.parse(key)?.kind === "manifest");
  assert.deepEqual(manifests, [keys.manifest(slot)]);
  const opened = openManifest(bucket.objects.get(keys.manifest(slot)) ?? new Uint8Array(), secrets.manifestKey);
  assert.ok("facts" in opened);
  const { facts } = opened;
  const others = [...bucket.objects.keys()].filter(
    (key) => ![keys.manifest(slot), keys.probe, facts.object, facts.keysObject].includes(key),
  );
  assert.deepEqual(others, []);
  assert.equal(bucket.uploads.size, 0);
  const proved = await runTask({ ...bench.task, kind: "prove" }, { ...secrets, identity }, bench.deps);
  assert.equal(proved.kind, "proved", JSON.stringify(proved));
}

function failedWith(result: TaskResult): string {
  assert.equal(result.kind, "failed", JSON.stringify(result));
  return result.kind === "failed" ? result.reason : "";
}

test("a snapshot is stored, read back, and named by a manifest", async () => {
  const bench = createWorkerBench();
  const result = await bench.take("a1");
  assert.equal(result.kind, "taken", JSON.stringify(result));
  if (result.kind !== "taken") return;
  assert.equal(result.found, false);
  assert.deepEqual(result.proof, { how: "read", on: "writing" });
  assert.equal(result.facts.revision, 201);
  assert.equal(result.facts.liveKeys, 200);
  assert.equal(result.facts.size, bench.member.snapshot.length);
  assert.equal(result.facts.sha256, Buffer.from(bench.member.snapshot.subarray(-32)).toString("hex"));
  const stored = bench.bucket.objects.get(result.facts.object) ?? new Uint8Array();
  assert.equal(createHash("sha256").update(stored).digest("hex"), result.facts.storedSha256);
  assert.ok(JSON.stringify(result).length < 4096);
  await assertOneBackup(bench);
});

test("who finds a good manifest is done, and reads its bytes once", async () => {
  const bench = createWorkerBench();
  await bench.take("a1");
  const calls = bench.member.calls.length;
  const result = await bench.take("a2");
  assert.ok(result.kind === "taken" && result.found && result.facts.attempt === "a1");
  assert.equal(bench.member.calls.length, calls);
});

test("a found backup whose bytes changed is told, and not taken as good", async () => {
  const bench = createWorkerBench();
  const first = await bench.take("a1");
  assert.ok(first.kind === "taken");
  const bytes = bench.bucket.objects.get(first.facts.object) as Buffer;
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  const result = await bench.take("a2");
  assert.equal(failedWith(result), "proof-failed");
});

test("a manifest that was changed is refused, and nothing is uploaded", async () => {
  const bench = createWorkerBench();
  await bench.take("a1");
  const key = keysOf(bench).manifest(slot);
  const text = Buffer.from(bench.bucket.objects.get(key) ?? []).toString();
  bench.bucket.objects.set(key, Buffer.from(text.replace('"revision":201', '"revision":202')));
  bench.bucket.calls.length = 0;
  assert.equal(failedWith(await bench.take("a2")), "manifest-refused");
  assert.deepEqual(bench.bucket.calls, [`get ${key}`]);
});

test("a good manifest that was copied into another slot is refused", async () => {
  const bench = createWorkerBench();
  await bench.take("a1");
  const keys = keysOf(bench);
  const other = "20261124T020000Z-nightly.a";
  bench.bucket.objects.set(keys.manifest(other), bench.bucket.objects.get(keys.manifest(slot)) ?? new Uint8Array());
  assert.equal(failedWith(await bench.take("a2", { slot: other })), "manifest-refused");
});

test("with recipients snapshot and keys are stored for them alone", async () => {
  const bench = createWorkerBench();
  const result = await bench.take("a1", { recipients });
  assert.ok(result.kind === "taken" && result.facts.keysObject !== undefined, JSON.stringify(result));
  for (const [key, bytes] of bench.bucket.objects) {
    const text = Buffer.from(bytes).toString("latin1");
    for (const secret of ["private key", "key-of-the-backup-role", "ConfigMap", bench.secrets.manifestKey])
      assert.ok(!text.includes(secret), key);
  }
  await assertOneBackup(bench);
});

test("without recipients the cluster's keys are stored nowhere", async () => {
  const bench = createWorkerBench();
  const result = await bench.take("a1");
  assert.ok(result.kind === "taken" && result.facts.keysObject === undefined);
  for (const [key, bytes] of bench.bucket.objects) assert.ok(!Buffer.from(bytes).toString("latin1").includes("private key"), key);
});

test("recipients that are none are refused before anybody is asked", async () => {
  const bench = createWorkerBench();
  assert.equal(failedWith(await bench.take("a1", { recipients: ["ssh-ed25519 AAAA"] })), "bad-recipient");
  assert.deepEqual(bench.member.calls, []);
});

const whole = sampleSnapshot();
const changed = (at: number): Uint8Array => whole.map((byte, index) => (index === at ? byte ^ 1 : byte));
const otherTrailer = Buffer.concat([whole.subarray(0, -32), sampleSnapshot(201).subarray(-32)]);
const cuts: Readonly<Record<string, Uint8Array>> = {
  "0 bytes": whole.subarray(0, 0),
  "1 byte": whole.subarray(0, 1),
  "32 bytes": whole.subarray(0, 32),
  "512k + 31": whole.subarray(0, 512 * 20 + 31),
  "512k + 32": whole.subarray(0, 512 * 20 + 32),
  "512k + 33": whole.subarray(0, 512 * 20 + 33),
  "no trailer": whole.subarray(0, -32),
  "one byte short": whole.subarray(0, -1),
  "one byte more": Buffer.concat([whole, Buffer.alloc(1)]),
  "a wrong trailer": changed(whole.length - 1),
  "the trailer of another snapshot": otherTrailer,
  "one byte changed": changed(5000),
};
for (const [name, snapshot] of Object.entries(cuts)) {
  test(`IN86: a snapshot of ${name} is no backup`, async () => {
    const bench = createWorkerBench(snapshot);
    assert.equal(failedWith(await bench.take("a1")), "snapshot-damaged");
    assert.deepEqual([...bench.bucket.objects.keys()], []);
    assert.equal(bench.bucket.uploads.size, 0);
  });
}

test("IN87: a snapshot that does not know its member is another cluster's", async () => {
  const bench = createWorkerBench();
  bench.member.id = 0x77n;
  assert.equal(failedWith(await bench.take("a1", { source: { ...bench.task.source, memberId: "0000000000000077" } })), "source-changed");
  assert.deepEqual([...bench.bucket.objects.keys()], []);
});

test("IN88: a snapshot above the limit is refused before anything is uploaded", async () => {
  const bench = createWorkerBench();
  assert.equal(failedWith(await bench.take("a1", { maxBytes: 4096 })), "too-large");
  assert.ok(!bench.bucket.calls.some((call) => call.startsWith("createUpload")));
});

test("IN88: a disk that fills while a snapshot is taken or proved weakens the check, and a full one is told as such", async () => {
  const bench = createWorkerBench();
  const full = (): never => {
    throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  };
  const scratch: WorkerDeps["scratch"] = { ...bench.deps.scratch, file: () => ({ path: "copy", write: full, close: () => undefined }) };
  const drill: RestoreDrill = { version: "9.9.9", restore: () => assert.fail("half a copy is not restored") };
  const deps = { ...bench.deps, scratch, drill };
  const weaker = { how: "read", weakerBecause: "no-room" };
  const taken = await runTask({ ...bench.task, drill: "restore" }, bench.secrets, deps);
  assert.deepEqual(taken.kind === "taken" && taken.proof, { ...weaker, on: "writing" });
  const proved = await runTask({ ...bench.task, kind: "prove", drill: "restore" }, bench.secrets, deps);
  assert.deepEqual(proved.kind === "proved" && proved.proof, { ...weaker, on: "store" });
  const fullSpool = (): never => {
    throw new SnapshotError("SPOOL_FAILED", "no space left on device");
  };
  const noSpool = {
    ...bench.deps,
    scratch: { ...scratch, spool: () => ({ append: fullSpool, read: fullSpool, close: () => undefined }) as never },
  };
  const before = [...bench.bucket.objects.keys()];
  assert.equal(failedWith(await runTask({ ...bench.task, kind: "prove" }, bench.secrets, noSpool)), "too-large");
  assert.equal(
    failedWith(await runTask({ ...bench.task, slot: "20261124T020000Z-nightly", attempt: "b1" }, bench.secrets, noSpool)),
    "too-large",
  );
  assert.deepEqual([...bench.bucket.objects.keys()], before);
});

test("IN89: a store that keeps other bytes than it was sent, or none, has no backup", async () => {
  for (const change of [
    (bytes: Uint8Array) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([0x5a ^ (bytes.at(-1) ?? 0)])]),
    (bytes: Uint8Array) => bytes.subarray(0, bytes.length >> 1),
    () => undefined,
  ]) {
    const bench = createWorkerBench();
    const { bucket } = bench;
    const open = bucket.open.bind(bucket);
    const openStore: WorkerDeps["openStore"] = () => {
      const store = open();
      return {
        ...store,
        createUpload: async (key, options) => {
          const upload = await store.createUpload(key, options);
          return {
            ...upload,
            complete: async (given) => {
              const told = await upload.complete(given);
              const kept = change(bucket.objects.get(key) ?? new Uint8Array());
              if (kept === undefined) bucket.objects.delete(key);
              else bucket.objects.set(key, Buffer.from(kept));
              return told;
            },
          };
        },
      };
    };
    failedWith(await runTask(bench.task, bench.secrets, { ...bench.deps, openStore }));
    assert.deepEqual(
      [...bucket.objects.keys()].filter((key) => keysOf(bench).parse(key) !== undefined),
      [],
    );
  }
});

test("IN89: a store whose listings show nothing yet has its backup all the same", async () => {
  const bench = createWorkerBench();
  const { bucket } = bench;
  const openStore: WorkerDeps["openStore"] = () => ({ ...bucket.open(), list: async function* () {}, listUploads: async function* () {} });
  assert.equal((await runTask(bench.task, bench.secrets, { ...bench.deps, openStore })).kind, "taken");
  await assertOneBackup(bench);
});

test("IN90: among 100,000 objects a slot is taken and removed without listing more than its own, and nothing else is touched", async () => {
  const bench = createWorkerBench();
  const { bucket } = bench;
  const { folder } = keysOf(bench);
  for (let count = 0; count < 50_000; count += 1) {
    bucket.objects.set(`of-others/${count}`, new Uint8Array());
    bucket.objects.set(`${folder}/20250101T000000Z-old-${count}.json`, new Uint8Array());
  }
  assert.equal((await bench.take("a1")).kind, "taken");
  const { kind: _kind, slot: one, ...base } = { ...bench.task };
  const removed = await runTask({ ...base, kind: "remove", slots: [one] } as never, bench.secrets, bench.deps);
  assert.equal(removed.kind, "removed", JSON.stringify(removed));
  assert.equal([...bucket.objects.keys()].filter((key) => key !== keysOf(bench).probe).length, 100_000);
  for (const call of bucket.calls.filter((one) => one.startsWith("list ")))
    assert.ok(call.startsWith(`list ${folder}/20261123T020000Z`), call);
});

const unfit: Readonly<Record<string, (bench: WorkerBench) => void>> = {
  "another member": ({ member }) => (member.id = 1n),
  "a learner": ({ member }) => (member.isLearner = true),
  "a member with the alarm CORRUPT": ({ member }) => (member.alarm = 2),
};
for (const [name, change] of Object.entries(unfit)) {
  test(`${name} is not asked for a snapshot`, async () => {
    const bench = createWorkerBench();
    change(bench);
    assert.equal(failedWith(await bench.take("a1")), "source-changed");
    assert.ok(!bench.member.calls.some((path) => path.endsWith("EtcdSnapshot")));
  });
}

test("a member without room may be asked", async () => {
  const bench = createWorkerBench();
  bench.member.alarm = 1;
  assert.equal((await bench.take("a1")).kind, "taken");
});

test("a stream that breaks off leaves nothing in the store", async () => {
  const bench = createWorkerBench();
  bench.member.failure = Object.assign(new Error("gone"), { name: "TalosCallFailure" as const, code: 14 });
  assert.equal(failedWith(await bench.take("a1")), "source-unreachable");
  assert.deepEqual([...bench.bucket.objects.keys()], []);
  assert.equal(bench.bucket.uploads.size, 0);
});

for (const conditions of ["honoured", "ignored", "refused"] as const) {
  for (const when of ["before", "after"] as const) {
    test(`a worker that dies ${when} any call ends with one backup, conditions ${conditions}`, async () => {
      const clean = createWorkerBench();
      clean.bucket.conditions = conditions;
      await clean.take("a1", { recipients });
      const calls = clean.bucket.calls.length;
      assert.ok(calls > 8);
      for (let at = 1; at <= calls; at += 1) {
        const bench = createWorkerBench();
        bench.bucket.conditions = conditions;
        bench.bucket.fault = (call) => (call === at ? { when, kind: "unreachable", isLast: true } : undefined);
        await bench.take("a1", { recipients });
        bench.bucket.fault = undefined;
        const second = await bench.take("a2", { recipients });
        assert.equal(second.kind, "taken", `call ${at}: ${JSON.stringify(second)}`);
        await assertOneBackup(bench);
      }
    });
  }
}

for (const kind of ["unreachable", "failing", "cut-off", "slow-down", "denied", "full", "expired", "clock"] as const) {
  test(`a store that says ${kind} at any call is told, or met by another try; the next run ends with one backup`, async () => {
    for (let at = 1; at <= 14; at += 1) {
      for (const when of ["before", "after"] as const) {
        const bench = createWorkerBench();
        bench.bucket.fault = (call) => (call === at ? { when, kind, isLast: false } : undefined);
        const first = await bench.take("a1", { recipients });
        if (first.kind === "failed") assert.equal(first.store, kind, `call ${at} ${when}: ${JSON.stringify(first)}`);
        bench.bucket.fault = undefined;
        assert.equal((await bench.take("a2", { recipients })).kind, "taken");
        await assertOneBackup(bench);
      }
    }
  });
}

test("whatever sequence of deaths, there is one backup in the end, and it reads back", async () => {
  const death = fc.record({ at: fc.integer({ min: 1, max: 20 }), when: fc.constantFrom("before" as const, "after" as const) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(death, { maxLength: 6 }),
      fc.constantFrom("honoured" as const, "ignored" as const),
      async (deaths, conditions) => {
        const bench = createWorkerBench(sampleSnapshot(20));
        bench.bucket.conditions = conditions;
        for (const [index, { at, when }] of deaths.entries()) {
          bench.bucket.calls.length = 0;
          bench.bucket.fault = (call) => (call === at ? { when, kind: "unreachable", isLast: true } : undefined);
          await bench.take(`a${index}`, { recipients });
        }
        bench.bucket.fault = undefined;
        assert.equal((await bench.take("last", { recipients })).kind, "taken");
        await assertOneBackup(bench);
      },
    ),
    { numRuns: 100 },
  );
});

test("two workers at once end with one backup", async () => {
  const bench = createWorkerBench();
  const results = await Promise.all([bench.take("a1"), bench.take("a2")]);
  assert.ok(
    results.some(({ kind }) => kind === "taken"),
    JSON.stringify(results),
  );
  await bench.take("a3");
  await assertOneBackup(bench);
});

test("objects of others and uploads of runs that go on are left alone", async () => {
  const bench = createWorkerBench();
  const keys = keysOf(bench);
  const stranger = `${keys.folder}/${slot}.notes.txt`;
  bench.bucket.objects.set(stranger, Buffer.from("mine"));
  const store = bench.bucket.open();
  const running = { slot: "20261123T030000Z-other", attempt: "b1" };
  const ended = { slot: "20261123T030000Z-other", attempt: "b0" };
  const day = { slot: "20261122T030000Z-old", attempt: "b1" };
  bench.bucket.now -= 25 * 3_600_000;
  await store.createUpload(keys.data(day.slot, day.attempt, "none"));
  bench.bucket.now += 24 * 3_600_000;
  await store.createUpload(keys.data(running.slot, running.attempt, "none"));
  await store.createUpload(keys.data(ended.slot, ended.attempt, "none"));
  await store.createUpload("somebody/else.bin");
  bench.bucket.now += 3_600_000;
  await bench.take("a1", { running: [running] });
  assert.deepEqual(
    [...bench.bucket.uploads.values()].map(({ key }) => key),
    [keys.data(running.slot, running.attempt, "none"), "somebody/else.bin"],
  );
  assert.ok(bench.bucket.objects.has(stranger));
});

test("a secret that a store quotes is not told", async () => {
  const bench = createWorkerBench();
  const secret = "wJalrXUtnFEMI-secret";
  const openStore = (): never => {
    throw Object.assign(new Error(`signed with ${secret}`), { name: "ObjectStoreFailure", kind: "denied" });
  };
  const result = await runTask(
    bench.task,
    { ...bench.secrets, store: { accessKeyID: "id", secretAccessKey: secret } },
    { ...bench.deps, openStore },
  );
  assert.equal(failedWith(result), "store-failed");
  assert.ok(!JSON.stringify(result).includes(secret));
});

test("a task that is stopped says so and may be given again", async () => {
  const bench = createWorkerBench();
  const stop = new AbortController();
  bench.bucket.fault = (_, name) => {
    if (name === "part") stop.abort();
    return undefined;
  };
  const result = await runTask(bench.task, bench.secrets, bench.deps, { signal: stop.signal });
  assert.ok(result.kind === "failed" && result.reason === "timed-out" && result.mayRepeat, JSON.stringify(result));
  assert.equal(bench.bucket.uploads.size, 0);
  assert.deepEqual([...bench.bucket.objects.keys()], []);
});

for (const [name, change] of Object.entries({
  "a prefix with a newline": { place: { kind: "directory", path: "", prefix: "a\nb" } },
  "a prefix with ..": { place: { kind: "directory", path: "", prefix: "a/../b" } },
  "a slot without a time": { slot: "nightly" },
  "a slot with a slash": { slot: "20261123T020000Z-a/b" },
  "an attempt with a dot": { attempt: "a.1" },
  "a namespace with a slash": { owner: { namespace: "a/b", controlPlane: "demo", clusterId: "id" } },
} as const)) {
  test(`${name} is refused without a call`, async () => {
    const bench = createWorkerBench();
    assert.equal(failedWith(await runTask({ ...bench.task, ...change }, bench.secrets, bench.deps)), "bad-task");
    assert.deepEqual(bench.bucket.calls, []);
  });
}

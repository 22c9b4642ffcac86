import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ObjectBody, ObjectStore, StoredObject } from "@talos-operator/ports";

import { backupKeys } from "../layout/keys.ts";
import type { BackupFacts } from "../manifest/facts.ts";
import { sealManifest } from "../manifest/manifest.ts";
import { listBackups, type ListedBackup } from "./list-backups.ts";

const key = Buffer.alloc(32, 7).toString("base64");
const signal = new AbortController().signal;

type Listing = Pick<ObjectStore, "place" | "list" | "get">;

/** A bucket of texts. */
function bucketOf(objects: Readonly<Record<string, string | Uint8Array>>): Listing {
  const described = (name: string): StoredObject => ({
    key: name,
    size: Buffer.from(objects[name] ?? "").length,
    modifiedAt: 1_740_794_400_000,
  });
  return {
    place: "a bucket",
    async *list(prefix) {
      for (const name of Object.keys(objects).toSorted()) if (name.startsWith(prefix)) yield described(name);
    },
    get: async (name): Promise<ObjectBody | undefined> => {
      const bytes = objects[name];
      if (bytes === undefined) return undefined;
      return {
        ...described(name),
        body: (async function* () {
          yield Buffer.from(bytes);
        })(),
      };
    },
  };
}

const keysOf = (controlPlane: string, prefix = "p"): ReturnType<typeof backupKeys> =>
  backupKeys(prefix, { namespace: "default", controlPlane, clusterId: controlPlane });

function factsOf(controlPlane: string, slot: string, changes: Partial<BackupFacts> = {}): BackupFacts {
  return {
    slot,
    attempt: "a1",
    object: keysOf(controlPlane).data(slot, "a1", "none"),
    startedAt: "2026-11-23T02:00:00.000Z",
    endedAt: "2026-11-23T02:00:09.000Z",
    size: 20_512,
    sha256: "00",
    storedSize: 4,
    storedSha256: "11",
    compression: "zstd",
    encryption: "none",
    revision: 7,
    totalKey: 5,
    liveKeys: 5,
    source: { machine: "cp-1", memberId: "8e9e05c52164694d" },
    ...changes,
  };
}

function stored(facts: BackupFacts, controlPlane: string): Readonly<Record<string, string | Uint8Array>> {
  return { [facts.object]: "data", [keysOf(controlPlane).manifest(facts.slot)]: sealManifest(facts, key) };
}

async function listed(
  store: Listing,
  options: Partial<Parameters<typeof listBackups>[2]> = {},
  prefix = "",
): Promise<readonly ListedBackup[]> {
  const all: ListedBackup[] = [];
  for await (const one of listBackups(store, prefix, { signal, ...options })) all.push(one);
  return all;
}

const slot = "20261123T020000Z-nightly";

describe("listBackups", () => {
  test("tells backups by cluster and time, and passes over what is none", async () => {
    const bucket = bucketOf({
      ...stored(factsOf("east", slot), "east"),
      ...stored(factsOf("east", "20261124T020000Z-nightly"), "east"),
      ...stored(factsOf("west", slot), "west"),
      [keysOf("east").probe]: "probe",
      "p/default/notes.txt": "mine",
      "other/state-of-things.yaml": "mine",
      "other/x.db": "mine",
    });
    const rows = await listed(bucket);
    assert.deepEqual(
      rows.map((row) => [row.kind, row.cluster, row.kind === "backup" ? [row.facts.slot, row.signature, row.fault] : ""]),
      [
        ["backup", "default/" + keysOf("east").folder.split("/")[2], [slot, "unchecked", undefined]],
        ["backup", "default/" + keysOf("east").folder.split("/")[2], ["20261124T020000Z-nightly", "unchecked", undefined]],
        ["backup", "default/" + keysOf("west").folder.split("/")[2], [slot, "unchecked", undefined]],
      ],
    );
  });

  test("tells what the published operator wrote, and that its state holds keys", async () => {
    const at = "talos-operator-etcd-backups/demo/";
    const rows = await listed(
      bucketOf({
        [`${at}etcd-snapshot-20250301-020000.db`]: "snapshot",
        [`${at}own.db`]: "s",
        [`${at}state-20250301-020000.yaml`]: "keys",
        [`copied/demo/state-20250302-020000.yaml`]: "keys",
      }),
    );
    assert.deepEqual(
      rows.map((row) => [row.kind, row.cluster, "time" in row ? row.time : undefined]),
      [
        ["published-keys", "demo", "2025-03-02T02:00:00.000Z"],
        ["published", "demo", "2025-03-01T02:00:00.000Z"],
        ["published", "demo", "2025-03-01T02:00:00.000Z"],
        ["published-keys", "demo", "2025-03-01T02:00:00.000Z"],
      ],
    );
  });

  test("checks signatures of the cluster whose key is known, and of no other", async () => {
    const bucket = bucketOf({ ...stored(factsOf("east", slot), "east"), ...stored(factsOf("west", slot), "west") });
    const east = keysOf("east").folder.split("/")[2];
    const signatures = async (manifestKey: string): Promise<readonly string[]> =>
      (await listed(bucket, { manifestKeyOf: (cluster) => (cluster === east ? manifestKey : undefined) })).map((row) =>
        row.kind === "backup" ? row.signature : row.kind,
      );
    assert.deepEqual(await signatures(key), ["checked", "unchecked"]);
    assert.deepEqual(await signatures(Buffer.alloc(32, 8).toString("base64")), ["refused", "unnamed", "unchecked"]);
  });

  test("tells what is missing, and data that no manifest names", async () => {
    const keys = keysOf("east");
    const withKeys = factsOf("east", "20261125T020000Z-a", { keysObject: keys.keys("20261125T020000Z-a", "a1") });
    const rows = await listed(
      bucketOf({
        [keys.manifest(slot)]: sealManifest(factsOf("east", slot), key),
        ...stored(factsOf("east", "20261124T020000Z-a", { storedSize: 5 }), "east"),
        ...stored(withKeys, "east"),
        [keys.data("20261125T020000Z-a", "z9", "age")]: "loser",
        [keys.manifest("20261126T020000Z-a")]: "nonsense",
      }),
    );
    assert.deepEqual(
      rows.map((row) => (row.kind === "backup" ? row.fault : row.kind)),
      ["object-missing", "object-size", "keys-missing", "unnamed", "refused"],
    );
  });

  test("names of one slot stand apart from those of another that begins like it", async () => {
    const slots = [slot, `${slot}-x`, `${slot}.a`, `${slot}0`];
    const rows = await listed(
      bucketOf(Object.assign({}, ...slots.map((one) => stored(factsOf("east", one), "east"))) as Record<string, string>),
    );
    const told = new Map(rows.map((row) => (row.kind === "backup" ? [row.facts.slot, row.fault ?? "whole"] : [row.kind, ""])));
    assert.deepEqual(told, new Map(slots.map((one) => [one, "whole"])));
  });

  test("of 100,000 objects no more than a few are held: manifests are read while the list goes on, eight at once", async () => {
    const keys = keysOf("east");
    const BACKUPS = 50_000;
    const slotAt = (index: number): string => `${new Date(1_700_000_000_000 + index * 1000).toISOString().replaceAll(/[-:]|\.\d+/g, "")}-n`;
    // Nobody has the key, so nobody minds a seal that is that of another.
    const template = Buffer.from(sealManifest(factsOf("east", slotAt(0)), key)).toString();
    let told = 0;
    let open = 0;
    let mostOpen = 0;
    let ahead = 0;
    let count = 0;
    const store: Listing = {
      place: "a large bucket",
      async *list() {
        for (let index = 0; index < BACKUPS; index += 1) {
          ahead = Math.max(ahead, index - count);
          told += 2;
          yield { key: keys.data(slotAt(index), "a1", "none"), size: 4 };
          yield { key: keys.manifest(slotAt(index)), size: 500 };
        }
      },
      get: async (name): Promise<ObjectBody> => {
        mostOpen = Math.max(mostOpen, (open += 1));
        await Promise.resolve();
        const own = name.slice(name.lastIndexOf("/") + 1, -".json".length);
        const bytes = Buffer.from(template.replaceAll(slotAt(0), own));
        open -= 1;
        return {
          key: name,
          size: bytes.length,
          body: (async function* () {
            yield bytes;
          })(),
        };
      },
    };
    for await (const row of listBackups(store, "", { signal })) if (row.kind === "backup" && row.fault === undefined) count += 1;
    assert.deepEqual([told, count], [100_000, BACKUPS]);
    assert.ok(mostOpen <= 8, `${mostOpen} at once`);
    assert.ok(ahead <= 10, `${ahead} backups were held`);
  });

  test("what the store throws comes out, wherever it is", async () => {
    const bucket = bucketOf(stored(factsOf("east", slot), "east"));
    const failing = { ...bucket, get: () => Promise.reject(new Error("gone")) };
    await assert.rejects(listed(failing), /gone/);
  });
});

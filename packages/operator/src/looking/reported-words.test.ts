import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosClient } from "@talos-operator/talos/client";
import { seenDisks } from "./disks.ts";
import { hardwareOf, seenEtcd } from "./look-at.ts";
import { bounded, reportedWord } from "./reported-words.ts";

const endless = "f".repeat(100_000);
const options = { timeoutMs: 1_000 };

/** A machine that tells these specs, by the kind of resource, and nothing else. */
function telling(specs: Readonly<Record<string, readonly object[]>>): TalosClient {
  const of = ({ type }: { readonly type: string }): readonly { readonly spec: object }[] =>
    (specs[type.split(".")[0] ?? ""] ?? []).map((spec) => ({ spec }));
  return {
    resources: {
      get: (kind: { readonly type: string }) => Promise.resolve(of(kind)[0]),
      list: (kind: { readonly type: string }) => Promise.resolve(of(kind)),
    },
    serviceList: () => Promise.resolve([]),
  } as unknown as TalosClient;
}

const link = (hardwareAddress: string): object => ({ type: "ether", kind: "", permanentAddress: "", hardwareAddress });
const unreported = { model: "", serial: "", wwid: "", uuid: "", modalias: "", busPath: "", isRotational: false, symlinks: [] };
const disk = (devicePath: string, over: object = {}): object => ({
  devicePath,
  sizeBytes: 1,
  transport: "sata",
  isReadonly: false,
  isCdrom: false,
  ...unreported,
  ...over,
});

for (const uuid of [endless, "", "two words", "line\nfeed"])
  test(`a UUID that no record takes is none: ${JSON.stringify(uuid.slice(0, 12))}`, async () => {
    const shown = await hardwareOf(
      telling({ SystemInformations: [{ uuid }], LinkStatuses: [link(endless), link("0E:00:00:00:00:01")] }),
      options,
    );
    assert.deepEqual(shown, { uuid: undefined, macs: ["0e:00:00:00:00:01"] });
  });

test("a disk whose path no record takes is no disk to install on", async () => {
  const shown = await seenDisks(telling({ Disks: [disk(`/dev/sd${endless}`), disk("/dev/sdb\n"), disk("/dev/sda")] }), options);
  assert.deepEqual(
    shown?.map(({ path }) => path),
    ["/dev/sda"],
  );
});

test("what a disk says of itself is cut and holds no control characters", async () => {
  const over = { model: `\u001b[2J${endless}`, symlinks: Array.from({ length: 1000 }, () => "/dev/disk/by-id/a") };
  const [shown] = (await seenDisks(telling({ Disks: [disk("/dev/sda", over)] }), options)) ?? [];
  assert.ok((shown?.facts?.model.length ?? 0) <= 300);
  assert.ok(!shown?.facts?.model.includes("\u001b"));
  assert.equal(shown?.facts?.symlinks.length, 32);
});

for (const [memberId, want] of [
  ["00f0a1b2c3d4e5f6", "00f0a1b2c3d4e5f6"],
  ["none", undefined],
  ["", undefined],
  [endless, undefined],
] as const)
  test(`the member of etcd that a machine names ${JSON.stringify(memberId.slice(0, 16))} is ${want ?? "not told"}`, async () => {
    assert.equal((await seenEtcd(telling({ EtcdMembers: [{ memberId }] }), options)).localMember, want);
  });

test("a machine that names no member of etcd has none", async () => {
  assert.equal((await seenEtcd(telling({}), options)).localMember, "none");
});

test("words of machines lose control characters and length", () => {
  assert.equal(bounded("a\u001b[31mb\u009fc", 6), "a [31m");
  assert.equal(reportedWord("metal", 5), "metal");
  assert.equal(reportedWord("metals", 5), undefined);
  assert.equal(reportedWord(undefined, 5), undefined);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { SeenDisk } from "../looking/look.ts";
import { chooseInstallDisk } from "./install-disk.ts";
import type { DiskQuestion } from "./install-disk.ts";

function disk(path: string, over: Partial<SeenDisk> = {}): SeenDisk {
  return { path, sizeBytes: 64e9, transport: "virtio", isReadOnly: false, isCdrom: false, foreignContent: [], ...over };
}

function question(over: Partial<DiskQuestion>): DiskQuestion {
  return {
    machine: "cp-10.0.0.1",
    platform: "metal",
    wanted: undefined,
    mayWipe: false,
    recorded: undefined,
    disks: [disk("/dev/sda")],
    ...over,
  };
}

const cases: readonly { readonly name: string; readonly question: Partial<DiskQuestion>; readonly want: string }[] = [
  {
    name: "takes no disk in a container, whatever the manifest names",
    question: { platform: "container", wanted: "/dev/sda", disks: [] },
    want: "none",
  },
  { name: "takes the named disk when it is there and empty", question: { wanted: "/dev/sda" }, want: "/dev/sda" },
  { name: "IN37: refuses a named disk that is absent", question: { wanted: "/dev/sdb" }, want: "InstallDiskAbsent" },
  {
    name: "IN37: refuses a named disk with someone's data",
    question: { wanted: "/dev/sda", disks: [disk("/dev/sda", { foreignContent: ["ext4"] })] },
    want: "InstallDiskInUse",
  },
  {
    name: "takes a named disk with data when wiping was agreed to",
    question: { wanted: "/dev/sda", mayWipe: true, disks: [disk("/dev/sda", { foreignContent: ["ext4"] })] },
    want: "/dev/sda",
  },
  {
    name: "IN37: refuses a named disk that cannot be written",
    question: { wanted: "/dev/sda", disks: [disk("/dev/sda", { isReadOnly: true })] },
    want: "InstallDiskInUse",
  },
  { name: "believes the manifest when the machine lists no disks", question: { wanted: "/dev/sda", disks: undefined }, want: "/dev/sda" },
  {
    name: "keeps the disk that was chosen before",
    question: { recorded: "/dev/sdb", disks: [disk("/dev/sda"), disk("/dev/sdb")] },
    want: "/dev/sdb",
  },
  { name: "IN37: never takes a USB stick", question: { disks: [disk("/dev/sda", { transport: "usb" })] }, want: "InstallDiskUnclear" },
  {
    name: "IN37: passes over a disk with data",
    question: { disks: [disk("/dev/sda", { foreignContent: ["xfs"] }), disk("/dev/sdb")] },
    want: "/dev/sdb",
  },
  {
    name: "passes over a disk whose content is not told",
    question: { disks: [disk("/dev/sda", { foreignContent: undefined })] },
    want: "InstallDiskUnclear",
  },
  { name: "passes over a disk that is too small", question: { disks: [disk("/dev/sda", { sizeBytes: 1e9 })] }, want: "InstallDiskUnclear" },
  { name: "asks for a name when the machine lists no disks", question: { disks: undefined }, want: "InstallDiskUnclear" },
  { name: "asks for a name when there is no disk", question: { disks: [] }, want: "InstallDiskUnclear" },
];

for (const { name, question: given, want } of cases) {
  test(`install disk: ${name}`, () => {
    const choice = chooseInstallDisk(question(given));
    assert.equal(choice.kind === "disk" ? choice.path : choice.kind === "none" ? "none" : choice.reason, want);
  });
}

test("install disk: the order of the list changes nothing", () => {
  const disks = ["/dev/sdb", "/dev/sda", "/dev/sdaa", "/dev/nvme0n1"].map((path) => disk(path));
  fc.assert(
    fc.property(fc.shuffledSubarray(disks, { minLength: disks.length }), (shuffled) => {
      assert.deepEqual(chooseInstallDisk(question({ disks: shuffled })), { kind: "disk", path: "/dev/sda" });
    }),
  );
});

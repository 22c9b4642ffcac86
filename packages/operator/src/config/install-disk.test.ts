import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { chooseInstallDisk } from "./install-disk.ts";
import type { DiskQuestion } from "./install-disk.ts";
import type { SeenDisk, SeenDiskFacts } from "../model/look.ts";

function disk(path: string, over: Partial<SeenDisk> = {}): SeenDisk {
  return { path, sizeBytes: 64e9, transport: "virtio", isReadOnly: false, isCdrom: false, foreignContent: [], ...over };
}

const told: SeenDiskFacts = {
  model: "Slow Disk",
  serial: "S1",
  wwid: "naa.1",
  uuid: "",
  modalias: "scsi:t-0x00",
  busPath: "/pci0000:00/0000:00:17.0/ata1",
  isRotational: true,
  symlinks: [],
};
const byId = "/dev/disk/by-id/ata-Slow_Disk_S1";
const linked = (path: string): SeenDisk => disk(path, { facts: { ...told, symlinks: [byId] } });
const fast = disk("/dev/nvme0n1", { transport: "nvme", facts: { ...told, model: "Fast Disk 1TB", isRotational: false } });
const both = [disk("/dev/sda", { facts: told }), fast];

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
  { name: "takes a disk by a link to it", question: { wanted: byId, disks: [disk("/dev/sda"), linked("/dev/sdb")] }, want: byId },
  {
    name: "refuses a link to a disk with someone's data",
    question: { wanted: byId, disks: [{ ...linked("/dev/sdb"), foreignContent: ["xfs"] }] },
    want: "InstallDiskInUse",
  },
  {
    name: "refuses a link that leads to no disk",
    question: { wanted: `${byId}2`, disks: [linked("/dev/sda")] },
    want: "InstallDiskAbsent",
  },
  {
    name: "refuses a link where the machine tells none",
    question: { wanted: byId, disks: [disk("/dev/sda")] },
    want: "InstallDiskUnclear",
  },
  { name: "takes the disk that the selector finds", question: { selector: { model: "Fast*" }, disks: both }, want: "/dev/nvme0n1" },
  { name: "refuses a selector that finds no disk", question: { selector: { size: ">= 2TB" }, disks: both }, want: "InstallDiskAbsent" },
  {
    name: "takes the empty one of several that the selector finds",
    question: { selector: { size: "> 10GB" }, disks: [disk("/dev/sda", { foreignContent: ["ext4"] }), disk("/dev/sdb")] },
    want: "/dev/sdb",
  },
  {
    name: "takes the empty one although wiping was agreed to",
    question: { selector: { size: "> 10GB" }, mayWipe: true, disks: [disk("/dev/sda", { foreignContent: ["ext4"] }), disk("/dev/sdb")] },
    want: "/dev/sdb",
  },
  {
    name: "refuses a selector that finds data only",
    question: { selector: { type: "nvme" }, disks: [{ ...fast, foreignContent: ["ext4"] }] },
    want: "InstallDiskInUse",
  },
  {
    name: "refuses a selector that finds what is not told",
    question: { selector: { type: "nvme" }, disks: [{ ...fast, foreignContent: undefined }] },
    want: "InstallDiskInUse",
  },
  {
    name: "takes the selected disk with data when wiping was agreed to",
    question: { selector: { type: "nvme" }, mayWipe: true, disks: [{ ...fast, foreignContent: ["ext4"] }] },
    want: "/dev/nvme0n1",
  },
  {
    name: "asks for a name when nobody can see what a selector finds",
    question: { selector: { type: "nvme" }, disks: undefined },
    want: "InstallDiskUnclear",
  },
  {
    name: "keeps the selected disk that was chosen before",
    question: { selector: { size: "> 10GB" }, recorded: "/dev/sdb", disks: [disk("/dev/sda"), disk("/dev/sdb")] },
    want: "/dev/sdb",
  },
  {
    name: "leaves the disk that was chosen before when the selector finds another",
    question: { selector: { model: "Fast*" }, recorded: "/dev/sda", disks: both },
    want: "/dev/nvme0n1",
  },
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

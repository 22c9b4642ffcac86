import assert from "node:assert/strict";
import { test } from "node:test";
import type { DiskSelector } from "@talos-operator/api";
import { isSelected, saysSomething } from "./disk-selector.ts";
import { wantedDisk, wantedSelector } from "./wanted-disk.ts";
import type { SeenDisk } from "../model/look.ts";

const disk: SeenDisk = {
  path: "/dev/sda",
  sizeBytes: 4e9,
  transport: "sata",
  isReadOnly: false,
  isCdrom: false,
  foreignContent: [],
  facts: {
    model: "ACME 4000 Pro",
    serial: "XY-77",
    wwid: "naa.5000c500a1b2c3d4",
    uuid: "e1",
    modalias: "scsi:t-0x00",
    busPath: "/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0",
    isRotational: true,
    symlinks: [],
  },
};

const cases: readonly { readonly selector: DiskSelector; readonly seen?: Partial<SeenDisk>; readonly fits: boolean }[] = [
  { selector: { size: "4GB" }, fits: true },
  { selector: { size: "== 4GB" }, fits: true },
  { selector: { size: "4GiB" }, fits: false },
  { selector: { size: ">= 4 GB" }, fits: true },
  { selector: { size: "> 4GB" }, fits: false },
  { selector: { size: "<= 4000MB" }, fits: true },
  { selector: { size: "< 1TB" }, fits: true },
  { selector: { size: "ten" }, fits: false },
  { selector: { type: "hdd" }, fits: true },
  { selector: { type: "ssd" }, fits: false },
  { selector: { type: "nvme" }, fits: false },
  { selector: { type: "nvme" }, seen: { transport: "nvme" }, fits: true },
  { selector: { type: "sd" }, seen: { transport: "mmc" }, fits: true },
  { selector: { model: "ACME*" }, fits: true },
  { selector: { model: "acme*" }, fits: false },
  { selector: { model: "*4000*" }, fits: true },
  { selector: { model: "ACME 4000 Pro" }, fits: true },
  { selector: { model: "ACME" }, fits: false },
  { selector: { model: "*Pro*Pro" }, fits: false },
  { selector: { model: "*" }, fits: true },
  { selector: { serial: "XY-??" }, fits: false },
  { selector: { wwid: "naa.5000*" }, fits: true },
  { selector: { uuid: "e1" }, fits: true },
  { selector: { modalias: "scsi:*" }, fits: true },
  { selector: { busPath: "/pci0000:00/*" }, fits: true },
  { selector: { busPath: "/pci0000:01/*" }, fits: false },
  { selector: { model: "ACME*", size: "> 1TB" }, fits: false },
  { selector: { model: "ACME*" }, seen: { isReadOnly: true }, fits: false },
  { selector: { model: "ACME*" }, seen: { isCdrom: true }, fits: false },
  { selector: { model: "ACME*" }, seen: { transport: "" }, fits: false },
];

for (const { selector, seen = {}, fits } of cases) {
  test(`a disk ${fits ? "fits" : "does not fit"} ${JSON.stringify({ ...selector, ...seen })}`, () =>
    assert.equal(isSelected({ ...disk, ...seen }, selector), fits));
}

test("what the machine does not tell of a disk fits no text and no type", () => {
  const { facts: _facts, ...silent } = disk;
  assert.equal(isSelected(silent, { model: "*" }), false);
  assert.equal(isSelected(silent, { type: "ssd" }), false);
  assert.equal(isSelected(silent, { size: "4GB" }), true);
});

test("a selector goes before installDisk, a patch before both, and an empty one is none", () => {
  const patch = { machine: { install: { disk: "/dev/sdc" } } };
  const both = { installDisk: "/dev/sda", diskSelector: { type: "nvme" } } as const;
  assert.equal(wantedDisk(both), undefined);
  assert.deepEqual(wantedSelector(both), { type: "nvme" });
  assert.equal(wantedDisk({ ...both, configPatches: [patch] }), "/dev/sdc");
  assert.equal(wantedSelector({ ...both, configPatches: [patch] }), undefined);
  assert.equal(wantedDisk({ installDisk: "/dev/sda", diskSelector: {} }), "/dev/sda");
  assert.equal(saysSomething({}), false);
});

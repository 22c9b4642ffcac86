import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running } from "../../testing/builders.ts";
import { progressOf } from "./evidence.ts";
import type { KnownConfig } from "../../model/config.ts";
import type { Running } from "../../model/look.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

const MINUTE = 60_000;
const [one, two] = ["1".repeat(64), "2".repeat(64)];

interface Given {
  readonly intent?: Partial<UpgradeIntent>;
  readonly runs?: { readonly version?: string; readonly bootId?: string };
  readonly talos?: Partial<NonNullable<KnownConfig["talos"]>>;
  readonly args?: KnownConfig["arguments"];
  readonly look?: Partial<Running>;
}

/** What a worker shows that was asked to boot v1.13.10: `well`, or why not. */
function shown({ intent = {}, runs = {}, talos = {}, args, look = {} }: Given): string {
  const { version = "v1.13.10", bootId = "after" } = runs;
  const asked: UpgradeIntent = {
    what: "Reboot",
    role: "worker",
    machine: "demo-10.0.0.2",
    address: "10.0.0.2",
    uuid: "uuid-10.0.0.2",
    at: NOW - 5 * MINUTE,
    deadline: NOW + 10 * MINUTE,
    why: "",
    talosVersion: "v1.13.10",
    talosBefore: "v1.13.9",
    bootIdBefore: "before",
    ...intent,
  };
  const read: KnownConfig = {
    kind: "known",
    at: NOW,
    bootId,
    version,
    settings: "",
    activeHash: "",
    changes: [],
    onDisk: "wanted",
    talos: { isStaged: false, manufacturer: "", product: "", ...talos },
    ...(args === undefined ? {} : { arguments: args }),
  };
  const seen = observed({
    controlPlane: controlPlane(3),
    facts: facts({ bootstrapDone: founded, machines: [1, 2, 3].map((n) => configured(`10.0.0.${n}`)), intents: [asked] }),
    looks: Object.fromEntries([1, 2, 3].map((n) => [`10.0.0.${n}`, running(member(n - 1, 3), { version, ...(n === 2 ? look : {}) })])),
    configs: new Map([["demo-10.0.0.2", read]]),
  });
  const progress = progressOf(assess(seen), asked);
  return [progress.kind, ...("talos" in progress ? [progress.talos] : []), ...("what" in progress ? [progress.what] : [])].join(": ");
}

/** The version stays: only the image is another one. */
const image = { talosBefore: "v1.13.10", talosSchematic: two };

const ran = { talosArguments: ["quiet"] };
const ofImage = (names: readonly string[]): KnownConfig["arguments"] => ({ loader: "uki", bySettings: false, asked: [], lacks: [], names });
const grub = (lacks: readonly string[]): KnownConfig["arguments"] => ({
  loader: "grub",
  bySettings: true,
  asked: ["quiet"],
  lacks,
  names: [],
});

const cases: readonly (readonly [name: string, given: Given, says: RegExp])[] = [
  ["another boot and the version that was asked for", {}, /^well$/],
  ["the boot of before", { runs: { bootId: "before" } }, /^not-booted$/],
  ["the version of before", { runs: { version: "v1.13.9" } }, /^fell-back$/],
  ["a third version", { runs: { version: "v1.13.8" } }, /^another: Talos v1\.13\.8$/],
  ["another image of the version that ran", { intent: image, talos: { schematic: two } }, /^well$/],
  ["the image of before, where the version is the same", { intent: image, talos: { schematic: one } }, /^fell-back$/],
  ["no schematic, where that alone tells images apart", { intent: image }, /^unreported$/],
  [
    "the version with another schematic than was asked for",
    { intent: { talosSchematic: two }, talos: { schematic: one } },
    /^another: Talos v1\.13\.10 of the schematic 1{12}/,
  ],
  [
    "all extensions of before, and more",
    { intent: { talosExtensions: ["iscsi-tools"] }, talos: { extensions: ["iscsi-tools", "util-linux-tools"] } },
    /^well$/,
  ],
  [
    "fewer extensions than ran before",
    { intent: { talosExtensions: ["iscsi-tools", "qemu-guest-agent"] }, talos: { extensions: ["qemu-guest-agent"] } },
    /^missing: it lacks the extensions iscsi-tools, which ran before: name an image that has them, or annotate .*: iscsi-tools$/,
  ],
  ["the kernel arguments of before, and more", { intent: ran, args: ofImage(["noapic", "quiet"]) }, /^well$/],
  [
    "fewer kernel arguments than ran before",
    { intent: ran, args: ofImage([]) },
    /^missing: it lacks the kernel arguments quiet, which ran before: name an image that has them, or annotate .*allow-kernel-argument-loss: quiet$/,
  ],
  ["another version that does not tell what runs", { intent: ran, args: { bySettings: false, asked: [] } }, /^well$/],
  [
    "a kernel argument of the settings that was lost",
    { intent: ran, args: grub(["quiet"]) },
    /^missing: it lacks the kernel arguments quiet/,
  ],
  ["the kernel argument that it was installed for", { intent: { ...image, ...ran }, talos: { schematic: two }, args: grub([]) }, /^well$/],
  ["what runs, without it", { intent: { ...image, ...ran }, talos: { schematic: two }, args: grub(["quiet"]) }, /^fell-back$/],
  ["what runs, and not what its kernel was started with", { intent: { ...image, ...ran }, talos: { schematic: two } }, /^unreported$/],
  ["a Talos that does not tell its extensions", { intent: { talosExtensions: ["iscsi-tools"] } }, /^well$/],
  ["a control plane whose member of etcd votes and is healthy", { intent: { role: "controlplane" } }, /^well$/],
  [
    "a control plane whose member of etcd is not healthy",
    { intent: { role: "controlplane" }, look: { etcd: { ...member(1, 3), isHealthy: false } } },
    /^missing: etcd on it is not healthy$/,
  ],
  [
    "a control plane whose member of etcd was healthy when it was last looked at, long ago",
    { intent: { role: "controlplane" }, look: { at: NOW - 2 * MINUTE } },
    /^missing: its member of etcd is no healthy voter$/,
  ],
];

describe("a machine that was asked to boot another Talos", () => {
  for (const [name, given, says] of cases) test(`and shows ${name}`, () => assert.match(shown(given), says));
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, facts, founded, NOW, observed } from "../../testing/builders.ts";
import { withUnaskedBoots } from "./unasked-boots.ts";
import type { InstalledFact, IntentFact } from "../../model/record.ts";

const machine = "demo-10.0.0.1";
const one = "1".repeat(64);
const newer: InstalledFact = { version: "v1.13.10", before: "v1.13.9", bootId: "boot-1" };
const image: InstalledFact = { version: "v1.13.9", before: "v1.13.9", schematic: one, bootId: "boot-1" };
const open = (name: string): IntentFact => ({
  what: "DisarmAlarms",
  role: "controlplane",
  machine: name,
  address: "10.0.0.2",
  uuid: "",
  at: NOW,
  deadline: NOW + 60_000,
  why: "",
});

interface Given {
  readonly installed?: InstalledFact;
  readonly bootId?: string;
  readonly version?: string;
  readonly schematic?: string;
  readonly fallback?: string;
  readonly isRead?: boolean;
  readonly intents?: readonly IntentFact[];
  readonly role?: "controlplane" | "worker";
}

/** What is judged then, by the boot before it, and of which boot the word is that a Talos is installed. */
function known(given: Given): readonly [judged: string | undefined, installed: string | undefined] {
  const {
    installed = newer,
    bootId = "boot-2",
    version = "v1.13.10",
    schematic,
    fallback,
    isRead = true,
    intents = [],
    role = "controlplane",
  } = given;
  const before = facts({ bootstrapDone: founded, machines: [configured("10.0.0.1", role, "demo", { installed })], intents });
  const told = { isStaged: false, manufacturer: "", product: "" };
  const talos = { ...told, ...(fallback === undefined ? {} : { fallback }), ...(schematic === undefined ? {} : { schematic }) };
  const read = { at: NOW, bootId, version, settings: "", activeHash: "", changes: [], onDisk: "wanted", talos } as const;
  const configs = new Map([
    [machine, isRead ? { kind: "known" as const, ...read } : { kind: "unknown" as const, detail: "It is being read." }],
  ]);
  const after = withUnaskedBoots(assess(observed({ facts: before, configs })), before);
  const judged = after.intents.find((intent) => intent.machine === machine && intent.what === "Reboot");
  return [
    judged === undefined ? undefined : `${judged.bootIdBefore}: ${judged.talosBefore} to ${judged.talosVersion}`,
    after.machines[0]?.installed?.bootId,
  ];
}

describe("a boot that nobody asked for, of a machine on which a Talos is installed", () => {
  const cases: readonly (readonly [string, Given, readonly [string | undefined, string | undefined]])[] = [
    ["is judged as one that was asked for", {}, ["boot-1: v1.13.9 to v1.13.10", "boot-1"]],
    ["did not take place", { bootId: "boot-1", version: "v1.13.9", fallback: "A" }, [undefined, "boot-1"]],
    ["is not known while the machine is not read", { isRead: false }, [undefined, "boot-1"]],
    ["waits for what is open on the machine", { intents: [open(machine)] }, [undefined, "boot-1"]],
    ["waits for what is open on another control plane", { intents: [open("demo-10.0.0.2")] }, [undefined, "boot-1"]],
    ["of a worker does not", { role: "worker", intents: [open("demo-10.0.0.2")] }, ["boot-1: v1.13.9 to v1.13.10", "boot-1"]],
    ["started another one: the word was lost", { version: "v1.13.9" }, [undefined, undefined]],
    ["started another one, and the next one starts it", { version: "v1.13.9", fallback: "A" }, [undefined, "boot-2"]],
    [
      "of another image is told by the schematic",
      { installed: image, version: "v1.13.9", schematic: one },
      ["boot-1: v1.13.9 to v1.13.9", "boot-1"],
    ],
    ["of another image that tells none is not known", { installed: image, version: "v1.13.9" }, [undefined, "boot-1"]],
    ["of another image started the one of before", { installed: image, version: "v1.13.9", schematic: "none" }, [undefined, undefined]],
  ];
  for (const [what, given, want] of cases) test(what, () => assert.deepEqual(known(given), want));
});

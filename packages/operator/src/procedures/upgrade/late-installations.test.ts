import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, facts, founded, NOW, observed } from "../../testing/builders.ts";
import { withLateInstallations } from "./late-installations.ts";
import type { IntentFact } from "../../model/record.ts";

const machine = "demo-10.0.0.1";
const asked = { version: "v1.13.10", before: "v1.13.9", bootId: "boot-1", image: "registry.example.org/own/installer:v1.13.10" };
const open: IntentFact = {
  what: "InstallTalos",
  role: "controlplane",
  machine,
  address: "10.0.0.1",
  uuid: "",
  at: NOW,
  deadline: NOW + 60_000,
  why: "",
  talosVersion: "v1.13.10",
  talosBefore: "v1.13.9",
};

interface Given {
  readonly bootId?: string;
  readonly fallback?: string;
  readonly isRead?: boolean;
  readonly intents?: readonly IntentFact[];
}

/** What is known of the other slot then: that something is there, that something may come, or nothing. */
function known({ bootId = "boot-1", fallback, isRead = true, intents = [] }: Given): readonly [unknown, unknown] {
  const before = facts({
    bootstrapDone: founded,
    machines: [configured("10.0.0.1", "controlplane", "demo", { installing: asked })],
    intents,
  });
  const talos = { isStaged: false, manufacturer: "", product: "", ...(fallback === undefined ? {} : { fallback }) };
  const read = { at: NOW, bootId, version: "v1.13.9", settings: "", activeHash: "", changes: [], onDisk: "wanted", talos } as const;
  const configs = new Map([
    [machine, isRead ? { kind: "known" as const, ...read } : { kind: "unknown" as const, detail: "It is being read." }],
  ]);
  const [after] = withLateInstallations(assess(observed({ facts: before, configs })), before).machines;
  return [after?.installed, after?.installing];
}

describe("an installation whose end nobody saw", () => {
  const cases: readonly (readonly [string, Given, readonly [unknown, unknown]])[] = [
    ["is what the machine has in its other slot later", { fallback: "A" }, [asked, undefined]],
    ["may still end", {}, [undefined, asked]],
    ["is waited for while the machine is not read", { isRead: false, fallback: "A" }, [undefined, asked]],
    ["came to nothing where the machine has booted since", { bootId: "boot-2" }, [undefined, undefined]],
    ["is not what somebody installed in another boot", { bootId: "boot-2", fallback: "A" }, [undefined, undefined]],
    ["is left to the step that is open", { fallback: "A", intents: [open] }, [undefined, asked]],
  ];
  for (const [what, given, want] of cases) test(what, () => assert.deepEqual(known(given), want));
});

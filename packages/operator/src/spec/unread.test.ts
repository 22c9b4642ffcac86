import assert from "node:assert/strict";
import { test } from "node:test";
import { configured, controlPlane, facts, founded, member, NOW, observed, running } from "../testing/builders.ts";
import { oldestReader } from "./unread.ts";
import type { UpgradeIntent } from "../record/upgrades.ts";

const addresses = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
const open: UpgradeIntent = {
  what: "Reboot",
  role: "controlplane",
  machine: "demo-10.0.0.3",
  address: "10.0.0.3",
  uuid: "uuid-10.0.0.3",
  at: NOW,
  deadline: NOW + 600_000,
  why: "",
  talosVersion: "v1.14.0",
  talosBefore: "v1.13.9",
};

for (const { what, runs, intents, want } of [
  { what: "that every machine runs what is asked for", runs: ["v1.14.0", "v1.14.0", "v1.14.0"], intents: [], want: undefined },
  { what: "what machines run that are still to come", runs: ["v1.14.0", "v1.13.10", "v1.13.9"], intents: [], want: "v1.13.9" },
  {
    what: "what the last machine would go back to in its bake time",
    runs: ["v1.14.0", "v1.14.0", "v1.14.0"],
    intents: [open],
    want: "v1.13.9",
  },
])
  test(`what is sent has to be read by ${what}`, () => {
    const known = facts({ bootstrapDone: founded, machines: addresses.map((address) => configured(address)), intents });
    const looks = Object.fromEntries(
      addresses.map((address, index) => [address, running(member(index, 3), { version: runs[index] ?? "" })]),
    );
    const seen = observed({ controlPlane: controlPlane(3, { version: "v1.14.0" }), facts: known, looks });
    assert.equal(oldestReader(seen, known), want);
  });

import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, facts, inMaintenance, observed } from "../../testing/builders.ts";
import { concernsMeta, metaState, NO_META, UNSURE_META } from "./meta-plan.ts";
import type { WantedMeta } from "./meta-plan.ts";
import { planMachines } from "../join/plan.ts";
import type { KnownConfig } from "../../model/config.ts";

const none: WantedMeta = { text: undefined, hash: NO_META };
const first: WantedMeta = { text: "first", hash: "hash-of-first" };
const config = (wanted: WantedMeta, live: string): KnownConfig => ({
  kind: "known",
  at: 0,
  settings: "",
  bootId: "",
  version: "",
  activeHash: "",
  changes: [],
  onDisk: "wanted",
  meta: { wanted: wanted.hash, live },
});
const unsure = configured("10.0.0.1", "controlplane", "demo", { metaHash: UNSURE_META });

for (const { name, wanted, live, want } of [
  { name: "are there: learned", wanted: first, live: first.hash, want: "learn" },
  { name: "are not there: written", wanted: first, live: NO_META, want: "change" },
  { name: "left the spec and are there: taken out", wanted: none, live: first.hash, want: "change" },
  { name: "left the spec and are not there: learned", wanted: none, live: NO_META, want: "learn" },
])
  test(`settings that may have been written before the first configuration, and ${name}`, () => {
    assert.ok(concernsMeta(unsure, wanted), "it would not be read");
    assert.equal(metaState(unsure, wanted, config(wanted, live))?.kind, want);
  });

test("a machine that is configured with static network settings counts as one that may have them", () => {
  const seen = observed({ looks: { "10.0.0.1": inMaintenance("10.0.0.1") } });
  const [machine] = seen.machines;
  assert.ok(machine !== undefined);
  const meta = { interface: "eth0", subnet: 24, gateway: "10.0.0.254" };
  const withMeta = { ...machine, declared: { ...machine.declared, machineSpec: { ...machine.declared.machineSpec, meta } } };
  const hashes = [machine, withMeta].map((one) => planMachines(assess({ ...seen, machines: [one] }), facts()).facts.machines[0]?.metaHash);
  assert.deepEqual(hashes, [NO_META, UNSURE_META]);
});

test("settings that arrived are not remembered as failed any more, and what failed beside them is", () => {
  const failedWith = (configHash: string): object => {
    const fact = configured("10.0.0.1", "controlplane", "demo", {
      metaHash: NO_META,
      failed: { at: 0, configHash, why: "refused" } as never,
    });
    const state = metaState(fact, first, config(first, first.hash));
    assert.ok(state?.kind === "learn");
    return { ...state.next.failed };
  };
  assert.deepEqual(failedWith("meta-hash-of-before"), {});
  assert.deepEqual(failedWith("hash-of-a-configuration"), { at: 0, configHash: "hash-of-a-configuration", why: "refused" });
});

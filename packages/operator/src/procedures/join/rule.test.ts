import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, inMaintenance, member, NOW, observed, running, worker } from "../../testing/builders.ts";
import { metaHashOf, wantedMeta } from "../configure/meta-plan.ts";
import { machineFact } from "../../record/facts.ts";
import { planMachines } from "./plan.ts";
import { configureMachines } from "./rule.ts";
import type { MachineFact } from "../../model/record.ts";

describe("a running machine whose reference gives another of its addresses", () => {
  const meta = { interface: "eth0", subnet: 24, gateway: "10.0.0.254" };
  const pool = controlPlane(1, { metalSpec: { machines: [{ address: "10.0.0.1" }], machineSpec: { meta } } });
  const [machine] = observed({ controlPlane: pool }).machines;
  const hashAt = (address: string): string => wantedMeta({ ...machine!.declared, address }, "metal").hash;
  const after = (metaHash: string): MachineFact | undefined => {
    const seen = observed({
      controlPlane: pool,
      looks: { "10.0.0.1": running(member(0, 1), { hardware: { uuid: "uuid-10.0.0.1", macs: [] } }) },
      facts: facts({
        bootstrapDone: founded,
        machines: [configured("10.0.0.1", "controlplane", "demo", { address: "10.0.0.9", configHash: "a", metaHash })],
      }),
    });
    const [action] = configureMachines.decide(assess(seen))?.actions ?? [];
    return action?.kind === "WriteRecord" ? machineFact(action.facts, machine!.declared.name) : undefined;
  };

  test("is followed, and the static address in its META is not changed for that", () => {
    assert.notEqual(hashAt("10.0.0.9"), hashAt("10.0.0.1"));
    assert.deepEqual([after(hashAt("10.0.0.9"))?.address, after(hashAt("10.0.0.9"))?.metaHash], ["10.0.0.1", hashAt("10.0.0.1")]);
  });
  test("gets settings for its META that were asked for before and not written yet", () => {
    const other = metaHashOf("other settings");
    assert.deepEqual([after(other)?.address, after(other)?.metaHash], ["10.0.0.1", other]);
  });
});

describe("a machine that waits for its first configuration", () => {
  const document = { apiVersion: "v1alpha1", kind: "SysctlConfig", params: { "net.core.somaxconn": "1024" } };
  for (const { what, booted, runs, want } of [
    { what: "that booted a Talos which does not read it", booted: "v1.13.9", runs: "v1.14.0", want: "v1.13.9" },
    { what: "on which a Talos is installed that does not read it", booted: "v1.14.0", runs: "v1.13.9", want: "v1.13.9" },
    { what: "whose Talos reads it", booted: "v1.14.0", runs: "v1.14.0", want: undefined },
  ])
    test(`${what} ${want === undefined ? "gets it" : "is told of"}`, () => {
      const addresses = ["10.0.0.1", "10.0.0.2"];
      const seen = observed({
        controlPlane: controlPlane(3, {
          version: "v1.14.0",
          metalSpec: {
            machines: [...addresses, "10.0.0.3"].map((address) => ({ address })),
            machineSpec: { installDisk: "/dev/sda", configPatches: [document] },
          },
        }),
        looks: {
          ...Object.fromEntries(addresses.map((address, index) => [address, running(member(index, 2), { version: runs })])),
          "10.0.0.3": inMaintenance("10.0.0.3", { version: booted }),
        },
        facts: facts({ bootstrapDone: founded, talosVersion: runs, machines: addresses.map((address) => configured(address)) }),
      });
      const stopped = assess(seen).joining?.stopped ?? [];
      assert.equal(
        /Talos (\S+), which is to read its configuration, cannot/.exec(stopped.map(({ message }) => message).join(" "))?.[1],
        want,
      );
    });
});

test("a machine that was released by its other name is not met running by a look of before its wipe, and is by a later one", () => {
  const learned = (at: number): boolean => {
    const hardware = { uuid: "uuid-10.0.1.1", macs: [] };
    const seen = observed({
      controlPlane: controlPlane(1),
      workers: [worker(1)],
      looks: { "10.0.0.1": running(member(0, 1)), "10.0.1.1": running(undefined, { at, hardware }) },
      facts: facts({
        bootstrapDone: founded,
        machines: [configured("10.0.0.1"), configured("10.0.1.1", "worker", "other", { releasedAt: NOW, pool: "other" })],
      }),
    });
    const [action] = configureMachines.decide(assess(seen))?.actions ?? [];
    return action?.kind === "WriteRecord" && machineFact(action.facts, "demo-workers-10.0.1.1") !== undefined;
  };
  assert.deepEqual([learned(NOW - 500), learned(NOW + 500), learned(NOW + 1_000)], [false, false, true]);
});

test("a machine that waits at a new address is followed by the key that was written down alone, and by no word that lets it be configured again", () => {
  const followedTo = (spki: string): string | undefined => {
    const known = facts({
      bootstrapDone: founded,
      machines: [configured("10.0.0.1"), configured("10.0.0.2"), configured("10.0.0.3", "controlplane", "demo", { address: "10.0.0.9" })],
      // It joins later, so nothing else is written down of it.
      intents: [
        {
          what: "Reset",
          role: "controlplane",
          machine: "demo-10.0.0.8",
          address: "10.0.0.8",
          uuid: "",
          at: NOW,
          deadline: NOW + 600_000,
          why: "",
        },
      ],
    });
    const seen = observed({
      controlPlane: controlPlane(3, {}, { annotations: { "talos-operator.dev/approve-reprovision": "uuid-10.0.0.3" } }),
      looks: {
        "10.0.0.1": running(member(0, 2)),
        "10.0.0.2": running(member(1, 2)),
        "10.0.0.3": inMaintenance("10.0.0.3", { spki }),
      },
      facts: known,
    });
    return machineFact(planMachines(assess(seen), known).facts, "demo-10.0.0.3")?.address;
  };
  assert.deepEqual([followedTo("spki-10.0.0.3"), followedTo("spki-of-another")], ["10.0.0.3", "10.0.0.9"]);
});

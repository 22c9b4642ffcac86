import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { resourceKinds } from "@talos-operator/talos/client";
import type { TalosClient } from "@talos-operator/talos/client";
import { isEffectError } from "../errors.ts";
import { configured, facts } from "../testing/builders.ts";
import { demandMachine } from "./demand-machine.ts";

/** A machine that answers with this hardware, on the connection of an effect. */
function showing(uuid: string | undefined, mac: string): TalosClient {
  const resources = {
    get: async (kind: unknown) => (kind === resourceKinds.systemInformation ? { spec: { uuid } } : undefined),
    list: async () => (mac === "" ? [] : [{ spec: { type: "ether", kind: "", permanentAddress: mac, hardwareAddress: mac } }]),
  };
  return { resources } as unknown as TalosClient;
}

const one = configured("10.0.0.1", "worker");
const two = configured("10.0.0.2", "worker");
const own = facts({ machines: [one, two] });
const cloned = facts({ machines: [one, { ...two, uuid: one.uuid }] });
const signal = new AbortController().signal;

describe("the machine on the connection of an effect", () => {
  test("is taken by its own UUID, whatever its network card", async () => {
    await demandMachine(showing(one.uuid, "new"), one.name, one.uuid, signal, own);
  });

  test("is refused with another UUID", async () => {
    const call = demandMachine(showing(two.uuid, "mac-10.0.0.1"), one.name, one.uuid, signal, own);
    await assert.rejects(call, (thrown) => isEffectError(thrown, "PRECONDITION_GONE"));
  });

  test("is refused when it shows no UUID and one was written down, also with the card that was written down", async () => {
    const call = demandMachine(showing(undefined, "mac-10.0.0.1"), one.name, one.uuid, signal, own);
    await assert.rejects(call, (thrown) => isEffectError(thrown, "PRECONDITION_GONE") && /has no UUID/.test(thrown.message));
  });

  test("is refused with a UUID that only begins as the one that was written down, as those of one vendor do", async () => {
    const [bought, other] = ["4c4c4544-0042-4b10-8033-b9c04f4e3533", "4c4c4544-0042-4b10-8033-b9c04f4e3534"] as const;
    const known = facts({ machines: [{ ...one, uuid: bought }, two] });
    await demandMachine(showing(bought, "mac-10.0.0.1"), one.name, bought, signal, known);
    const call = demandMachine(showing(other, "mac-10.0.0.1"), one.name, bought, signal, known);
    await assert.rejects(call, (thrown) => isEffectError(thrown, "PRECONDITION_GONE"));
  });

  test("IN62: is taken among clones by a hardware address that was written down, and refused by any other", async () => {
    await demandMachine(showing(one.uuid, "mac-10.0.0.1"), one.name, one.uuid, signal, cloned);
    const call = demandMachine(showing(one.uuid, "mac-10.0.0.2"), one.name, one.uuid, signal, cloned);
    await assert.rejects(call, (thrown) => isEffectError(thrown, "PRECONDITION_GONE"));
  });

  test("is refused among clones when it shows no hardware address", async () => {
    const call = demandMachine(showing(one.uuid, ""), one.name, one.uuid, signal, cloned);
    await assert.rejects(call, (thrown) => isEffectError(thrown, "PRECONDITION_GONE"));
  });

  test("is told by its hardware addresses where it has no UUID", async () => {
    const bare = facts({ machines: [{ ...one, uuid: "" }, two] });
    await demandMachine(showing(undefined, "mac-10.0.0.1"), one.name, "", signal, bare);
    const call = demandMachine(showing(two.uuid, "mac-10.0.0.2"), one.name, "", signal, bare);
    await assert.rejects(call, (thrown) => isEffectError(thrown, "PRECONDITION_GONE"));
  });

  test("is taken for what it was where neither was written down", async () => {
    const unknown = facts({ machines: [{ ...one, uuid: "", macs: [] }, two] });
    await demandMachine(showing(two.uuid, "mac-10.0.0.2"), one.name, "", signal, unknown);
  });
});

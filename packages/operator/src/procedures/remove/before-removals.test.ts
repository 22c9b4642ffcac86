import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent } from "../../testing/builders.ts";
import { assess } from "../../assess/assess.ts";
import type { Look } from "../../model/look.ts";
import type { BeforeRisk } from "../../model/plans.ts";
import type { ClusterFacts } from "../../model/record.ts";

const name = (n: number): string => `demo-10.0.0.${n}`;

interface Given {
  /** Numbers of the machines that left the list. */
  readonly left?: readonly number[];
  readonly looks?: Readonly<Record<string, Look>>;
  readonly facts?: Partial<ClusterFacts>;
  readonly isGoing?: boolean;
}

function riskOf({ left = [], looks = {}, facts: over = {}, isGoing = false }: Given): BeforeRisk | undefined {
  const addresses = [1, 2, 3, 4, 5].map((n) => `10.0.0.${n}`);
  const all = observed({
    controlPlane: controlPlane(5, {}, isGoing ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    facts: facts({ bootstrapDone: founded, machines: addresses.map((address) => configured(address)), ...over }),
    looks: { ...Object.fromEntries(addresses.map((address, index) => [address, running(member(index, 5))])), ...looks },
  });
  const hasLeft = ({ declared }: (typeof all.machines)[number]): boolean => left.some((n) => declared.name === name(n));
  return assess({ ...all, machines: all.machines.filter((one) => !hasLeft(one)), former: all.machines.filter(hasLeft) }).beforeRisk;
}

const reset = { what: "Reset", role: "controlplane", machine: name(5), address: "", uuid: "", at: NOW, deadline: NOW, why: "" } as const;
const cases: readonly (readonly [string, Given, readonly number[]])[] = [
  ["nobody leaves", {}, []],
  ["one leaves", { left: [5] }, [5]],
  ["two leave", { left: [4, 5] }, [4, 5]],
  ["a dead one leaves", { left: [5], looks: { "10.0.0.5": silent } }, []],
  ["a dead one leaves beside one that runs", { left: [4, 5], looks: { "10.0.0.5": silent } }, [4]],
  ["one is being wiped", { left: [5], looks: { "10.0.0.5": silent }, facts: { intents: [reset] } }, [5]],
  ["one leaves a cluster that is deleted", { left: [5], isGoing: true }, []],
  ["one leaves before etcd is bootstrapped", { left: [5], facts: { bootstrapDone: undefined } }, []],
];

describe("who is at risk where control planes leave", () => {
  for (const [what, given, whom] of cases)
    test(`is ${whom.length === 0 ? "nobody" : whom.map((n) => name(n)).join(" and ")} when ${what}`, () => {
      const message = riskOf(given)?.message;
      assert.deepEqual(
        message?.match(/demo-10\.0\.0\.\d/g) ?? [],
        whom.map((n) => name(n)),
      );
    });
});

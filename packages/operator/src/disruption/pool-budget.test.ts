import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../assess/assess.ts";
import { configured, controlPlane, facts, NOW, observed, running, silent, worker } from "../testing/builders.ts";
import { poolBudgets } from "./pool-budget.ts";
import type { Disruption } from "./reasons.ts";
import type { Look } from "../model/look.ts";
import type { IntentFact } from "../model/record.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";

const POOL = "demo-workers";
const address = (n: number): string => `10.0.1.${n}`;
const name = (n: number): string => `${POOL}-${address(n)}`;

interface Given {
  /** Numbers of machines that the pool lists. */
  readonly listed: number;
  /** Machines that left the list. */
  readonly left?: readonly number[];
  readonly limit?: number | string;
  readonly unready?: readonly number[];
  readonly silent?: readonly number[];
  readonly intents?: readonly (readonly [number, IntentFact["what"]])[];
  readonly draining?: readonly number[];
  readonly staged?: readonly number[];
  /** Machines that were never part of the cluster. */
  readonly unknown?: readonly number[];
  /** The pool has the name of its control plane. */
  readonly isNamesake?: boolean;
}

function world(given: Given): { readonly seen: Observed; readonly machine: (n: number) => SeenMachine } {
  const { listed, left = [], limit = 1, unready = [], intents = [], draining = [], staged = [], unknown = [], isNamesake = false } = given;
  const owner = isNamesake ? "demo" : POOL;
  const pool = worker(listed + left.length, { name: owner });
  const numbers = Array.from({ length: listed + left.length }, (_, index) => index + 1);
  const look = (n: number): Look => (given.silent?.includes(n) === true ? silent : running(undefined, { ready: !unready.includes(n) }));
  const known = facts({
    machines: numbers
      .filter((n) => !unknown.includes(n))
      .map((n) => configured(address(n), "worker", owner, staged.includes(n) ? { staged: { configHash: "new", bootId: "boot-1" } } : {})),
    intents: intents.map(([n, what]) => ({
      what,
      role: "worker",
      machine: `${owner}-${address(n)}`,
      address: address(n),
      uuid: "",
      at: NOW,
      deadline: NOW + 600_000,
      why: "",
    })),
  });
  const all = observed({
    controlPlane: controlPlane(3),
    workers: [
      {
        ...pool,
        spec: { ...pool.spec!, rolloutStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: limit } } },
      },
    ],
    facts: known,
    looks: Object.fromEntries(numbers.map((n) => [address(n), look(n)])),
    drains: new Map(draining.map((n) => [`${owner}-${address(n)}`, { askedAt: NOW, state: undefined }])) as unknown as NonNullable<
      Observed["drains"]
    >,
  });
  const hasLeft = ({ declared }: SeenMachine): boolean => left.some((n) => declared.address === address(n));
  const seen = { ...all, machines: all.machines.filter((one) => !hasLeft(one)), former: all.machines.filter(hasLeft) };
  const machine = (n: number): SeenMachine => all.machines.find(({ declared }) => declared.address === address(n))!;
  return { seen, machine };
}

/** Who stands before the machine; `free` where it may be taken down. */
function place(given: Given, n: number, why: Disruption): string {
  const { seen, machine } = world(given);
  const found = poolBudgets(assess(seen)).placeFor(machine(n), why);
  return found.kind === "free" ? "free" : found.others.map((other) => other.split(".").at(-1)).join(",");
}

describe("the disruption budget of a pool", () => {
  for (const [what, given, n, why, want] of [
    ["gives a place where nobody is down", { listed: 3 }, 1, "configure", "free"],
    ["counts one that is no ready node", { listed: 3, unready: [2] }, 1, "configure", "2"],
    ["counts one that does not answer", { listed: 3, silent: [2] }, 1, "remove", "2"],
    ["counts an open effect on a ready node", { listed: 3, intents: [[2, "Reboot"]] }, 1, "configure", "2"],
    ["counts it before one leaves, too", { listed: 2, left: [3], intents: [[2, "Reboot"]] }, 3, "remove", "2"],
    ["counts one that leaves and is wiped", { listed: 2, left: [3], intents: [[3, "Reset"]] }, 1, "configure", "3"],
    ["counts one that leaves and is drained", { listed: 2, left: [3], draining: [3] }, 1, "configure", "3"],
    ["counts one that is drained for a boot", { listed: 2, left: [3], draining: [1] }, 3, "remove", "1"],
    ["does not count a dead one that left", { listed: 2, left: [3], silent: [3] }, 1, "configure", "free"],
    ["does not count one that never was part of the cluster", { listed: 3, silent: [3], unknown: [3] }, 1, "configure", "free"],
    ["lets go what is down itself", { listed: 3, unready: [1, 2] }, 2, "configure", "free"],
    ["lets nobody change beside one that waits for its boot", { listed: 3, staged: [2] }, 1, "configure", "2"],
    ["lets one leave beside it: nothing is down yet", { listed: 2, left: [3], staged: [2] }, 3, "remove", "free"],
    ["boots the first of two that wait for it", { listed: 3, staged: [1, 2] }, 1, "configure", "free"],
    ["and not the second", { listed: 3, staged: [1, 2] }, 2, "configure", "1"],
    [
      "goes on with the first of two drains after the limit was lowered",
      { listed: 2, left: [3], draining: [1, 3] },
      1,
      "configure",
      "free",
    ],
    ["and not with the second", { listed: 2, left: [3], draining: [1, 3] }, 3, "remove", "1"],
    ["gives as many places as the limit", { listed: 4, limit: 2, unready: [2] }, 1, "configure", "free"],
    ["and no more", { listed: 4, limit: 2, unready: [2, 3] }, 1, "configure", "2,3"],
    ["takes a share of what the pool lists", { listed: 10, limit: "30%", unready: [2, 3] }, 1, "configure", "free"],
    [
      "and of that alone, whatever its control plane is called",
      { listed: 9, limit: "30%", unready: [2, 3], isNamesake: true },
      1,
      "configure",
      "2,3",
    ],
    ["rounds it down", { listed: 5, limit: "30%", unready: [2] }, 1, "configure", "2"],
    ["takes an unusable limit for one", { listed: 10, limit: "2.5", unready: [2] }, 1, "configure", "2"],
  ] as const satisfies readonly (readonly [string, Given, number, Disruption, string])[])
    test(what, () => assert.equal(place(given, n, why), want));

  test("has a place less for each that is taken in one pass", () => {
    const { seen, machine } = world({ listed: 2, left: [3, 4, 5], limit: 2 });
    const budgets = poolBudgets(assess(seen));
    const taken = [3, 4, 5].filter((n) => {
      if (budgets.placeFor(machine(n), "remove").kind !== "free") return false;
      budgets.take(machine(n));
      return true;
    });
    assert.deepEqual(taken, [3, 4]);
    assert.equal(budgets.placeFor(machine(3), "remove").kind, "free");
    assert.equal(name(1), machine(1).declared.name);
  });
});

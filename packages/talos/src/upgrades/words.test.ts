import assert from "node:assert/strict";
import { test } from "node:test";
import { planUpgrade } from "./plan-upgrade.ts";
import { sayPlan } from "./words.ts";
import type { UpgradeMachine } from "./upgrade.ts";

const machine = (name: string, runs: string, asked: string, role: UpgradeMachine["role"] = "controlplane"): UpgradeMachine => ({
  name,
  role,
  runs: { version: runs },
  asked: { version: asked },
});
const stays = { runs: "v1.33.6", asked: "v1.33.6" };
const many = Array.from({ length: 11 }, (_, index) => machine(`m${String(index).padStart(2, "0")}`, "v1.13.8", "v1.14.0"));

const cases: readonly { readonly name: string; readonly wish: Parameters<typeof planUpgrade>[0]; readonly says: string }[] = [
  { name: "nothing", wish: { machines: [machine("a", "v1.13.9", "v1.13.9")], kubernetes: stays }, says: "" },
  {
    name: "control planes and workers that go one way",
    wish: { machines: [machine("a", "v1.12.4", "v1.14.0"), machine("w", "v1.12.4", "v1.14.0", "worker")], kubernetes: stays },
    says: "in 2 hops: Talos v1.12.4 → v1.13.9 → v1.14.0",
  },
  {
    name: "machines that go different ways",
    wish: {
      machines: [machine("b", "v1.13.9", "v1.14.0"), machine("a", "v1.12.4", "v1.14.0"), machine("w", "v1.12.4", "v1.13.9", "worker")],
      kubernetes: stays,
    },
    says: "in 2 hops: a Talos v1.12.4 → v1.13.9 → v1.14.0; w Talos v1.12.4 → v1.13.9; b Talos v1.13.9 → v1.14.0",
  },
  {
    name: "Kubernetes among it",
    wish: { machines: [machine("a", "v1.12.4", "v1.14.0")], kubernetes: { runs: "v1.31.4", asked: "v1.32.4" } },
    says: "in 3 hops: Talos v1.12.4 → v1.13.9, Kubernetes v1.31.4 → v1.32.4, Talos v1.13.9 → v1.14.0",
  },
  {
    name: "Kubernetes alone",
    wish: { machines: [], kubernetes: { runs: "v1.33.4", asked: "v1.33.6" } },
    says: "in 1 hop: Kubernetes v1.33.4 → v1.33.6",
  },
  {
    name: "another image",
    wish: {
      machines: [
        {
          ...machine("a", "v1.13.8", "v1.13.8"),
          runs: { version: "v1.13.8", schematic: "x" },
          asked: { version: "v1.13.8", schematic: "y" },
        },
      ],
      kubernetes: stays,
    },
    says: "in 1 hop: Talos v1.13.8 with another image",
  },
  {
    name: "no way, with the first machines by name",
    wish: { machines: many, kubernetes: { runs: "v1.31.4", asked: "v1.31.4" } },
    says: "no upgrade path: Talos v1.14.0 (m00, m01, m02 and 8 more) runs Kubernetes 1.32 to 1.37, and not v1.31.4, which runs",
  },
  {
    name: "no version",
    wish: { machines: [machine("a", "v1.13.8", "v1.13.6-rc.0; rm -rf")], kubernetes: stays },
    says: 'no upgrade path: "v1.13.6-rc.0; rm -rf" is not a version of Talos (a)',
  },
  {
    name: "etcd",
    wish: { machines: [machine("a", "v1.11.6", "v1.10.9")], kubernetes: stays, allowDowngrade: "v1.10.9" },
    says: "no upgrade path: the data of etcd is of version 3.6, and the etcd 3.5 of Talos v1.10.9 does not read it (a)",
  },
];

for (const { name, wish, says } of cases) test(`a plan in words: ${name}`, () => assert.equal(sayPlan(planUpgrade(wish)), says));

test("a plan in words: of some machines alone, with the hops of Kubernetes", () => {
  const machines = [machine("a", "v1.12.4", "v1.13.9"), machine("w", "v1.12.4", "v1.12.11", "worker")];
  const plan = planUpgrade({ machines, kubernetes: { runs: "v1.33.6", asked: "v1.34.1" } });
  assert.equal(sayPlan(plan, new Set(["w"])), "in 2 hops: Talos v1.12.4 → v1.12.11, Kubernetes v1.33.6 → v1.34.1");
  assert.equal(sayPlan(planUpgrade({ machines, kubernetes: stays }), new Set()), "");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent } from "../testing/builders.ts";
import { headlineOf, withHeadline } from "./headline.ts";
import type { Assessment } from "../model/assessment.ts";
import type { Look } from "../model/look.ts";
import type { ClusterFacts, IntentFact, MachineFact } from "../model/record.ts";

const addresses = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
const known = (address: string): MachineFact => configured(address, "controlplane", "demo", { appliedHash: "x" });
const [before, asked] = ["v1.13.8", "v1.13.9"];

interface Given {
  readonly facts?: Partial<ClusterFacts>;
  readonly looks?: Readonly<Record<string, Look>>;
  readonly asked?: string;
  readonly hasAccess?: boolean;
}

function given({ facts: more = {}, looks = {}, hasAccess = true, ...rest }: Given): Assessment {
  const runs = Object.fromEntries(addresses.map((address, index) => [address, running(member(index, 3), { version: before })]));
  const seen = observed({
    controlPlane: controlPlane(3, { version: rest.asked ?? before }),
    facts: facts({ bootstrapDone: founded, machines: addresses.map(known), ...more }),
    looks: { ...runs, ...looks },
  });
  return assess(hasAccess ? seen : { ...seen, kubeconfig: { kind: "absent" } });
}

const boots: IntentFact = {
  what: "Reboot",
  machine: "demo-10.0.0.2",
  role: "controlplane",
  address: "10.0.0.2",
  uuid: "",
  at: NOW,
  deadline: NOW + 60_000,
  why: "",
  talosVersion: asked,
  talosBefore: before,
};
const proved = { "10.0.0.1": running(member(0, 3), { version: asked }), "10.0.0.2": running(member(1, 3), { version: asked }) };

test("the headline of an upgrade says which, how far, with which machine, and how long still", () => {
  const assessed = given({ asked, facts: { intents: [{ ...boots, provenAt: NOW }] }, looks: proved });
  const says = headlineOf(assessed, "UpgradingTalos") ?? "";
  assert.match(says, /^Upgrading Talos v1\.13\.8 → v1\.13\.9: 1 of 3 done, demo-10\.0\.0\.2 verifying, about \d+ (s|min) left\.$/);
  assert.ok(says.length < 120, "it is told on one line of a wide terminal");
  const step = withHeadline(assessed, assessed.seen.machines);
  assert.equal(step?.headline, says);
  assert.doesNotMatch(step?.says ?? "", /demo-10\.0\.0\.2 runs/, "no machine is named twice");
});

test("the headline of an upgrade that waits promises no end", () => {
  const says = withHeadline(
    { ...given({ asked }), upgrade: { facts: facts({}), actions: [], kind: "held", says: "x" } },
    given({ asked }).seen.machines,
  );
  assert.equal(says?.headline, "Upgrade of Talos v1.13.8 → v1.13.9 waits: 0 of 3 done.");
});

for (const [name, reason, over, want] of [
  [
    "a creation",
    "Bootstrapping",
    { hasAccess: false, facts: { bootstrapDone: undefined }, looks: { "10.0.0.3": silent } },
    /^Creating the cluster: \d of 3 machines ready, bootstrapping etcd\.$/,
  ],
  [
    "a machine that is lost",
    "WaitingForMachines",
    { looks: { "10.0.0.3": silent } },
    /^Waiting for demo-10\.0\.0\.3: 2 of 3 machines ready\.$/,
  ],
  [
    "a machine that comes",
    "Joining",
    { facts: { machines: ["10.0.0.1", "10.0.0.2"].map(known) }, looks: { "10.0.0.3": silent } },
    /^Adding demo-10\.0\.0\.3: 2 of 3 machines ready\.$/,
  ],
  ["a deletion", "Deleting", {}, /^Deleting the cluster: \d machines? left\.$/],
  ["a cluster at rest", "Settled", {}, undefined],
] as const)
  test(`the headline of ${name}`, () => {
    const says = headlineOf(given(over), reason);
    if (want === undefined) assert.equal(says, undefined);
    else assert.match(says ?? "", want);
  });

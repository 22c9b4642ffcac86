import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { asMade } from "../../spec/fixed-properties.ts";
import { configured, controlPlane, facts, founded, member, observed, running } from "../../testing/builders.ts";
import { configHashOf } from "../configure/config-hash.ts";
import { endpointMove } from "../../report/endpoint-move.ts";
import { moveEndpoint } from "./rule.ts";
import type { EndpointAnswer } from "@talos-operator/ports";
import type { ClusterFacts } from "../../model/record.ts";
import type { Observed } from "../../model/observation.ts";

const cps = ["10.0.0.1", "10.0.0.2", "10.0.0.3"] as const;
const OLD = "https://10.0.0.100:6443";
const NEW = "https://api.example:6443";
const looks = Object.fromEntries(cps.map((address, index) => [address, running(member(index, 3))]));

interface Told {
  readonly endpoint?: string;
  readonly facts?: Partial<ClusterFacts>;
  readonly answer?: EndpointAnswer["kind"] | "outside" | undefined;
  /** Control planes that run the settings of now. */
  readonly have?: readonly string[];
  readonly airGap?: true;
}

/** A cluster of three whose spec names this endpoint. */
function world({ endpoint = NEW, facts: known = {}, answer, have = [], airGap }: Told): Observed {
  const machineSpec = { installDisk: "/dev/sda", ...(airGap === undefined ? {} : { airGap }) };
  const pool = controlPlane(3, { endpoint, metalSpec: { machines: cps.map((address) => ({ address })), machineSpec } });
  const base = facts({ bootstrapDone: founded, ...known });
  const { machines } = observed({ controlPlane: pool });
  const settings = (name: string): string => {
    const declared = machines.find((machine) => machine.declared.name === name)?.declared;
    assert.ok(declared !== undefined && pool.spec !== undefined);
    return configHashOf(declared, asMade(pool.spec, base), base);
  };
  const rows = cps.map((address) =>
    configured(address, "controlplane", "demo", { configHash: have.includes(address) ? settings(`demo-${address}`) : "before" }),
  );
  const seen =
    answer === "outside"
      ? ({ kind: "outside" } as const)
      : ({ kind: "answered", answer: { kind: answer ?? "silent", detail: "it is so" }, isSure: true } as const);
  return observed({
    controlPlane: pool,
    facts: { ...base, machines: rows },
    looks,
    ...(answer === undefined ? {} : { nextEndpoint: { url: endpoint, seen } }),
  });
}

/** Endpoint, the next one and those before after the rule; `undefined` = it says nothing. */
function next(told: Told): readonly unknown[] | undefined {
  const [action] = moveEndpoint.decide(assess(world(told)))?.actions ?? [];
  if (action?.kind !== "WriteRecord") return undefined;
  const { endpoint, nextEndpoint, formerEndpoints } = action.facts;
  return [endpoint, nextEndpoint, formerEndpoints];
}

const given = { nextEndpoint: NEW } as const;

for (const [what, told, want] of [
  ["the same one is nothing to do", { endpoint: OLD, answer: "reached" }, undefined],
  ["another one is given to control planes once it leads to the cluster", { answer: "reached" }, [OLD, NEW, undefined]],
  ["one that nobody asked yet is not", {}, undefined],
  ["one that leads elsewhere is not", { answer: "foreign" }, undefined],
  ["one that refuses is not", { answer: "refused" }, undefined],
  ["one that is not to be asked is not", { answer: "outside" }, undefined],
  ["without discovery none is", { answer: "reached", airGap: true }, undefined],
  ["before the bootstrap none is", { answer: "reached", facts: { bootstrapDone: undefined } }, undefined],
  ["while a control plane lacks it nobody else gets it", { answer: "reached", facts: given, have: cps.slice(0, 2) }, undefined],
  [
    "it comes into force when all have it, and the one before is kept",
    { answer: "reached", facts: given, have: cps },
    [NEW, undefined, [OLD]],
  ],
  ["and not while clients would refuse its certificate", { answer: "unfit", facts: given, have: cps }, undefined],
  ["one that is given is taken back", { endpoint: OLD, facts: given, have: cps }, [OLD, undefined, undefined]],
  [
    "also when a third one is asked for",
    { endpoint: "https://third.example:6443", answer: "reached", facts: given },
    [OLD, undefined, undefined],
  ],
  [
    "on the way back those between are kept, the first one in its place",
    { endpoint: OLD, answer: "reached", have: cps, facts: { endpoint: NEW, nextEndpoint: OLD, formerEndpoints: [OLD] } },
    [OLD, undefined, [OLD, NEW]],
  ],
] as const satisfies readonly (readonly [string, Told, unknown])[])
  test(`another endpoint: ${what}`, () => assert.deepEqual(next(told), want));

test("settings of control planes are the same before and after the new endpoint comes into force, those of workers change then", () => {
  const before = facts({ nextEndpoint: NEW });
  const after = facts({ endpoint: NEW, formerEndpoints: [OLD] });
  const { machines, controlPlane: pool } = observed();
  const declared = machines[0]?.declared;
  assert.ok(declared !== undefined);
  const of = (role: "controlplane" | "worker", known: ClusterFacts): string => configHashOf({ ...declared, role }, pool.spec, known);
  assert.equal(of("controlplane", before), of("controlplane", after));
  assert.notEqual(of("controlplane", before), of("controlplane", facts()));
  assert.equal(of("worker", before), of("worker", facts()));
  assert.notEqual(of("worker", after), of("worker", before));
  assert.equal(of("worker", facts()), configHashOf({ ...declared, role: "worker" }, pool.spec));
});

for (const [what, told, reason, says] of [
  [
    "is being asked",
    {},
    "Asked",
    /^The new endpoint https:\/\/api\.example:6443 is being asked\. The cluster keeps https:\/\/10\.0\.0\.100:6443\./,
  ],
  ["does not resolve", { answer: "unresolvable" }, "NotReached", /its name does not resolve\. Create a DNS record .* The cluster keeps/],
  ["is another cluster's", { answer: "foreign" }, "NotReached", /it is so\. Correct its DNS record/],
  ["refuses", { answer: "refused" }, "NotReached", /it is so\. Let it lead to port 6443/],
  ["is silent", { answer: "silent" }, "NotReached", /three times in a row\. Check/],
  ["is not to be asked", { answer: "outside" }, "OutsideOnly", /endpoint-reachable-from says outside.*Remove the annotation/],
  [
    "cannot be had without discovery",
    { answer: "reached", airGap: true },
    "DiscoveryOff",
    /without discovery.*demo-10\.0\.0\.1.*Switch discovery on/,
  ],
  ["is given to control planes", { answer: "unfit", facts: given, have: ["10.0.0.1"] }, "ControlPlanesFollow", /1 of 3 have it\./],
] as const satisfies readonly (readonly [string, Told, string, RegExp])[])
  test(`another endpoint that ${what} is told with the cure, briefly`, () => {
    const [condition] = endpointMove(world(told));
    assert.equal(condition?.reason, reason);
    assert.match(condition.message, says);
    assert.ok(condition.message.length <= 300, `${condition.message.length}: ${condition.message}`);
    const [first = ""] = condition.message.split(/(?<=\.) /);
    assert.ok(first.length <= 140, `${first.length}: ${first}`);
  });

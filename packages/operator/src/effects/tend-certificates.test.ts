import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { configured, controlPlane, facts, founded, NOW, observed, running, silent } from "../testing/builders.ts";
import type { World } from "../testing/builders.ts";
import { factsOf } from "../record/facts.ts";
import { certificateMachines, reservedPlaces } from "./tend-certificates.ts";

const address = "10.0.0.1";
const fact = configured(address);
const { name } = fact;
const world: World = {
  facts: facts({ bootstrapDone: founded, machines: [fact] }),
  looks: { [address]: running(undefined, { nodeName: "node-1" }) },
};

describe("machines whose certificates may be approved", () => {
  const known = (over: World): readonly string[] => {
    const seen = observed({ ...world, ...over });
    return certificateMachines(seen, factsOf(seen) ?? assert.fail()).map(({ machine, nodeName, uuid }) => `${machine} ${nodeName} ${uuid}`);
  };
  it("are those that answer and say which Node they are", () => assert.deepEqual(known({}), [`${name} node-1 ${fact.uuid}`]));
  const none: readonly (readonly [what: string, over: World])[] = [
    ["one that does not answer", { looks: { [address]: silent } }],
    ["one that does not say its Node's name", { looks: { [address]: running() } }],
    ["one that was never written down", { facts: facts({ bootstrapDone: founded, machines: [] }) }],
    ["one that was released", { facts: facts({ bootstrapDone: founded, machines: [{ ...fact, releasedAt: NOW - 1 }] }) }],
    ["one that is paused", { held: new Set([name]) }],
  ];
  for (const [what, over] of none) it(`are not ${what}`, () => assert.deepEqual(known(over), []));
});

it("no kubelet is believed that it is the endpoint, the API, or a machine that does not answer", () => {
  const pool = controlPlane();
  const { spec } = pool;
  assert.ok(spec);
  const seen = observed({ ...world, controlPlane: { ...pool, spec: { ...spec, endpoint: "https://[FD00::100]:6443" } } });
  const places = reservedPlaces(seen, { ...(factsOf(seen) ?? assert.fail()), endpoint: "https://api.example.com:6443" });
  for (const place of ["api.example.com", "fd00::100", "kubernetes.default.svc", "10.0.0.2"]) assert.ok(places.includes(place), place);
  assert.equal(places.includes(address), false);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running } from "../../testing/builders.ts";
import type { World } from "../../testing/builders.ts";
import { machinesOf } from "../../spec/declared.ts";
import { pursueContainerReset } from "./plan-container-reset.ts";
import type { Look } from "../../model/look.ts";
import type { SeenMachine } from "../../model/observation.ts";
import type { IntentFact } from "../../model/record.ts";

const fact = configured("10.0.0.3");
const intent: IntentFact = {
  what: "Reset",
  role: "controlplane",
  machine: fact.name,
  address: fact.address,
  uuid: fact.uuid,
  memberId: "0000000000000003",
  at: NOW - 120_000,
  deadline: NOW + 600_000,
  why: "w",
};

/** What is done about the third of three control planes, a container that left the list. */
function done(leader: string, over: World = {}, look?: Look, forbidden?: string): readonly string[] {
  const shows = (index: number): Look => running({ ...member(index, 3), leader });
  const known = facts({ bootstrapDone: founded, machines: [configured("10.0.0.1"), configured("10.0.0.2"), fact] });
  const seen = observed({ controlPlane: controlPlane(2), facts: known, looks: { "10.0.0.1": shows(0), "10.0.0.2": shows(1) }, ...over });
  const declared = machinesOf(controlPlane(3)).find(({ name }) => name === fact.name);
  assert.ok(declared !== undefined);
  const machine: SeenMachine = { declared, look: look ?? shows(2) };
  const step = pursueContainerReset(assess({ ...seen, former: [machine] }), known, intent, { machine, fact }, forbidden);
  return [...(step?.actions.map(({ kind }) => kind) ?? []), ...(step?.removals.map(({ reason }) => reason) ?? [])];
}

test("a container that does not lead etcd leaves it by itself", () =>
  assert.deepEqual(done("0000000000000001"), ["LeaveEtcd", "Resetting"]));

test("a container that leads etcd hands over before it leaves", () =>
  assert.deepEqual(done("0000000000000003"), ["ForfeitLeadership", "Resetting"]));

test("a container is not asked to leave before a new operator may disturb", () =>
  assert.deepEqual(done("0000000000000001", { mayDisturb: false }), ["WaitingForTurn"]));

test("the member of a container that is stopped is removed, but not while nothing may be destroyed", () => {
  const stopped: Look = { kind: "silent", at: NOW, since: NOW - 90_000, detail: "unreachable" };
  assert.deepEqual(done("0000000000000001", {}, stopped), ["RemoveMember", "RemovingMember"]);
  assert.deepEqual(done("0000000000000001", {}, stopped, "The namespace goes away."), ["ConfirmationRequired"]);
});

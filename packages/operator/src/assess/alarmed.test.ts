import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { alarmedMember, isOnlyFull, raisedBy } from "./alarmed.ts";
import type { TellingMember } from "./alarmed.ts";
import type { SeenAlarm } from "../model/look.ts";

const text = "memberID:10627508175174891110 alarm:CORRUPT";
const id = "0000000000000007";
const corruptOf = (member: string): SeenAlarm => ({ member, kind: "corrupt" });
const fullOf = (member: string): SeenAlarm => ({ member, kind: "no-space" });
const tells = (machine: string, localMember: string, alarms = [text], raised: readonly SeenAlarm[] = []): TellingMember => ({
  machine,
  etcd: { localMember, alarms, raised },
});

describe("an alarm of etcd", () => {
  test("is of the machine whose member it names, whoever tells of it", () => {
    const raised = [corruptOf(id)];
    assert.deepEqual(alarmedMember([tells("a", "0000000000000001", [text], raised), tells("b", id, [text], raised)]), {
      machine: "b",
      alarms: text,
    });
  });
  test("is told once, whoever tells of it, and those of others beside it", () => {
    const one = tells("a", id, [text, "x"], [corruptOf(id), fullOf(id)]);
    assert.deepEqual(raisedBy([one, tells("b", id, [text], [corruptOf(id)])]), [corruptOf(id), fullOf(id)]);
  });
  for (const [what, etcd, want] of [
    ["nothing", {}, true],
    ["files that are full", { alarms: ["a", "b"], raised: [fullOf(id), fullOf("1")] }, true],
    ["data that differ", { alarms: ["a"], raised: [corruptOf(id)] }, false],
    ["both", { alarms: ["a", "b"], raised: [fullOf(id), corruptOf(id)] }, false],
    ["an alarm that nobody knows", { alarms: ["a"], raised: [{ member: id, kind: "unknown" }] }, false],
    ["something in its own words", { alarms: ["a", "etcdserver: too old"], raised: [fullOf(id)] }, false],
  ] as const)
    test(`${what} is ${want ? "" : "not "}what a full etcd complains of`, () => assert.equal(isOnlyFull(etcd), want));
  test("of a member that nobody who answers has is told by its teller", () => {
    assert.equal(alarmedMember([tells("a", "0000000000000001"), tells("b", "0000000000000002")])?.machine, "a");
  });
  test("that names nobody is told by its teller", () => assert.equal(alarmedMember([tells("a", id, ["NOSPACE"])])?.machine, "a"));
  test("is none where nobody tells of one", () => assert.equal(alarmedMember([tells("a", id, [])]), undefined));
});

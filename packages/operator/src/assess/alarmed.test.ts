import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { alarmedMember, beneathAlarms, raisedBy } from "./alarmed.ts";
import type { TellingMember } from "./alarmed.ts";
import type { CorruptEtcd, EtcdQuorum } from "../model/etcd.ts";
import type { SeenAlarm } from "../model/look.ts";

const text = "memberID:10627508175174891110 alarm:CORRUPT";
const id = "0000000000000007";
const other = "0000000000000008";
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
      alarms: "CORRUPT",
    });
  });
  for (const [what, alarms, raised, want] of [
    ["of two members", [text, "b"], [fullOf(id), fullOf(other)], "NOSPACE"],
    ["of two kinds", [text, "b"], [fullOf(id), corruptOf(other)], "NOSPACE, CORRUPT"],
    ["that nobody knows", [text, "b"], [fullOf(id), { member: other, kind: "unknown" }], `${text}, b`],
    ["beside one that nobody knows", [text, "b"], [fullOf(id)], `${text}, b`],
  ] as const satisfies readonly (readonly [string, readonly string[], readonly SeenAlarm[], string])[])
    test(`is named in words: ${what}`, () => assert.equal(alarmedMember([tells("a", id, [...alarms], raised)])?.alarms, want));
  test("is told once, whoever tells of it, and those of others beside it", () => {
    const one = tells("a", id, [text, "x"], [corruptOf(id), fullOf(id)]);
    assert.deepEqual(raisedBy([one, tells("b", id, [text], [corruptOf(id)])]), [corruptOf(id), fullOf(id)]);
  });
  const view: EtcdQuorum = {
    kind: "known",
    members: [id, other].map((one) => ({ id: one, name: one, isLearner: false, peerUrls: [] })),
    voters: [id, other].map((one) => ({ id: one, name: one, machine: one, isHealthy: true })),
    learners: [],
    leader: other,
    healthy: 2,
    needed: 2,
  };
  const corruptOfLeader = (etcd: object): CorruptEtcd | undefined =>
    beneathAlarms([{ etcd: { localMember: id, ...etcd } }, { etcd: { localMember: other, comparesWithLeader: true } }], view).corrupt;
  for (const [what, etcd, want] of [
    ["nothing", {}, "full"],
    ["files that are full", { alarms: ["a", "b"], raised: [fullOf(id), fullOf("1")] }, "full"],
    ["data that differ", { alarms: ["a"], raised: [corruptOf(id)] }, `wrong: ${id}`],
    ["both", { alarms: ["a", "b"], raised: [fullOf(id), corruptOf(id)] }, `wrong: ${id}`],
    ["data of a member that is gone", { alarms: ["a"], raised: [corruptOf("00000000000000aa")] }, "full"],
    ["data of one that is gone and of one that is not", { alarms: ["a", "b"], raised: [corruptOf("aa"), corruptOf(id)] }, `wrong: ${id}`],
    ["data that differ without a majority", { alarms: ["a", "b"], raised: [corruptOf(id), corruptOf("0".repeat(16))] }, "unknown"],
    ["an alarm that nobody knows", { alarms: ["a"], raised: [{ member: id, kind: "unknown" }] }, "unknown"],
    ["something in its own words", { alarms: ["a", "etcdserver: too old"], raised: [fullOf(id)] }, "unknown"],
  ] as const)
    test(`${what}: ${want}`, () => {
      assert.equal(corruptOfLeader(etcd)?.isByLeader, want.startsWith("wrong") ? true : undefined);
      const { beneath, corrupt, isOnlyFull } = beneathAlarms([{ etcd: { localMember: id, ...etcd } }], view);
      assert.equal(isOnlyFull === true, what === "nothing" || what === "files that are full");
      assert.equal(beneath !== undefined ? "full" : corrupt === undefined ? "unknown" : `wrong: ${corrupt.members.join()}`, want);
      if (corrupt !== undefined)
        assert.deepEqual(
          [corrupt.isByLeader, corrupt.view.healthy, corrupt.view.voters.map(({ isHealthy }) => isHealthy)],
          [undefined, 1, [false, true]],
        );
    });
  test("of a member that nobody who answers has is told by its teller", () => {
    assert.equal(alarmedMember([tells("a", "0000000000000001"), tells("b", "0000000000000002")])?.machine, "a");
  });
  test("that names nobody is told by its teller", () => assert.equal(alarmedMember([tells("a", id, ["NOSPACE"])])?.machine, "a"));
  test("is none where nobody tells of one", () => assert.equal(alarmedMember([tells("a", id, [])]), undefined));
});

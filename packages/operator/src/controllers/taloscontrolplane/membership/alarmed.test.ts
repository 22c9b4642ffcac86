import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { alarmedMember } from "./alarmed.ts";
import type { TellingMember } from "./alarmed.ts";

const text = "memberID:10627508175174891110 alarm:CORRUPT";
const id = "0000000000000007";
const tells = (machine: string, localMember: string, alarms: readonly string[] = [text]): TellingMember => ({
  machine,
  etcd: { localMember, alarms },
});

describe("an alarm of etcd", () => {
  test("is of the machine whose member it names, whoever tells of it", () => {
    const hex = BigInt("10627508175174891110").toString(16).padStart(16, "0");
    assert.deepEqual(alarmedMember([tells("a", "0000000000000001"), tells("b", hex)]), { machine: "b", alarms: text });
  });
  test("of a member with leading zeros is found", () => {
    const alarm = "memberID:2 alarm:NOSPACE";
    assert.equal(alarmedMember([tells("a", "0000000000000001", [alarm]), tells("b", "0000000000000002", [alarm])])?.machine, "b");
  });
  test("of a member that nobody who answers has is told by its teller", () => {
    assert.equal(alarmedMember([tells("a", "0000000000000001"), tells("b", "0000000000000002")])?.machine, "a");
  });
  test("that names nobody is told by its teller", () => assert.equal(alarmedMember([tells("a", id, ["NOSPACE"])])?.machine, "a"));
  test("is none where nobody tells of one", () => assert.equal(alarmedMember([tells("a", id, [])]), undefined));
});

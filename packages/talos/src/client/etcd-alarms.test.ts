import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { alarmToldBy } from "./etcd-alarms.ts";

describe("a line of what an etcd complains about", () => {
  for (const [what, line, want] of [
    ["space, by etcd 3.6", "memberID:10627508175174891110 alarm:NOSPACE ", { memberId: "937c7e60dcdbf666", alarm: "no-space" }],
    ["corrupt data, by etcd 3.6", "memberID:1 alarm:CORRUPT ", { memberId: "0000000000000001", alarm: "corrupt" }],
    ["by etcd 3.7, built one way", "memberID:1  alarm:NOSPACE", { memberId: "0000000000000001", alarm: "no-space" }],
    ["by etcd 3.7, built the other way", "memberID:1 alarm:NOSPACE", { memberId: "0000000000000001", alarm: "no-space" }],
    ["of nobody in particular", "alarm:CORRUPT ", { memberId: "0000000000000000", alarm: "corrupt" }],
    ["an alarm of a later etcd", "memberID:1 alarm:LATE ", { memberId: "0000000000000001", alarm: "unknown" }],
    ["the largest id", "memberID:18446744073709551615 alarm:CORRUPT ", { memberId: "ffffffffffffffff", alarm: "corrupt" }],
    ["no id at all", "memberID:18446744073709551616 alarm:CORRUPT ", undefined],
    ["no leader", "etcdserver: no leader", undefined],
    ["something else that speaks of an alarm", "etcdserver: an alarm:NOSPACE is raised", undefined],
    ["nothing", "", undefined],
  ] as const)
    test(what, () => assert.deepEqual(alarmToldBy(line), want));
});

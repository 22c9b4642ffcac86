import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { array, assert as check, constantFrom, integer, property, record } from "fast-check";
import {
  compact,
  compared,
  defragmented,
  differs,
  erase,
  filled,
  joined,
  left,
  newSpace,
  nobodysId,
  put,
  quotaOf,
  settled,
  sizesOf,
  told,
} from "./space.ts";
import type { EtcdSpace, RaisedAlarm, SpaceMember } from "./space.ts";

const mib = 1_048_576;
const minute = 60_000;
const [a, b, c] = ["000000000000000a", "000000000000000b", "000000000000000c"] as const;
const member = (id: string, change: Partial<SpaceMember> = {}): SpaceMember => ({
  id,
  quotaBytes: 100 * mib,
  isLive: true,
  isLearner: false,
  ...change,
});
const three = [member(a), member(b), member(c)];
const fresh = newSpace(0);
const exceeded = "etcdserver: mvcc: database space exceeded";
const corruptCluster = "etcdserver: corrupt cluster";

const write = (space: EtcdSpace, bytes = 1_000, change: { at?: string; keeps?: boolean } = {}, members = three): ReturnType<typeof put> =>
  put(space, members, { at: change.at ?? a, bytes, keeps: change.keeps ?? true });
const named = (space: EtcdSpace): readonly string[] =>
  space.alarms.map(({ memberId, alarm }) => `${memberId.slice(-1)} ${alarm}`).toSorted();

/** What a file has beside its content that was just defragmented: two pages. */
const overhead = 8_192;

describe("the quota of an etcd (server/storage/quota.go)", () => {
  for (const [what, configured, want] of [
    ["is 2 GiB where nothing is said", undefined, 2_147_483_648],
    ["is 2 GiB where 0 is said", 0, 2_147_483_648],
    ["is what is said", 64 * mib, 64 * mib],
    ["may be above the 8 GiB that etcd warns of", 16_384 * mib, 16_384 * mib],
    ["is none where a negative number is said", -1, Number.POSITIVE_INFINITY],
  ] as const)
    test(what, () => assert.equal(quotaOf(configured), want));
});

describe("a write", () => {
  test("makes every file larger", () => {
    const { space, refusal } = write(fresh, 8 * mib);
    assert.equal(refusal, undefined);
    const { sizeBytes, inUseBytes } = sizesOf(space, b);
    assert.ok(sizeBytes >= 8 * mib && sizeBytes === inUseBytes, `${sizeBytes} ${inUseBytes}`);
  });
  test("takes free pages first", () => {
    const once = compact(write(fresh, 8 * mib, { keeps: false }).space, three).space;
    const again = write(once, 7 * mib, { keeps: false }).space;
    assert.equal(sizesOf(again, a).sizeBytes, sizesOf(once, a).sizeBytes);
    assert.ok(sizesOf(once, a).inUseBytes < mib);
  });
  test("that would reach the quota is refused, and every voter whose file is full raises the alarm", () => {
    const { space, refusal } = write(fresh, 100 * mib);
    assert.equal(refusal, exceeded);
    assert.deepEqual(named(space), ["a NOSPACE", "b NOSPACE", "c NOSPACE"]);
    assert.equal(sizesOf(space, a).sizeBytes, sizesOf(fresh, a).sizeBytes);
  });
  test("is refused by a member with a larger quota, too, once another has raised the alarm", () => {
    const members = [member(a, { quotaBytes: 200 * mib }), member(b), member(c)];
    const first = write(fresh, 150 * mib, {}, members);
    assert.equal(first.refusal, undefined, "the member that was asked has room, and what is applied is applied");
    assert.deepEqual(named(first.space), ["b NOSPACE", "c NOSPACE"]);
    assert.equal(write(first.space, 10, {}, members).refusal, exceeded);
  });
  test("takes no notice of the file of a member that is away or learns", () => {
    const members = [member(a, { quotaBytes: 200 * mib }), member(b, { isLive: false }), member(c, { isLearner: true })];
    assert.deepEqual(named(write(fresh, 150 * mib, {}, members).space), []);
  });
  test("is refused for corrupt data rather than for space, unless the member's own file is full", () => {
    const both = { ...fresh, alarms: [{ memberId: a, alarm: "NOSPACE" } as const, { memberId: b, alarm: "CORRUPT" } as const] };
    assert.equal(write(both).refusal, corruptCluster);
    assert.equal(write(both, 100 * mib).refusal, exceeded);
  });
});

describe("an etcd that is full", () => {
  const full = filled(fresh, three, 0.25);
  test("has raised the alarm of every voter, with a quarter of its file in use", () => {
    assert.deepEqual(named(full), ["a NOSPACE", "b NOSPACE", "c NOSPACE"]);
    assert.deepEqual(sizesOf(full, a), { sizeBytes: 100 * mib, inUseBytes: 25 * mib });
  });
  test("refuses writes, and takes deletes and compactions", () => {
    assert.equal(write(full).refusal, exceeded);
    const erased = erase(full, mib);
    assert.equal(erased.refusal, undefined);
    assert.equal(sizesOf(erased.space, a).inUseBytes, 25 * mib, "until a compaction");
    const compacted = compact(erased.space, three).space;
    assert.equal(sizesOf(compacted, a).inUseBytes, 25 * mib, "told until the next deletion");
    assert.ok(sizesOf(erase(compacted, 1).space, a).inUseBytes < 25 * mib);
    assert.ok(sizesOf(told(compacted), b).inUseBytes < 25 * mib);
    const small = defragmented(compacted, a);
    assert.ok(sizesOf(small, a).sizeBytes < 25 * mib, "a defragmentation shows it");
    assert.deepEqual([sizesOf(small, a).inUseBytes < 25 * mib, sizesOf(small, b).inUseBytes], [true, 25 * mib]);
    assert.equal([b, c].reduce(defragmented, small).outdated, undefined);
  });
  test("that is disarmed while its files are full raises the alarm again with the next write", () => {
    const disarmed = { ...full, alarms: [] };
    const { space, refusal } = write(disarmed);
    assert.equal(refusal, exceeded);
    assert.equal(space.alarms.length, 3);
  });
  test("that is disarmed while one member's file is full raises that one's alarm again", () => {
    const two = [a, b].reduce(defragmented, { ...full, alarms: [] });
    const { space, refusal } = write(two);
    assert.equal(refusal, undefined, "the member that was asked has room");
    assert.deepEqual(named(space), ["c NOSPACE"]);
    assert.equal(write(space).refusal, exceeded);
  });
  test("goes on when every member was defragmented and the alarms were taken back", () => {
    const well = [a, b, c].reduce(defragmented, full);
    assert.equal(write(well).refusal, exceeded, "the alarms are still there");
    assert.deepEqual(write({ ...well, alarms: [] }).refusal, undefined);
    assert.deepEqual(sizesOf(well, a), { sizeBytes: 25 * mib + overhead, inUseBytes: 25 * mib });
  });
  test("that is full of what is in use is not helped by defragmenting", () => {
    const used = [a, b, c].reduce(defragmented, { ...filled(fresh, three, 1), alarms: [] });
    assert.equal(write(used).refusal, exceeded);
  });
});

describe("time", () => {
  const quick = { ...fresh, churnBytesPerMinute: mib };
  const at = (now: number, space: EtcdSpace = quick, members = three): EtcdSpace => settled(space, members, { leader: a, now });
  test("leaves an etcd as it is that nobody writes to", () => {
    const later = at(3 * minute, fresh);
    assert.deepEqual({ ...later, settledAt: 0 }, fresh);
  });
  test("lets the history grow for ten minutes, and the file no further", () => {
    const sizes = [4, 9, 14, 24, 600].map((now) => sizesOf(at(now * minute), a));
    assert.deepEqual(
      sizes.map(({ inUseBytes }) => Math.round(inUseBytes / mib)),
      [4, 9, 9, 9, 5],
    );
    assert.deepEqual([...new Set(sizes.slice(2).map(({ sizeBytes }) => Math.round(sizeBytes / mib)))], [10]);
  });
  test("raises the alarm when what is overwritten comes to the quota, and nothing is compacted any more", () => {
    const small = three.map(({ id }) => member(id, { quotaBytes: 6 * mib }));
    const full = at(8 * minute, quick, small);
    assert.equal(full.alarms.length, 3);
    assert.deepEqual(sizesOf(at(600 * minute, full, small), a), sizesOf(full, a));
  });
  test("does nothing to an etcd without a leader", () => {
    const alone = settled(quick, three, { leader: undefined, now: 600 * minute });
    assert.deepEqual(sizesOf(alone, a), sizesOf(fresh, a));
  });
  test("is the same in one leap and in small steps", () => {
    check(
      property(array(integer({ min: 1, max: 20 * minute }), { maxLength: 8 }), (steps) => {
        let [now, walked] = [0, quick];
        for (const step of steps) {
          now += step;
          walked = at(now, walked);
        }
        const leapt = at(now);
        // Rounding of every step down to whole bytes.
        assert.ok(Math.abs(sizesOf(walked, a).inUseBytes - sizesOf(leapt, a).inUseBytes) <= 4_096 * 2);
        assert.deepEqual(walked.alarms, leapt.alarms);
      }),
    );
  });
});

describe("members whose data differ (server/etcdserver/corrupt.go)", () => {
  const wrong = (variants: Record<string, string>): EtcdSpace => ({ ...fresh, variants });
  const comparing = three.map((one) => ({ ...one, comparesWithLeader: true as const }));
  for (const [what, variants, members, want] of [
    ["one of three is named", { b: "x" }, three, ["b CORRUPT"]],
    ["the leader is named like any other", { a: "x" }, three, ["a CORRUPT"]],
    ["a wrong leader with corrupt-check-time names a right one", { a: "x" }, comparing, ["b CORRUPT"]],
    ["a right leader with corrupt-check-time names the first of two", { b: "x", c: "y" }, comparing, ["b CORRUPT"]],
    ["two of three that differ from each other: nobody in particular", { a: "x", b: "y" }, three, ["0 CORRUPT"]],
    ["two of three that are wrong alike blame the third", { a: "x", b: "x" }, three, ["c CORRUPT"]],
    ["one of two: nobody in particular", { b: "x" }, [member(a), member(b)], ["0 CORRUPT"]],
    ["the only one has nobody to compare with", { a: "x" }, [member(a)], []],
    ["one that does not answer is not compared", { b: "x" }, [member(a), member(b, { isLive: false }), member(c)], []],
    [
      "one of two that answer, of three: nobody in particular",
      { b: "x" },
      [member(a), member(b), member(c, { isLive: false })],
      ["0 CORRUPT"],
    ],
  ] as const)
    test(what, () => {
      const ids = Object.fromEntries(Object.entries(variants).map(([last, data]) => [`${"0".repeat(15)}${last}`, data]));
      assert.deepEqual(named(compared(wrong(ids), members, a)), want);
    });
  test("refuse writes, deletes and compactions", () => {
    const alarmed = compared(wrong({ [b]: "x" }), three, a);
    assert.deepEqual([write(alarmed).refusal, erase(alarmed, 1).refusal, compact(alarmed, three).refusal], Array(3).fill(corruptCluster));
  });
  test("are named again after the next compaction when somebody takes the alarm back", () => {
    const disarmed = { ...compared(wrong({ [b]: "x" }), three, a), alarms: [] };
    const at = (now: number): readonly RaisedAlarm[] => settled(disarmed, three, { leader: a, now }).alarms;
    assert.deepEqual([at(4 * minute), at(5 * minute)], [[], [{ memberId: b, alarm: "CORRUPT" }]]);
  });
  test("do not come up beside each other", () => {
    const space = wrong({ [b]: "x" });
    assert.deepEqual(
      [differs(space, b, [a, c]), differs(space, a, [b, c]), differs(space, a, [c]), differs(space, b, [])],
      [true, true, false, false],
    );
  });
});

test("a learner has the file of the leader, wrong data included; who leaves takes everything along but its alarms", () => {
  const full = compared({ ...filled(fresh, [member(a), member(b)], 0.5), variants: { [a]: "x" } }, [member(a), member(b)], a);
  const grown = joined(full, c, a);
  assert.deepEqual([sizesOf(grown, c), grown.variants[c]], [sizesOf(full, a), "x"]);
  const gone = left(grown, a);
  assert.deepEqual([gone.variants, gone.alarms.length], [{ [c]: "x" }, 3]);
  assert.ok(gone.alarms.some(({ memberId }) => memberId === nobodysId));
});

test("whatever happens, a file is not smaller than what is in use, and only a defragmentation makes one smaller", () => {
  const act = record({
    kind: constantFrom("put", "replace", "erase", "compact", "defragment", "disarm", "wait"),
    bytes: integer({ min: 0, max: 30 * mib }),
  });
  check(
    property(array(act, { maxLength: 40 }), (acts) => {
      let [space, now] = [fresh, 0];
      for (const { kind, bytes } of acts) {
        const before = sizesOf(space, a);
        now += kind === "wait" ? bytes : 0;
        if (kind === "put" || kind === "replace") ({ space } = write(space, bytes, { keeps: kind === "put" }));
        if (kind === "erase") ({ space } = erase(space, bytes));
        if (kind === "compact") ({ space } = compact(space, three));
        if (kind === "defragment") space = defragmented(space, a);
        if (kind === "disarm") space = { ...space, alarms: [] };
        space = settled(space, three, { leader: a, now });
        const after = sizesOf(space, a);
        assert.ok(after.sizeBytes >= after.inUseBytes);
        assert.ok(kind === "defragment" || after.sizeBytes >= before.sizeBytes);
        assert.ok(after.sizeBytes <= 100 * mib + 4_096 + overhead);
      }
    }),
  );
});

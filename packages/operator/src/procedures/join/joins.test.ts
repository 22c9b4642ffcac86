import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, inMaintenance, member, NOW, observed, running, worker } from "../../testing/builders.ts";
import { changedQuota } from "../../testing/config-change.ts";
import { joinHindrance } from "./joins.ts";
import type { Look, SeenAlarm } from "../../model/look.ts";
import type { ClusterFacts } from "../../model/record.ts";

const HOUR = 3_600_000;
const waiting = (address: string): Record<string, Look> => ({ [address]: inMaintenance(address) });
const silentSince = (since: number): Look => ({ kind: "silent", at: NOW, since, detail: "unreachable" });
const foreign: Look = { kind: "foreign", at: NOW, detail: "its certificate is not in order" };

const notTalos: Look = { kind: "not-talos", at: NOW, detail: "it does not know the calls of the Talos API" };

const cases: readonly { readonly title: string; readonly look: Look; readonly configuredAt?: number; readonly holds: boolean }[] = [
  { title: "went silent a minute ago", look: silentSince(NOW - 60_000), holds: true },
  { title: "went silent before the clock was set back", look: silentSince(NOW + 6 * HOUR), holds: true },
  { title: "has been silent for an hour", look: silentSince(NOW - HOUR), holds: false },
  { title: "shows a certificate whose dates alone are wrong", look: { ...foreign, isByTime: true }, holds: true },
  { title: "an hour later shows a certificate of somebody else", look: foreign, configuredAt: NOW - HOUR, holds: false },
  { title: "a minute later shows a certificate of somebody else", look: foreign, configuredAt: NOW - 60_000, holds: true },
  { title: "an hour later gives an answer that is not Talos's", look: notTalos, configuredAt: NOW - HOUR, holds: false },
  { title: "a minute later gives an answer that is not Talos's", look: notTalos, configuredAt: NOW - 60_000, holds: true },
];

for (const { title, look, configuredAt = NOW - HOUR, holds } of cases)
  test(`a control plane that took its configuration and ${title} ${holds ? "holds the next one up" : "holds up nobody"}`, () => {
    const known = facts({ bootstrapDone: founded, machines: [{ ...configured("10.0.0.1"), configuredAt }] });
    const seen = observed({
      controlPlane: controlPlane(2),
      looks: { "10.0.0.1": look, "10.0.0.2": inMaintenance("10.0.0.2") },
      facts: known,
    });
    const next = seen.machines.find(({ declared }) => declared.address === "10.0.0.2");
    assert.ok(next !== undefined);
    const hindrance = joinHindrance(assess(seen), known, next) ?? "";
    assert.equal(/joins after demo-10\.0\.0\.1/.test(hindrance), holds, hindrance);
  });

test("a control plane that was configured before the record was lost, and is silent, holds up whoever is new: it may have bootstrapped etcd", () => {
  const bundle = { secretName: "demo-bundle-1", fingerprint: "fingerprint", wasFound: true };
  const hindranceWith = (known: ClusterFacts): string | undefined => {
    const looks = { "10.0.0.1": silentSince(NOW - HOUR), "10.0.0.2": inMaintenance("10.0.0.2") };
    const seen = observed({ controlPlane: controlPlane(2), looks, facts: known });
    const next = seen.machines.find(({ declared }) => declared.address === "10.0.0.2");
    assert.ok(next !== undefined);
    return joinHindrance(assess(seen), known, next);
  };
  assert.match(
    hindranceWith(facts({ bundle, machines: [configured("10.0.0.1")] })) ?? "",
    /once demo-10\.0\.0\.1 .* shows whether it bootstrapped etcd/,
  );
  assert.equal(hindranceWith(facts({ bundle })), undefined);
  assert.equal(hindranceWith(facts({ machines: [configured("10.0.0.1")] })), undefined);
});

test("a control plane that was wiped takes the place of the member at its address, also where the record does not say that it is its own", () => {
  const { memberId: _lost, ...unknown } = configured("10.0.0.2");
  const hindranceAt = (address: string, over: Partial<ClusterFacts> = {}): string | undefined => {
    const known = facts({ bootstrapDone: founded, machines: [configured("10.0.0.1"), unknown, configured("10.0.0.3")], ...over });
    const looks = { "10.0.0.1": running(member(0, 3)), "10.0.0.2": inMaintenance("10.0.0.2"), "10.0.0.3": running(member(2, 3)) };
    const seen = observed({ controlPlane: controlPlane(4), looks: { ...looks, "10.0.0.4": inMaintenance("10.0.0.4") }, facts: known });
    const next = seen.machines.find(({ declared }) => declared.address === address);
    assert.ok(next !== undefined);
    return joinHindrance(assess(seen), known, { ...next, look: inMaintenance(address, { spki: "of another boot" }) });
  };
  assert.equal(hindranceAt("10.0.0.2"), undefined);
  assert.match(hindranceAt("10.0.0.4", { machines: [configured("10.0.0.1"), configured("10.0.0.3")] }) ?? "", /cp-2 is away/);
});

const fullOf: SeenAlarm = { member: "0000000000000001", kind: "no-space" };
const corrupt: SeenAlarm = { member: "0000000000000001", kind: "corrupt" };
const alarms: readonly (readonly [what: string, count: number, away: readonly number[], alarm: SeenAlarm, holds: boolean])[] = [
  ["full, and one of three voters is to be its own", 3, [2], fullOf, false],
  ["full, and one of five voters is to be its own", 5, [2], fullOf, true],
  ["full, with three voters, all of them there", 3, [], fullOf, true],
  ["full, with two voters", 2, [], fullOf, false],
  ["full, with a single voter", 1, [], fullOf, true],
  ["of data that differ, and one of three voters is to be its own", 3, [2], corrupt, true],
  ["of data that differed, with two voters", 2, [], { ...corrupt, member: "00000000000000aa" }, true],
];
for (const [what, count, away, alarm, holds] of alarms)
  test(`a control plane ${holds ? "does not join" : "joins"} an etcd that is ${what}`, () => {
    const at = (n: number): string => `10.0.0.${n}`;
    const joining = away[0] ?? count + 1;
    const voters = Array.from({ length: count }, (_, index) => index + 1);
    const told = (n: number): Look => running({ ...member(n - 1, count), alarms: ["x"], raised: [alarm] });
    const known = facts({ bootstrapDone: founded, machines: voters.map((n) => configured(at(n))) });
    const looks = Object.fromEntries([...voters.map((n) => [at(n), told(n)] as const), [at(joining), inMaintenance(at(joining))] as const]);
    const seen = observed({ controlPlane: controlPlane(Math.max(count, joining)), looks, facts: known });
    const next = seen.machines.find(({ declared }) => declared.address === at(joining));
    assert.ok(next !== undefined);
    const hindrance = joinHindrance(assess(seen), known, { ...next, look: inMaintenance(at(joining), { spki: "of another boot" }) });
    assert.equal(hindrance !== undefined, holds, hindrance);
    if (holds && alarm === fullOf) assert.match(hindrance ?? "", /raises an alarm/);
  });

for (const [what, after, holds] of [
  ["in which the files of the others have no room", String(2 ** 20), true],
  ["in which they have room", String(2 ** 31), false],
] as const)
  test(`a control plane ${holds ? "does not join" : "joins"} with a smaller quota ${what}, which the others do not get`, () => {
    const change = changedQuota(String(2 ** 32), after);
    const known = facts({ bootstrapDone: founded, machines: [configured("10.0.0.1")] });
    const file = { dbSizeBytes: 2 ** 30, dbInUseBytes: 2 ** 29 };
    const looks = { "10.0.0.1": running({ ...member(0, 1), ...file }), ...waiting("10.0.0.2"), ...waiting("10.0.0.3") };
    const config = {
      kind: "known",
      at: NOW,
      settings: "new",
      bootId: "b",
      version: "v1.13.9",
      activeHash: "",
      changes: [change],
      onDisk: "active",
    } as const;
    const seen = observed({ controlPlane: controlPlane(3), looks, facts: known, configs: new Map([["demo-10.0.0.1", config]]) });
    const next = seen.machines.find(({ declared }) => declared.address === "10.0.0.2");
    assert.ok(next !== undefined);
    const hindrance = joinHindrance(assess(seen), known, next);
    if (holds) assert.match(hindrance ?? "", /^demo-10\.0\.0\.2 does not join: etcd would be full: in the quota of 1 MiB /);
    else assert.equal(hindrance, undefined);
  });

test("a member that is away and that no machine is known to have is named with the ways out", () => {
  const looks = { "10.0.0.1": running(member(0, 3)), "10.0.0.3": running(member(2, 3)), "10.0.0.4": inMaintenance("10.0.0.4") };
  const hindrance = (machines: ClusterFacts["machines"]): string => {
    const known = facts({ bootstrapDone: founded, machines });
    const seen = observed({ controlPlane: controlPlane(4), looks: { ...looks, "10.0.0.2": silentSince(NOW - HOUR) }, facts: known });
    const next = seen.machines.find(({ declared }) => declared.address === "10.0.0.4");
    assert.ok(next !== undefined);
    return joinHindrance(assess(seen), known, next) ?? "";
  };
  const others = [configured("10.0.0.1"), configured("10.0.0.3")];
  assert.match(
    hindrance(others),
    /No machine that is known has the member cp-2: .* in the place of demo-10\.0\.0\.4 .*talosctl etcd remove-member 0000000000000002/,
  );
  const known = hindrance([...others, { ...configured("10.0.0.2"), configuredAt: NOW - HOUR }]);
  assert.doesNotMatch(known, /No machine that is known/);
  assert.match(known, /: demo-10\.0\.0\.2 is away/, "by the name that is listed, not by etcd's");
});

const noAnswer = silentSince(NOW - HOUR);
const unproven: readonly { readonly title: string; readonly look: Look; readonly known?: ClusterFacts; readonly holds: boolean }[] = [
  { title: "while no control plane has shown itself", look: noAnswer, holds: true },
  { title: "while the only control plane waits for its own configuration", look: inMaintenance("10.0.0.1"), holds: true },
  {
    title: "when a control plane took its configuration, and is silent",
    look: noAnswer,
    known: facts({ machines: [configured("10.0.0.1")] }),
    holds: false,
  },
  { title: "when the cluster was bootstrapped", look: noAnswer, known: facts({ bootstrapDone: founded }), holds: false },
];

for (const { title, look, known = facts(), holds } of unproven)
  test(`a worker, which gets its certificate from a control plane, is ${holds ? "not " : ""}configured ${title}`, () => {
    const looks = { "10.0.0.1": look, "10.0.1.1": inMaintenance("10.0.1.1") };
    const seen = observed({ controlPlane: controlPlane(1), workers: [worker(1)], looks, facts: known });
    const waiting = seen.machines.find(({ declared }) => declared.role === "worker");
    assert.ok(waiting !== undefined);
    assert.equal(joinHindrance(assess(seen), known, waiting) !== undefined, holds);
  });

for (const [count, isHeld] of [
  [2, true],
  [3, false],
  [4, true],
] as const)
  test(`a control plane that a person made ${isHeld ? "is held while it makes" : "joins when it makes"} ${count}`, () => {
    const known = facts({ bootstrapDone: founded, machines: [configured("10.0.0.1")] });
    const looks = { "10.0.0.1": running(member(0, 1)) };
    const seen = observed({ controlPlane: controlPlane(count), looks, facts: known });
    const last = seen.machines.at(-1);
    assert.ok(last !== undefined);
    const byHand = { look: inMaintenance(last.declared.address), declared: { ...last.declared, isHandMade: true } } as const;
    const hindrance = joinHindrance(assess({ ...seen, machines: [...seen.machines.slice(0, -1), byHand] }), known, byHand);
    assert.equal(hindrance?.includes("an odd number") ?? false, isHeld, hindrance);
  });

test("without a quorum nobody is named as one that joins: what is told is how many voters are missing", () => {
  const known = facts({ bootstrapDone: founded, machines: ["1", "2"].map((n) => configured(`10.0.0.${n}`)) });
  // Of five members two are told, as where strangers joined that nobody sees.
  const looks = { "10.0.0.1": running(member(0, 5)), "10.0.0.2": running(member(1, 5)), "10.0.0.3": inMaintenance("10.0.0.3") };
  const seen = observed({ controlPlane: controlPlane(3), facts: known, looks });
  const next = seen.machines.find(({ declared }) => declared.address === "10.0.0.3");
  assert.ok(next !== undefined);
  assert.match(joinHindrance(assess(seen), known, next) ?? "", /joins once etcd has its quorum: 2 of 5 voters .* 3 are needed\.$/);
});

test("a voter that belongs to no machine keeps a wiped machine from its place: what is certainly gone is named, for a person to remove", () => {
  const known = facts({ bootstrapDone: founded, machines: ["1", "2", "3"].map((n) => configured(`10.0.0.${n}`)) });
  const wiped = inMaintenance("10.0.0.3", { spki: "of-the-next-disk" });
  const hindranceOf = (waits: Look, now: ClusterFacts): string => {
    const looks = { "10.0.0.1": running(member(0, 4)), "10.0.0.2": running(member(1, 4)), "10.0.0.3": waits };
    const seen = observed({ controlPlane: controlPlane(3), facts: now, looks });
    const next = seen.machines.find(({ declared }) => declared.address === "10.0.0.3");
    assert.ok(next !== undefined);
    return joinHindrance(assess(seen), now, next) ?? "";
  };
  const said = hindranceOf(wiped, known);
  assert.match(said, /No machine that is known has cp-4 \(0000000000000004\), so nobody sees whether it votes\./);
  assert.match(said, /is certainly gone: remove it with talosctl etcd remove-member 0000000000000003\.$/);
  // Other hardware in its place proves nothing of the member that it had.
  assert.match(hindranceOf({ ...wiped, uuid: "another" }, known), /and 3 are needed\.$/);
  // Where every voter is a machine's, that machine is what is missing.
  assert.match(hindranceOf(wiped, { ...known, machines: [...known.machines, configured("10.0.0.4")] }), /and 3 are needed\.$/);
});

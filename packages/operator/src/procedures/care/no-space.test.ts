import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent } from "../../testing/builders.ts";
import { etcdMembership } from "../../assess/quorum.ts";
import { nextForFull } from "./no-space.ts";
import type { NextForFull } from "./no-space.ts";
import type { Look, SeenEtcd } from "../../model/look.ts";
import type { ClusterFacts, DecisionFact } from "../../model/record.ts";

const alarm: Partial<SeenEtcd> = { alarms: ["x"], raised: [{ member: "0000000000000001", kind: "no-space" }] };
/** Sizes of a file as shares of a quota of a thousand bytes. */
const file = (dbSizeBytes: number, dbInUseBytes: number, quotaBytes = 1_000): Partial<SeenEtcd> => ({
  dbSizeBytes,
  dbInUseBytes,
  quotaBytes,
});
const full = file(1_000, 250);
const roomy = file(250, 250);
const used = file(1_000, 990);
const roomier = file(1_000, 990, 2_000);
const lastIsLearner = member(0, 3).members?.map((one, index) => ({ ...one, isLearner: index === 2 }));

/** What is next by what each control plane tells; the first leads. `undefined` = it does not answer. */
function next(
  told: readonly (Partial<SeenEtcd> | undefined)[],
  defragmentedAgoMs?: number,
  word?: string,
  decisions: readonly DecisionFact[] = [],
): NextForFull {
  const looks: Record<string, Look> = Object.fromEntries(
    told.map((etcd, index) => [
      `10.0.0.${index + 1}`,
      etcd === undefined ? silent : running({ ...member(index, told.length), ...alarm, ...etcd }),
    ]),
  );
  const last = defragmentedAgoMs === undefined ? {} : { defragmentedAt: NOW - defragmentedAgoMs };
  const known: ClusterFacts = facts({
    bootstrapDone: founded,
    decisions,
    machines: [
      ...told.map((_, index) => configured(`10.0.0.${index + 1}`, "controlplane", "demo", last)),
      configured("10.0.0.9", "worker", "demo"),
    ],
  });
  const metadata = word === undefined ? {} : { annotations: { [annotations.defragment]: word } };
  const seen = observed({ controlPlane: controlPlane(told.length, {}, metadata), facts: known, looks });
  const view = etcdMembership(seen);
  assert.ok(view.kind === "unsafe" && view.beneath !== undefined);
  return nextForFull(seen, known, view.beneath);
}

function wordOf(one: NextForFull): string {
  if (one.kind === "defragment") return `defragment ${one.file.machine}${one.isAsked ? ", asked" : ""}`;
  return one.kind === "disarm" ? `disarm ${one.via.machine}` : `${one.kind}: ${one.message}`;
}

const cases: readonly (readonly [string, readonly (Partial<SeenEtcd> | undefined)[], RegExp, (number | undefined)?, string?])[] = [
  ["a follower goes first", [full, full, full], /^defragment demo-10\.0\.0\.2$/],
  ["then the other one", [full, roomy, full], /^defragment demo-10\.0\.0\.3$/],
  ["the leader is the last", [full, roomy, roomy], /^defragment demo-10\.0\.0\.1$/],
  ["every file has room", [roomy, roomy, roomy], /^disarm demo-10\.0\.0\.1$/],
  ["one alone", [full], /^defragment demo-10\.0\.0\.1$/],
  ["right below the quota is no room", [file(960, 100), roomy, roomy], /^defragment demo-10\.0\.0\.1$/],
  ["a machine that is gone is passed over", [roomy, roomy, undefined], /^disarm/],
  ["no quota is never full", [file(9_000, 8_000, Number.POSITIVE_INFINITY), roomy, roomy], /^disarm/],
  [
    "it would free nothing",
    [used, used, used],
    /^person: of the quota .* on demo-10\.0\.0\.2 .* raise quota-backend-bytes .* in TalosControlPlane\/demo spec\.metalSpec\.machineSpec\.configPatches, with/,
  ],
  ["it would free nothing of three", [used, used, used], /with which every control plane is booted, one after the other$/],
  ["it would free nothing of two", [used, used], /and boot every control plane with it by hand \(talosctl\)$/],
  ["it would free nothing of the one with the smaller quota", [roomier, used, roomier], /^person: of the quota .* on demo-10\.0\.0\.2 /],
  [
    "it would free nothing, and the alarm of a member that is gone lets nobody delete",
    [used, used, used].map((one) => ({ ...one, raised: [...(alarm.raised ?? []), { member: "00000000000000ff", kind: "corrupt" }] })),
    /^person: .* free nothing: take the alarm CORRUPT .*\(talosctl etcd alarm disarm\).*; then delete objects/,
  ],
  ["one tells less than the others, which tell of before a compaction", [used, roomy, used], /^defragment demo-10\.0\.0\.3$/],
  [
    "a person names one that tells that it would free nothing",
    [used, used, used],
    /^defragment demo-10\.0\.0\.3, asked$/,
    undefined,
    "demo-10.0.0.3",
  ],
  ["a person names one that is full again", [full, full, full], /^defragment demo-10\.0\.0\.3, asked$/, 5 * 60_000, "demo-10.0.0.3"],
  ["a person names one that has room", [full, roomy, full], /^defragment demo-10\.0\.0\.3$/, undefined, "demo-10.0.0.2"],
  ["a person names nobody", [used, used, used], /^person: of the quota/, undefined, "nobody"],
  [
    "a quota that a look before the alarm did not ask for",
    [full, { dbSizeBytes: 1, dbInUseBytes: 1, alarms: [], raised: [] }, full],
    /^waits: the size and the quota of every file are read next$/,
  ],
  [
    "nothing is free, and the quota is as large as etcd advises",
    [8, 8, 8].map((gib) => file(gib * 2 ** 30, gib * 2 ** 30, gib * 2 ** 30)),
    /^person: of the quota of 8192 MiB .* delete objects: etcd advises no quota above 8192 MiB$/,
  ],
  [
    "a quota that nobody can read",
    [full, { dbSizeBytes: 1, dbInUseBytes: 1 }, full],
    /^person: demo-10\.0\.0\.2 does not report its quota/,
  ],
  ["sizes that are not told", [full, { quotaBytes: 1_000 }, full], /^waits: demo-10\.0\.0\.2 does not report how large/],
  [
    "a member that hangs is waited for",
    [full, full, { ...full, isHealthy: false }],
    /^waits: etcd on demo-10\.0\.0\.3 does not answer.*reboot demo-10\.0\.0\.3$/,
  ],
  [
    "full again within minutes",
    [full, full, full],
    /^waits: .*demo-10\.0\.0\.2 is full again.*what writes so much; .* ten minutes after that, or at once where the annotation talos-operator\.dev\/defragment names it$/,
    5 * 60_000,
  ],
  [
    "one that is joining answers nothing yet",
    [full, full, { isHealthy: false }].map((one) => ({ ...one, members: lastIsLearner })),
    /^waits: etcd on demo-10\.0\.0\.3 is joining, and is waited for$/,
  ],
  ["full again after a while", [full, full, full], /^defragment demo-10\.0\.0\.2$/, 10 * 60_000],
];

describe("an alarm that is back after it was taken back", () => {
  const at = (agoMs: number, action: string, reason: string): DecisionFact => ({ at: NOW - agoMs, action, reason, message: "x" });
  const disarmed = (agoMs: number): readonly DecisionFact[] => [
    at(agoMs + 2_000, "DisarmAlarms", "NoSpace"),
    at(agoMs, "CloseDisarmAlarms", "Disarmed"),
  ];
  const three = [roomy, roomy, roomy];
  const waits = /^person: the alarm .*demo-10\.0\.0\.1.* is back within ten minutes.*reboot/;
  const rows: readonly (readonly [string, readonly DecisionFact[], RegExp])[] = [
    ["soon, and nothing was done since", disarmed(60_000), waits],
    ["after ten minutes", disarmed(10 * 60_000), /^disarm/],
    ["soon, and a member was defragmented since", [...disarmed(120_000), at(60_000, "CloseDefragment", "Defragmented")], /^disarm/],
    ["soon, and a machine has booted since", [...disarmed(120_000), at(60_000, "Reboot", "Booted")], /^disarm/],
    ["soon, and a worker has booted since", [...disarmed(120_000), { ...at(60_000, "Reboot", "Booted"), machine: "demo-10.0.0.9" }], waits],
    ["soon, and a member was replaced since", [...disarmed(120_000), at(60_000, "CloseReplaceMember", "Joined")], /^disarm/],
    ["under the intent of the next time", [...disarmed(120_000), at(0, "DisarmAlarms", "NoSpace")], /^disarm/],
    ["soon, and it was not seen to go", [at(60_000, "CloseDisarmAlarms", "NotSeen")], /^disarm/],
    ["soon, and something else was decided since", [...disarmed(60_000), at(0, "MachineForgotten", "x")], waits],
  ];
  for (const [what, decisions, want] of rows) test(what, () => assert.match(wordOf(next(three, undefined, undefined, decisions)), want));
});

describe("what frees the space of an etcd that is full", () => {
  for (const [what, told, want, ago, word] of cases) test(what, () => assert.match(wordOf(next(told, ago, word)), want));
});

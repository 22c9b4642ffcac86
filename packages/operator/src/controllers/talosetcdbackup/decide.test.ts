import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations, finalizers, findCondition, rfc3339, setCondition } from "@talos-operator/api";
import type { Condition, TalosEtcdBackup } from "@talos-operator/api";
import type { BackupFacts, TakeResult, TaskFailed } from "@talos-operator/backup";
import { NOW } from "../../testing/builders.ts";
import { runName } from "../../backups/runner.ts";
import { runId } from "../../workers/runner.ts";
import { decideBackup } from "./decide.ts";
import type { BackupDecision, BackupSeen, SeenCluster } from "./model.ts";

const UID = "b-1";
const CREATED = "2026-01-01T11:59:00Z";
const SLOT = "20260101T115900Z-nightly";
const id = runId(UID, "take", "1");
const run = {
  name: runName(id),
  attempt: id,
  task: "take" as const,
  startedAt: rfc3339(NOW),
  source: { machine: "cp-2", memberId: "0000000000000002" },
};
const voter = (n: number, isLeader = false) => ({
  machine: `cp-${n}`,
  address: `10.0.0.${n}`,
  memberId: String(n).padStart(16, "0"),
  isLeader,
});
const cluster: Extract<SeenCluster, { readonly kind: "present" }> = {
  kind: "present",
  name: "demo",
  sources: {
    clusterId: "cluster-id",
    talosVersion: "v1.13.9",
    kubernetesVersion: "v1.36.3",
    voters: [voter(2), voter(3), voter(1, true)],
    others: [],
  },
  claims: { hasRecord: true, disrupted: undefined, snapshot: undefined },
};
const facts: BackupFacts = {
  slot: SLOT,
  attempt: id,
  object: `p/default/demo-0/${SLOT}.${id}.db.zst`,
  startedAt: "2026-01-01T12:00:00Z",
  endedAt: "2026-01-01T12:00:05Z",
  size: 20_512,
  sha256: "a".repeat(64),
  storedSize: 4_000,
  storedSha256: "b".repeat(64),
  compression: "zstd",
  encryption: "none",
  revision: 77,
  totalKey: 40,
  liveKeys: 30,
  source: { machine: "cp-2", memberId: "0000000000000002" },
};
const taken: TakeResult = { kind: "taken", facts, proof: { how: "restored", on: "writing", restoreMs: 12 }, found: false };
const failure = (over: Partial<TaskFailed> = {}): TaskFailed => ({
  kind: "failed",
  reason: "store-failed",
  store: "unreachable",
  message: "The store does not answer.",
  mayRepeat: true,
  ...over,
});
const ended = (result: NonNullable<Extract<BackupSeen["run"], { readonly kind: "ended" }>["result"]> | undefined): BackupSeen["run"] => ({
  kind: "ended",
  result,
  at: NOW,
});

function backup(
  status?: TalosEtcdBackup["status"],
  spec: Partial<TalosEtcdBackup["spec"]> = {},
  metadata: Partial<TalosEtcdBackup["metadata"]> = {},
): TalosEtcdBackup {
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackup",
    metadata: { namespace: "default", name: "nightly", uid: UID, generation: 1, creationTimestamp: CREATED, ...metadata },
    spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: {} }, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}
const seen = (over: Partial<BackupSeen> = {}): BackupSeen => ({
  now: NOW,
  backup: backup(),
  problems: [],
  isTerminating: false,
  cluster,
  needs: { kind: "there" },
  run: undefined,
  othersRunning: 0,
  waitingSince: undefined,
  ...over,
});
const decided = (over: Partial<BackupSeen>): BackupDecision => {
  const decision = decideBackup(seen(over));
  assert.ok(decision !== undefined);
  return decision;
};
const reasonOf = ({ conditions }: BackupDecision, type: string): string | undefined => conditions.find((one) => one.type === type)?.reason;
/** The status as the API has it after a decision. */
const after = ({ fields, conditions }: BackupDecision): TalosEtcdBackup["status"] => {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return { ...given, conditions: conditions.reduce<readonly Condition[]>((list, one) => setCondition(list, one, NOW), []) };
};
const claim = (name: string, of = "other") => ({
  machine: "cp-3",
  run: name,
  backup: { namespace: "default", name: of },
  at: rfc3339(NOW),
  by: "x",
  deadline: rfc3339(NOW + 1e6),
});

const before: readonly { readonly name: string; readonly over: Partial<BackupSeen>; readonly ready: string; readonly act: string }[] = [
  { name: "everything is there", over: {}, ready: "BackupInProgress", act: "begin" },
  {
    name: "its own claim is left from before",
    over: { cluster: { ...cluster, claims: { ...cluster.claims, snapshot: claim(run.name) } } },
    ready: "BackupInProgress",
    act: "begin",
  },
  {
    name: "another backup holds the cluster",
    over: { cluster: { ...cluster, claims: { ...cluster.claims, snapshot: claim("backup-x") } } },
    ready: "WaitingForTurn",
    act: "none",
  },
  { name: "two others run", over: { othersRunning: 2 }, ready: "WaitingForTurn", act: "none" },
  { name: "one other runs", over: { othersRunning: 1 }, ready: "BackupInProgress", act: "begin" },
  {
    name: "a control plane is disturbed",
    over: { cluster: { ...cluster, claims: { ...cluster.claims, disrupted: "cp-1" } } },
    ready: "WaitingForDisruption",
    act: "none",
  },
  {
    name: "it was for ten minutes",
    over: { waitingSince: NOW - 600_000, cluster: { ...cluster, claims: { ...cluster.claims, disrupted: "cp-1" } } },
    ready: "BackupFailed",
    act: "none",
  },
  {
    name: "no voter answers",
    over: { cluster: { ...cluster, sources: { ...cluster.sources, voters: [], others: ["cp-1"] } } },
    ready: "SourceUnreachable",
    act: "none",
  },
  {
    name: "the cluster is not there",
    over: { cluster: { kind: "absent", message: "TalosControlPlane demo not found." } },
    ready: "ControlPlaneNotFound",
    act: "none",
  },
  { name: "nobody has looked yet", over: { cluster: { kind: "not-looked", name: "demo" } }, ready: "BackupInProgress", act: "none" },
  {
    name: "the spec cannot be",
    over: { problems: [{ field: "f", message: "m", remedy: "r", reason: "InsecureObjectStorage" }] },
    ready: "InsecureObjectStorage",
    act: "none",
  },
  {
    name: "a Secret is missing",
    over: { needs: { kind: "missing", reason: "KeysNotReadable", message: "Secret s3 not found." } },
    ready: "KeysNotReadable",
    act: "none",
  },
  { name: "the namespace is going away", over: { isTerminating: true }, ready: "NamespaceTerminating", act: "none" },
  {
    name: "a person wants stored bytes to go with it",
    over: { backup: backup(undefined, { deletionPolicy: "delete" }) },
    ready: "",
    act: "add-finalizer",
  },
];
describe("a backup that is not taken yet", () => {
  for (const { name, over, ready, act } of before)
    test(name, () => {
      const decision = decided(over);
      assert.deepEqual([reasonOf(decision, "Ready") ?? "", decision.act.kind], [ready, act]);
    });

  test("is taken in its slot, from a voter that does not lead, and says so before it starts", () => {
    const decision = decided({});
    assert.deepEqual(decision.act, { kind: "begin", run });
    assert.deepEqual(
      [decision.fields.slot, decision.fields.attempts, decision.fields.run, decision.fields.clusterId],
      [SLOT, 1, run, "cluster-id"],
    );
    assert.deepEqual(
      ["Progressing", "Failed", "Proved", "KeysNotBackedUp"].map((type) => reasonOf(decision, type)),
      ["BackupInProgress", "BackupInProgress", "NotProvedYet", "NoRecipients"],
    );
  });

  test("of a schedule has the schedule's time in its slot", () => {
    const made = backup(undefined, {}, { annotations: { [annotations.backupSlot]: "20260101T020000Z" } });
    assert.equal(decided({ backup: made }).fields.slot, "20260101T020000Z-nightly");
  });
});

const inRun: TalosEtcdBackup["status"] = { slot: SLOT, attempts: 1, run, controlPlane: "demo", clusterId: "cluster-id" };
const runs: readonly {
  readonly name: string;
  readonly over: Partial<BackupSeen>;
  readonly ready: string;
  readonly act: string;
  readonly open: boolean;
}[] = [
  { name: "it works", over: { run: { kind: "running", since: NOW } }, ready: "BackupInProgress", act: "none", open: true },
  {
    name: "it waits for a place",
    over: { run: { kind: "waiting", why: "no node has room" } },
    ready: "BackupInProgress",
    act: "none",
    open: true,
  },
  { name: "nobody knows it after a restart", over: { run: { kind: "absent" } }, ready: "BackupInProgress", act: "start", open: true },
  {
    name: "nobody knows it, and as many others run as may at once",
    over: { run: { kind: "absent" }, othersRunning: 2 },
    ready: "BackupInProgress",
    act: "none",
    open: true,
  },
  {
    name: "nobody knows it, and nobody has looked at the cluster",
    over: { run: { kind: "absent" }, cluster: { kind: "not-looked", name: "demo" } },
    ready: "BackupInProgress",
    act: "none",
    open: true,
  },
  {
    name: "nobody knows it, and its source is gone",
    over: { run: { kind: "absent" }, cluster: { ...cluster, sources: { ...cluster.sources, voters: [voter(3)] } } },
    ready: "SourceUnreachable",
    act: "none",
    open: false,
  },
  {
    name: "its time is over",
    over: { now: NOW + 3_900_000, run: { kind: "running", since: NOW } },
    ready: "WorkerFailed",
    act: "none",
    open: false,
  },
  { name: "its result is lost", over: { run: ended(undefined) }, ready: "WorkerFailed", act: "none", open: false },
  { name: "the store did not answer", over: { run: ended(failure()) }, ready: "StoreUnreachable", act: "none", open: false },
  { name: "the store is full", over: { run: ended(failure({ store: "full" })) }, ready: "StoreFull", act: "none", open: false },
  {
    name: "the store refuses for good",
    over: { run: ended(failure({ store: "denied", mayRepeat: false })) },
    ready: "BackupFailed",
    act: "none",
    open: false,
  },
  {
    name: "the result is of another task",
    over: { run: ended({ kind: "removed", slots: [], kept: [] }) },
    ready: "WorkerFailed",
    act: "none",
    open: false,
  },
  { name: "it was taken", over: { run: ended(taken) }, ready: "BackupSucceeded", act: "none", open: false },
  {
    name: "an earlier try had won",
    over: { run: ended({ ...taken, found: true, facts: { ...facts, attempt: "0123456789ab" } }) },
    ready: "BackupSucceeded",
    act: "none",
    open: false,
  },
];
describe("a run of a backup", () => {
  for (const { name, over, ready, act, open } of runs)
    test(name, () => {
      const decision = decided({ backup: backup(inRun), ...over });
      assert.deepEqual([reasonOf(decision, "Ready"), decision.act.kind, decision.fields.run !== undefined], [ready, act, open]);
    });

  const lies: readonly (readonly [string, Partial<BackupFacts>])[] = [
    ["another slot", { slot: "x" }],
    ["another try", { attempt: "x" }],
    ["a size without trailer", { size: 20_480 }],
    ["nothing stored", { storedSize: 0 }],
    ["no revision", { revision: 0 }],
    ["more keys live than there are", { liveKeys: 41 }],
    ["no checksum", { sha256: "" }],
    ["no number", { totalKey: Number.NaN }],
    ["an end before its begin", { endedAt: "2026-01-01T11:00:00Z" }],
    ["no time", { endedAt: "" }],
    ["no member", { source: { machine: "cp-2", memberId: "2" } }],
  ];
  for (const [name, over] of lies)
    test(`a result with ${name} is never called ready`, () => {
      const decision = decided({ backup: backup(inRun), run: ended({ ...taken, facts: { ...facts, ...over } }) });
      assert.deepEqual([reasonOf(decision, "Ready"), decision.fields.filename], ["WorkerFailed", undefined]);
    });

  test("is tried three times, at growing pauses, from another voter each time, in the same slot; then it has failed", () => {
    let status: TalosEtcdBackup["status"];
    let now = NOW;
    const begun: string[] = [];
    const pauses: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const begin = decided({ now, backup: backup(status) });
      assert.equal(begin.act.kind, "begin");
      begun.push(`${begin.fields.slot} ${begin.fields.run?.source?.machine}`);
      const end = decided({ now, backup: backup(after(begin)), run: ended(failure()) });
      status = after(end);
      if (n === 2) break;
      pauses.push(end.requeueAfterMs ?? 0);
      assert.equal(decided({ now: now + 1_000, backup: backup(status) }).act.kind, "none");
      now += end.requeueAfterMs ?? 0;
    }
    assert.deepEqual(begun, [`${SLOT} cp-2`, `${SLOT} cp-3`, `${SLOT} cp-1`]);
    assert.deepEqual(pauses, [30_000, 120_000]);
    assert.equal(findCondition(status?.conditions, "Failed")?.status, "True");
    const later = decided({ now: now + 1e9, backup: backup(status) });
    assert.deepEqual([later.act.kind, reasonOf(later, "Ready"), later.news.length], ["none", "BackupFailed", 0]);
  });

  test("conditions flip back: nothing of an earlier failure is left on a backup that succeeded", () => {
    const first = decided({ backup: backup(inRun), run: ended(failure()) });
    const again = decided({ now: NOW + 30_000, backup: backup(after(first)) });
    const attempt = again.fields.run?.attempt ?? "";
    const last = decided({ backup: backup(after(again)), run: ended({ ...taken, facts: { ...facts, attempt } }) });
    assert.deepEqual(
      last.conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`),
      [
        "Ready=True/BackupSucceeded",
        "Progressing=False/BackupSucceeded",
        "Failed=False/BackupSucceeded",
        "Proved=True/Restored",
        "KeysNotBackedUp=True/NoRecipients",
      ],
    );
  });
});

const done = after(decided({ backup: backup(inRun), run: ended(taken) }));
describe("a backup that is stored", () => {
  test("is left as it is", () => {
    const decision = decided({ backup: backup(done) });
    assert.deepEqual(
      [decision.act.kind, reasonOf(decision, "Ready"), reasonOf(decision, "Proved")],
      ["none", "BackupSucceeded", "Restored"],
    );
  });

  test("says what was changed since in its spec and cannot act any more", () => {
    const changed = (spec: Partial<TalosEtcdBackup["spec"]>): string | undefined => {
      const { conditions } = decided({ backup: backup(done, spec) });
      return conditions.find(({ reason }) => reason === "ChangedAfterBackup")?.message;
    };
    assert.equal(changed({}), undefined);
    assert.match(changed({ talosControlPlaneRef: { name: "other" } }) ?? "", /names other, and the backup is of demo/);
    assert.match(changed({ encryption: { recipients: ["age1x"] } }) ?? "", /names recipients, and the backup is stored in clear/);
  });

  const asked = (status = done): TalosEtcdBackup => backup(status, {}, { annotations: { [annotations.proveNow]: "1" } });
  test("is proved once for each word of a person", () => {
    const begin = decided({ backup: asked() });
    assert.deepEqual([begin.act.kind, begin.fields.run?.task], ["begin", "prove"]);
    const end = decided({
      backup: asked(after(begin)),
      run: ended({ kind: "proved", facts, proof: { how: "stored", on: "store", weakerBecause: "no-identity" } }),
    });
    assert.deepEqual([reasonOf(end, "Proved"), end.fields.provedNow, reasonOf(end, "Ready")], ["BytesCompared", "1", "BackupSucceeded"]);
    assert.equal(decided({ backup: asked(after(end)) }).act.kind, "none");
  });

  test("is proved once more for a word that came while it was being proved", () => {
    const begin = decided({ backup: asked() });
    const later = backup(after(begin), {}, { annotations: { [annotations.proveNow]: "2" } });
    const end = decided({ backup: later, run: ended({ kind: "proved", facts, proof: { how: "restored", on: "store" } }) });
    assert.deepEqual([reasonOf(end, "Proved"), end.fields.provedNow], ["Restored", undefined]);
    const next = decided({ backup: { ...later, status: after(end) ?? {} } });
    assert.deepEqual([next.act.kind, next.fields.run?.attempt === begin.fields.run?.attempt], ["begin", false]);
  });

  const proofs: readonly (readonly [string, BackupSeen["run"], string])[] = [
    ["a byte differs", ended(failure({ reason: "proof-failed" })), "ProofFailed"],
    ["it is gone", ended(failure({ reason: "backup-missing" })), "ProofFailed"],
    [
      "its manifest is another's",
      ended({ kind: "proved", facts: { ...facts, revision: 78 }, proof: { how: "restored", on: "store" } }),
      "ProofFailed",
    ],
    ["the store does not answer", ended(failure()), "ProofNotRun"],
    ["the result is lost", ended(undefined), "ProofNotRun"],
  ];
  for (const [name, state, want] of proofs)
    test(`a proof says ${want} when ${name}`, () => {
      const begin = decided({ backup: asked() });
      assert.equal(reasonOf(decided({ backup: asked(after(begin)), run: state }), "Proved"), want);
    });

  test("goes when its own time is over, and not when it is to be kept", () => {
    const over = { now: NOW + 3_700_000 };
    assert.equal(decided({ ...over, backup: backup(done, { retention: { keepFor: "1h" } }) }).act.kind, "delete");
    assert.equal(decided({ ...over, backup: backup(done, { retention: { keepFor: "2h" } }) }).act.kind, "none");
  });
});

test("what another operator finished is not repeated", () => {
  const condition = { type: "Ready", status: "True", reason: "BackupSucceeded", message: "", lastTransitionTime: CREATED } as const;
  assert.equal(
    decideBackup(seen({ backup: backup({ conditions: [condition], filename: "talos-operator-etcd-backups/demo/x.db" }) })),
    undefined,
  );
  const failed = { ...condition, type: "Failed" };
  assert.equal(decideBackup(seen({ backup: backup({ conditions: [failed] }) })), undefined);
});

describe("deletion of a backup", () => {
  const going = (spec: Partial<TalosEtcdBackup["spec"]>, status = done): TalosEtcdBackup =>
    backup(status, spec, { deletionTimestamp: rfc3339(NOW), finalizers: [finalizers.talosEtcdBackup] });
  const removes = { deletionPolicy: "delete" } as const;
  const begin = decided({ backup: going(removes) });
  const cases: readonly (readonly [string, Partial<BackupSeen>, string, string | undefined])[] = [
    ["leaves the store alone", { backup: going({}) }, "remove-finalizer", undefined],
    ["removes what is stored", { backup: going(removes) }, "begin", undefined],
    ["of one that was never stored", { backup: going(removes, {}) }, "remove-finalizer", undefined],
    ["in a namespace that goes away, too", { backup: going(removes), isTerminating: true }, "begin", undefined],
    [
      "in a namespace that goes away, for no longer than ten minutes",
      { backup: going(removes), isTerminating: true, now: NOW + 600_000 },
      "remove-finalizer",
      "BackupRetained",
    ],
    [
      "without keys of the store",
      { backup: going(removes), needs: { kind: "missing", reason: "KeysNotReadable", message: "x" } },
      "remove-finalizer",
      "BackupRetained",
    ],
    ["after ten minutes", { backup: going(removes), now: NOW + 600_000 }, "remove-finalizer", "BackupRetained"],
    ["while it is removed", { backup: going(removes, after(begin)), run: { kind: "running", since: NOW } }, "none", undefined],
    [
      "when it was removed",
      { backup: going(removes, after(begin)), run: ended({ kind: "removed", slots: [SLOT], kept: [] }) },
      "remove-finalizer",
      "BackupRemoved",
    ],
    [
      "when the bucket keeps it",
      { backup: going(removes, after(begin)), run: ended({ kind: "removed", slots: [SLOT], kept: [SLOT] }) },
      "remove-finalizer",
      "BackupRetained",
    ],
    [
      "when the store does not answer, it is tried again",
      { backup: going(removes, after(begin)), run: ended(failure()) },
      "none",
      undefined,
    ],
    [
      "when the store refuses",
      { backup: going(removes, after(begin)), run: ended(failure({ mayRepeat: false })) },
      "remove-finalizer",
      "BackupRetained",
    ],
    [
      "while it is proved: that is stopped",
      { backup: going(removes, { ...done, run: { ...run, task: "prove" } }), run: { kind: "running", since: NOW } },
      "none",
      undefined,
    ],
  ];
  for (const [name, over, act, news] of cases)
    test(name, () => {
      const decision = decided(over);
      assert.deepEqual([decision.act.kind, decision.news[0]?.reason], [act, news]);
    });

  test("of a namespace whose Secrets went first is told of the Namespace, where it can still be read", () => {
    const needs = { kind: "missing", reason: "KeysNotReadable", message: "Secret store not found." } as const;
    const { act, news } = decided({ backup: going(removes), isTerminating: true, needs });
    assert.equal(act.kind, "remove-finalizer");
    assert.deepEqual(news, [
      {
        reason: "BackupRetained",
        on: "namespace",
        note: `TalosEtcdBackup default/nightly: ${facts.object} stays in the store: Secret store not found.`,
      },
    ]);
    assert.equal(decided({ backup: going(removes), needs }).news[0]?.on, undefined);
  });
});

describe("a Secret without its label", () => {
  const type = "BackupStoreSecretUnlabelled";
  const unlabelled = { needs: { kind: "there", unlabelled: ["store"] } } as const;
  const newsOf = ({ news }: BackupDecision): readonly string[] => news.map(({ reason }) => reason);

  test("is used, and that is said once, by a condition that stays and an event", () => {
    const begin = decided(unlabelled);
    assert.deepEqual([begin.act.kind, reasonOf(begin, type), newsOf(begin).includes(type)], ["begin", "LabelMissing", true]);
    const later = decided({ backup: backup(after(begin)), needs: { kind: "not-asked" }, run: { kind: "running", since: NOW } });
    assert.deepEqual([reasonOf(later, type), newsOf(later).includes(type)], ["LabelMissing", false]);
    const done = decided({ backup: backup(after(later)), needs: { kind: "not-asked" }, run: ended(taken) });
    assert.deepEqual([reasonOf(done, "Ready"), reasonOf(done, type)], ["BackupSucceeded", "LabelMissing"]);
    const again = decided({ backup: backup(after(done)), ...unlabelled });
    assert.deepEqual(newsOf(again), []);
  });

  test("is not spoken of any more once it was read with the label", () => {
    const begin = decided(unlabelled);
    const failedOnce = decided({ backup: backup(after(begin)), run: ended(failure()), needs: { kind: "not-asked" } });
    assert.equal(reasonOf(failedOnce, type), "LabelMissing");
    const next = decided({ now: NOW + 30_000, backup: backup(after(failedOnce)), needs: { kind: "there", unlabelled: [] } });
    assert.deepEqual([next.act.kind, reasonOf(next, type)], ["begin", undefined]);
  });

  test("is refused where the label is demanded, and nothing is begun", () => {
    const refused = decided({ needs: { kind: "missing", reason: type, message: "Secret store has no label.", unlabelled: ["store"] } });
    assert.deepEqual([refused.act.kind, reasonOf(refused, "Ready"), reasonOf(refused, "Progressing")], ["none", type, "Blocked"]);
  });
});

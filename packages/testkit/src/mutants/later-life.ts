import { engine, type Mutant } from "./mutant.ts";

const quorum = `${engine}/assess/quorum.ts`;
const reset = `${engine}/procedures/remove/plan-reset.ts`;
const memberRemoval = `${engine}/procedures/remove/plan-member-removal.ts`;
const slot = `${engine}/disruption/control-plane-slot.ts`;
const rollout = `${engine}/procedures/configure/rollout.ts`;
const tables = {
  quorum: `${engine}/assess/quorum.test.ts`,
  slot: `${engine}/disruption/control-plane-slot.test.ts`,
  membership: `${engine}/procedures/remove/rule.test.ts`,
  settleConfig: `${engine}/procedures/configure/settle-config.test.ts`,
  configureMachines: `${engine}/procedures/join/rule.test.ts`,
  configPlan: `${engine}/procedures/configure/plan.test.ts`,
  drain: `${engine}/disruption/drain.test.ts`,
  decide: `${engine}/decide.test.ts`,
  drainRun: "operator/src/workload/drain-run.test.ts",
  model: "testkit/src/model/model.test.ts",
} as const;
const stories = {
  membership: "testkit/src/stories/membership.test.ts",
  changes: "testkit/src/stories/config-changes.test.ts",
  drift: "testkit/src/stories/config-drift.test.ts",
  drain: "testkit/src/stories/drain.test.ts",
  drainBoots: "testkit/src/stories/drain-boots.test.ts",
  anotherOperator: "testkit/src/stories/another-operator.test.ts",
  import: "testkit/src/stories/import.test.ts",
  dryRun: "testkit/src/stories/dry-run.test.ts",
  references: "testkit/src/stories/references.test.ts",
  handMade: "testkit/src/stories/hand-made.test.ts",
  names: "testkit/src/stories/names-taken.test.ts",
  access: "testkit/src/stories/access-renewal.test.ts",
  pauses: "testkit/src/stories/pauses.test.ts",
  lateRecords: "testkit/src/stories/late-records.test.ts",
} as const;

/** Faults of what happens to a cluster that exists: members, wipes of single machines, configuration, drains, takeovers. */
export const laterLife: readonly Mutant[] = [
  {
    name: "healthy-by-being-listed",
    about: "counts a voter as healthy because it is listed (INC11)",
    stands: ["INC11", "guard T7", "guard T8", "guard T11"],
    tests: [tables.quorum, tables.membership],
    edits: [{ file: quorum, find: "isHealthy: witness !== undefined }", replace: "isHealthy: witness !== undefined || true }" }],
  },
  {
    name: "quorum-is-half",
    about: "takes half of the voters for a majority",
    stands: ["INC11", "INC12", "guard T7"],
    tests: [tables.quorum, tables.membership],
    edits: [
      { file: quorum, find: "const needed = Math.floor(votes.length / 2) + 1;", replace: "const needed = Math.floor(votes.length / 2);" },
    ],
  },
  {
    name: "differing-lists-believed",
    about: "believes the first member list though another member tells another one (INC1, S15)",
    stands: ["INC1", "INC10", "guard T8"],
    tests: [tables.quorum],
    edits: [{ file: quorum, find: "if (differing !== undefined)", replace: "if (differing !== undefined && telling.length > 99)" }],
  },
  {
    name: "empty-list-believed",
    about: "takes an empty member list for an etcd without members (S15)",
    stands: ["INC1", "INC5"],
    tests: [tables.quorum],
    edits: [{ file: quorum, find: "if (members.length === 0)", replace: "if (members.length < 0)" }],
  },
  {
    name: "twins-believed",
    about: "does not see that two machines show one member (INC3)",
    stands: ["INC3"],
    tests: [tables.quorum],
    edits: [{ file: quorum, find: "if (twin !== undefined)", replace: "if (twin !== undefined && own.length > 99)" }],
  },
  {
    name: "learner-does-not-matter",
    about: "disturbs voters while a member is joining (INC9, INC10, S17)",
    stands: ["INC9", "INC10"],
    tests: [tables.quorum, tables.membership, tables.model],
    edits: [{ file: quorum, find: "if (learner !== undefined)", replace: "if (learner !== undefined && view.learners.length > 99)" }],
  },
  {
    name: "old-one-leaves-first",
    about: "takes a control plane away before its replacement has joined",
    stands: ["INC12", "INC13", "V11"],
    tests: [tables.membership, stories.membership],
    edits: [{ file: reset, find: "if (missing.length > 0)", replace: "if (missing.length > 99)" }],
  },
  {
    name: "any-dead-member-blocks",
    about: "waits for every voter before a dead one may be removed (INC4, Li5)",
    stands: ["INC4", "V20"],
    tests: [tables.membership, stories.membership],
    edits: [
      {
        file: memberRemoval,
        find: "function removeMember(assessed: Assessment, facts: ClusterFacts, fact: MachineFact): RemovalStep {",
        replace: `function removeMember(assessed: Assessment, facts: ClusterFacts, fact: MachineFact): RemovalStep {
  const whole = assessed.etcdMembership;
  if (whole.kind === "known" && whole.healthy < whole.voters.length) return { facts, actions: [], removals: [] };`,
      },
    ],
  },
  {
    name: "joining-one-wiped-at-once",
    about: "wipes a machine that is joining without taking along the vote that it may have by then (S10)",
    stands: ["INC10", "guard T7"],
    tests: [tables.membership],
    edits: [{ file: reset, find: "return waitsForEtcd(look.etcd) || isLearner;", replace: "return waitsForEtcd(look.etcd) && isLearner;" }],
  },
  {
    name: "leader-not-asked-to-hand-over",
    about: "resets the leader without a handover (T6)",
    stands: ["guard T6"],
    tests: [tables.membership, stories.membership],
    edits: [
      {
        file: reset,
        find: "isVoter && view.voters.length > 1 && view.leader === member",
        replace: "isVoter && view.voters.length > 99",
      },
    ],
  },
  {
    name: "members-of-before-the-wipe",
    about: "judges whether a wiped machine left etcd by lists that are older than the wipe",
    tests: ["testkit/src/stories/late-reset.test.ts"],
    edits: [
      {
        file: reset,
        find: "isToldSince(seen, machine.look) ? memberListed(assessed, facts, fact) : undefined",
        replace: "memberListed(assessed, facts, fact)",
      },
    ],
  },
  {
    name: "removed-while-it-answers",
    about: "removes the member of a machine that answers (INC2, S12)",
    stands: ["INC2", "guard T8"],
    tests: [tables.membership, stories.membership],
    edits: [
      {
        file: memberRemoval,
        find: "if (seen.machines.some(({ declared }) => declared.name === fact.name) || isShown(seen, memberId)) {",
        replace: "if (seen.machines.some(({ declared }) => declared.name === fact.name && false)) {",
      },
    ],
  },
  {
    name: "two-control-planes-at-once",
    about: "disturbs a control plane while another is in the middle of an effect (S11, W6)",
    stands: ["W6", "INC10", "guard T11"],
    tests: [tables.slot],
    edits: [
      {
        file: slot,
        find: "if (open !== undefined && !(open.machine === bid.machine && open.what === bid.under?.what))",
        replace: 'if (open?.machine === "")',
      },
    ],
  },
  {
    name: "new-leader-disturbs-at-once",
    about: "disturbs right after a takeover, when effects of the leader before may still take place (S32)",
    stands: ["INC8", "V1"],
    tests: [tables.slot, tables.membership],
    edits: [{ file: slot, find: 'if (!seen.mayDisturb) return { kind: "takeover" };', replace: "" }],
  },
  {
    name: "all-machines-at-once",
    about: "rolls a change out to everybody at once (W6, S24)",
    stands: ["W6"],
    tests: [stories.changes, stories.drainBoots],
    edits: [
      {
        file: rollout,
        find: "return this.next.length > 0 || this.#isDraining;",
        replace: "return this.next.length > 99 && this.#isDraining;",
      },
      { file: rollout, find: 'if ("holder" in held) return hold(whyHeld(held.holder));', replace: "" },
    ],
  },
  {
    name: "boots-go-around",
    about: "goes on to the next machine with settings that booted the one before (W6)",
    stands: ["W6"],
    tests: [tables.configPlan],
    edits: [{ file: rollout, find: "if (pausing !== undefined) {", replace: "if (pausing !== undefined && wanting.length > 99) {" }],
  },
  {
    name: "held-back-by-whoever",
    about: "takes a boot that another process may have ordered for one that was never sent, because a repetition was held back (S11)",
    stands: ["INC10", "guard T11"],
    tests: [tables.settleConfig],
    edits: [
      {
        file: `${engine}/procedures/configure/config-probe.ts`,
        find: "if (begunHere(seen, intent) === undefined || sentUnder(seen, effect, intent) !== undefined) return undefined;",
        replace: `if (sentUnder(seen, effect, intent) !== undefined) return undefined;
  if (begunHere(seen, intent) === undefined) return sentUnder(seen, "HeldBack", intent)?.detail;`,
      },
    ],
  },
  {
    name: "kept-after-a-glance",
    about: "keeps what a machine tries after a moment, for the clock was set forward (IN35)",
    stands: ["guard T3"],
    tests: [tables.settleConfig],
    edits: [
      {
        file: `${engine}/procedures/configure/settle-config.ts`,
        find: "      seen.soaking?.has(intent.machine) !== true;\n    if (",
        replace: '      seen.soaking?.has("") !== true;\n    if (',
      },
    ],
  },
  {
    name: "forced-by-hand-again",
    about: "sends settings again over what a person gave the machine while it tried them",
    tests: [tables.settleConfig],
    edits: [
      {
        file: `${engine}/procedures/configure/settle-config.ts`,
        find: "before !== undefined && config.activeHash !== before",
        replace: 'before !== undefined && config.activeHash === ""',
      },
    ],
  },
  {
    name: "boots-into-anything",
    about: "boots a machine for settings that somebody else took off its disk meanwhile",
    tests: [tables.configPlan],
    edits: [
      {
        file: `${engine}/procedures/configure/plan.ts`,
        find: "if (isOnDisk && !isSame)",
        replace: "if ((isOnDisk || !isSame) && !isSame)",
      },
    ],
  },
  {
    name: "forgets-what-it-staged",
    about: "stops the rollout at a machine that booted into what another release staged",
    tests: [tables.configPlan],
    edits: [
      {
        file: `${engine}/procedures/configure/plan.ts`,
        find: "if ((isSame || isStagedText(config.activeHash)) &&",
        replace: 'if ((isSame || isStagedText("")) &&',
      },
    ],
  },
  {
    name: "fights-without-end",
    about: "brings a machine back every ten minutes, with a boot, for as long as another tool changes it (IN84)",
    tests: [tables.configPlan],
    edits: [{ file: rollout, find: "reverts.length < 2)", replace: "reverts.length > 0)" }],
  },
  {
    name: "meta-follows-an-address",
    about: "gives a running machine another static address because a reference gives another one of those it has (IN55)",
    tests: [tables.configureMachines],
    edits: [
      {
        file: `${engine}/procedures/join/plan.ts`,
        find: 'look.kind === "running" && fact.metaHash === metaAt(fact.address)',
        replace: 'look.kind === "running" && fact.metaHash === metaAt("192.0.2.1")',
      },
    ],
  },
  {
    name: "booted-twice",
    about: "T11: boots a machine that has booted meanwhile",
    stands: ["guard T11"],
    tests: ["testkit/src/stories/last-looks.test.ts"],
    edits: [
      {
        file: `${engine}/effects/reboot-machine.ts`,
        find: "if (bootId !== action.ifBootId)",
        replace: "if (bootId === action.ifBootId && action.address === '')",
      },
    ],
  },
  {
    name: "budgets-are-hints",
    about: "WL1: deletes pods that a budget keeps (V13)",
    stands: ["V13", "guard WL1"],
    tests: [tables.drainRun, stories.drain],
    edits: [
      {
        file: "operator/src/workload/evict.ts",
        find: `      return cause === undefined
        ? { kind: "later", retryAfterMs }
        : { kind: "blocked", budget: budgetOf(cause.message, namespace), retryAfterMs };`,
        replace: `      await client.resource<PodObject>(podType).delete({ namespace, name });
      return cause === undefined ? { kind: "leaves" } : { kind: "leaves" };`,
      },
    ],
  },
  {
    name: "disturbed-without-a-drain",
    about: "WL1: does not wait for the drain before it disturbs a node",
    stands: ["V11", "V13", "guard WL1"],
    tests: [tables.drain, stories.drain],
    edits: [{ file: `${engine}/disruption/drain.ts`, find: `if (policy.kind === "Skip" ||`, replace: `if (policy.kind !== "Skip" ||` }],
  },
  {
    name: "kubeconfig-unproven",
    about: "gives people whatever a control plane calls a kubeconfig, also one of another cluster or one that ended, over one that works",
    tests: ["testkit/src/stories/access-renewal.test.ts"],
    edits: [
      {
        file: `${engine}/effects/write-kubeconfig.ts`,
        find: "kubeconfigFault(text) ?? kubeconfigDoubt(",
        replace: "kubeconfigFault(text) ?? void kubeconfigDoubt(",
      },
    ],
  },
  {
    name: "kubeconfig-of-the-first",
    about: "W16: asks one control plane for the kubeconfig, and no other when that one hangs",
    tests: ["testkit/src/stories/access-renewal.test.ts", `${engine}/procedures/access/rule.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/access/rule.ts`,
        find: "(asked(a)?.order ?? 0) - (asked(b)?.order ?? 0)",
        replace: "0 * (asked(a)?.order ?? 0) * (asked(b)?.order ?? 0)",
      },
    ],
  },
  {
    name: "record-without-an-end",
    about: "writes machines into the record until etcd takes it no more, and with it the cluster stands still",
    tests: [`${engine}/record/room.test.ts`],
    edits: [
      {
        file: `${engine}/record/room.ts`,
        find: "if (this.#count[fact.role] >= MAX_KNOWN_MACHINES || this.#bytes + sizeOf(fact) > MOST_OF_MACHINES) return false;",
        replace: "",
      },
    ],
  },
  {
    name: "all-wipes-in-one-write",
    about: "writes the wipes of a large cluster down in one write, which etcd does not take: it is never taken down",
    tests: [`${engine}/record/room.test.ts`],
    edits: [{ file: `${engine}/procedures/delete/rule.ts`, find: "intentsLeft <= 0", replace: "intentsLeft <= -1_000_000" }],
  },
  {
    name: "refused-in-silence",
    about: "goes on saying what it would do next while the API server refuses to have it written",
    stands: ["W27"],
    tests: ["testkit/src/stories/refused-writes.test.ts"],
    edits: [
      {
        file: "operator/src/controllers/shared/refused-write.ts",
        find: "if (refusal === undefined) return conditions;",
        replace: 'if (refusal === undefined || refusal !== "") return conditions;',
      },
    ],
  },
  {
    name: "access-of-the-future",
    about: "leaves people with a talosconfig that begins in a year, since the clock of the operator was ahead when it was made",
    tests: [`${engine}/procedures/access/rule.test.ts`],
    edits: [{ file: `${engine}/procedures/access/rule.ts`, find: "validFrom > now + AHEAD_MS", replace: "validFrom > now * 2" }],
  },
  {
    name: "dated-by-a-wrong-clock",
    about: "replaces a talosconfig that works by one that is dated by a clock of which nothing tells that it is right",
    tests: [`${engine}/procedures/access/rule.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/access/rule.ts`,
        find: "isTalosconfigDue && mayBeDated(seen, seen.talosconfig)",
        replace: "isTalosconfigDue",
      },
    ],
  },
  {
    name: "cluster-waits-for-a-refused-pool",
    about: "holds a whole cluster up because the API server refuses a TalosMachine of one pool",
    tests: ["testkit/src/effects/pool-writes.test.ts"],
    edits: [{ file: `${engine}/effects/execute.ts`, find: " && !(result.reason instanceof PoolFailure)", replace: "" }],
  },
  {
    name: "machines-of-nobody",
    about: "makes TalosMachines of a pool that nothing guards yet",
    tests: [`${engine}/procedures/compose/rule.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/compose/rule.ts`,
        find: "metadata.finalizers?.includes(finalizers.talosWorker) === true",
        replace: "metadata.finalizers?.includes(finalizers.talosWorker) !== undefined",
      },
    ],
  },
  {
    name: "names-of-others-awaited",
    about: "waits for ever to make a TalosMachine whose name another's has",
    tests: [stories.names],
    edits: [{ file: `${engine}/procedures/compose/rule.ts`, find: " && !isNameTaken(declared))", replace: ")" }],
  },
  {
    name: "nameless-without-a-word",
    about: "leaves out a control plane whose name a worker has, and says nothing",
    tests: [stories.names],
    edits: [
      {
        file: `${engine}/observe/observe.ts`,
        find: `nameless.some(({ role }) => role === "controlplane")`,
        replace: `nameless.some(({ name }) => name === "")`,
      },
    ],
  },
  {
    name: "no-access-beside-a-wrong-spec",
    about: "lets kubeconfig and talosconfig end while the spec cannot be",
    tests: [stories.access],
    edits: [
      {
        file: `${engine}/gates/safe-spec.ts`,
        find: "{ actions: whatGoesOn(assessed), waiting:",
        replace: "{ actions: whatGoesOn({ ...seen, record: { kind: 'absent' } }), waiting:",
      },
    ],
  },
  {
    name: "even-for-long",
    about: "lets a control plane join that leaves etcd with an even number of members for as long as no other follows",
    tests: [stories.membership],
    edits: [
      {
        file: `${engine}/procedures/join/joins.ts`,
        find: "if (others.length === 0 || others.some(mayFollow)) return undefined;",
        replace: "if (others.length === 0 || others.some(mayFollow) || voters.length > 0) return undefined;",
      },
    ],
  },
  {
    name: "paused-machine-by-the-watch",
    about: "learns from its watch alone that a machine or a pool was paused by itself",
    tests: [stories.pauses],
    edits: [
      {
        file: `${engine}/effects/demand-unpaused.ts`,
        find: `(mode === "disable" || mode === "dryrun")`,
        replace: `mode === "import"`,
      },
    ],
  },
  {
    name: "paused-cluster-by-the-watch-of-a-pool",
    about: "has a pool learn from its watch alone that its control plane was paused",
    tests: [stories.pauses],
    edits: [
      {
        file: `${engine}/effects/execute.ts`,
        find: "if (group.some((action) => asksWord(action, effects.seen))) await",
        replace: 'if (group.some((action) => asksWord(action, effects.seen) && action.kind !== "CreateMachine")) await',
      },
    ],
  },
  {
    name: "late-record-kept",
    about: "leaves a record behind whose creation arrives after its cluster was deleted",
    tests: [stories.lateRecords],
    edits: [
      {
        file: `${engine}/record/late-records.ts`,
        find: "if (record?.spec.clusterId !== clusterId) return;",
        replace: "if (record?.spec.clusterId !== secret) return;",
      },
    ],
  },
  {
    name: "record-with-its-keys-removed",
    about: "takes a record that somebody brought back with its keys for one that arrived late",
    tests: [stories.lateRecords],
    edits: [
      { file: `${engine}/record/late-records.ts`, find: "?.clusterId === clusterId) return;", replace: "?.clusterId === secret) return;" },
    ],
  },
  {
    name: "refused-drain-at-once",
    about: "begins a drain that was refused anew without a pause, thousands of times",
    tests: ["operator/src/workload/cluster-workload.test.ts"],
    edits: [
      { file: "operator/src/workload/cluster-workload.ts", find: "const BEGIN_ANEW_MS = 2_000;", replace: "const BEGIN_ANEW_MS = 0;" },
    ],
  },
  {
    name: "specs-that-arrive-late",
    about: "lets the apply of an older list of machines that arrives late take the newer one back (S19)",
    tests: ["testkit/src/stories/late-specs.test.ts"],
    edits: [
      {
        file: "operator/src/controllers/shared/apply-pool.ts",
        find: "{ uid: read.uid, resourceVersion: read.resourceVersion }",
        replace: "{ uid: read.uid }",
      },
    ],
  },
];

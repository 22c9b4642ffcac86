import { guardWithout, type Stands } from "./guard-without.ts";
import { brain, type Mutant } from "./mutant.ts";

const effect = (name: string): string => `${brain}/effects/${name}.ts`;
const tables = {
  last: "testkit/src/effects/last-looks.test.ts",
  first: "testkit/src/effects/first-looks.test.ts",
  unlisted: `${brain}/effects/demand-unlisted.test.ts`,
  machine: `${brain}/effects/demand-machine.test.ts`,
  guard: `${brain}/effects/guard.test.ts`,
  dialer: "operator/src/looking/checked-dialer.test.ts",
  mode: `${brain}/effects/demand-reconciled.test.ts`,
} as const;

const without = guardWithout(tables);

const everything: readonly Stands[] = ["T2", "T3", "T4", "T6", "T7", "T8", "T9", "T11"];
const wipe = effect("reset-machine");
const handover = effect("forfeit-leadership");
const removal = effect("remove-member");
const change = effect("apply-config");
const boot = effect("reboot-machine");
const meta = effect("write-meta");
const first = effect("configure-machine");
const founding = effect("bootstrap-etcd");
const quorum = effect("demand-quorum");
const unlisted = effect("demand-unlisted");
const deleted = effect("demand-deleted");
const identity = effect("demand-machine");
const guard = `${brain}/effects/guard.ts`;
const dialer = "operator/src/looking/checked-dialer.ts";

/** Every check that an effect on a machine makes right before it sends, each taken out by itself. */
export const effectGuards: readonly Mutant[] = [
  without("the-record", "the record is gone", everything, "guard", [
    guard,
    "if (facts === undefined || !holds(facts))",
    "if (facts !== undefined && !holds(facts))",
  ]),
  without("the-intent", "the record does not hold the intent any more", everything, "guard", [
    guard,
    "if (facts === undefined || !holds(facts))",
    "if (facts === undefined)",
  ]),
  without("the-lease", "another process holds the lease", everything, "guard", [guard, "if (!isLeading)"]),
  without("a-word-at-machines", "the cluster was paused since the caches were read", everything, "guard", [
    guard,
    "      demandReconciled(),\n",
    "      Promise.resolve(demandReconciled).then(() => undefined),\n",
  ]),
  without("the-word", "the cluster says disable or dryrun by now", everything, "mode", [
    effect("demand-reconciled"),
    'if (mode === "disable" || mode === "dryrun" || isImport)',
    "if (isImport)",
  ]),
  without("time-left", "the lease ends before the effect could be answered", everything, "guard", [guard, "if (left < 1_000)"]),
  without("a-deadline", "an effect may be answered after the lease has ended", everything, "guard", [
    guard,
    "return Math.min(LONGEST_EFFECT_MS, left);",
    "return LONGEST_EFFECT_MS;",
  ]),
  without("one-operator", "another operator is at work on an adopted cluster", everything, "guard", [
    guard,
    "if (isAdopted || facts.intents.length > 0) await",
    "if (facts.intents.length > 0 && !isAdopted) await",
  ]),
  without("one-operator-at-disturbances", "another operator is at work while machines are disturbed", everything, "guard", [
    guard,
    "if (isAdopted || facts.intents.length > 0) await",
    "if (isAdopted) await",
  ]),

  without("a-uuid", "another machine answers", ["T4", "T9", "T11"], "machine", [identity, 'if (uuid !== "" && shown.uuid !== uuid)']),
  without("a-network-card", "a clone of the machine answers", ["T4", "T9", "T11"], "machine", [
    identity,
    'if (fact === undefined || identityOf(facts, fact) === "own") return;',
    "if (fact === undefined || fact.name !== '') return;",
  ]),
  without("a-network-card-alone", "another machine answers for one that has no UUID", ["T4", "T9", "T11"], "machine", [
    identity,
    'if (uuid === "" && (fact?.macs ?? []).length === 0) return;',
    'if (uuid === "") return;',
  ]),

  without("a-pinned-connection", "the connection of a configuration takes any key", ["T1", "T2"], "first", [
    first,
    "expectedSpki: ifSpki",
    "expectedSpki: undefined as unknown as string",
  ]),
  without("a-pinned-key", "the key on the connection is not the pinned one", ["T1", "T2"], "first", [
    first,
    "|| client.peerSpki() !== ifSpki)",
    ")",
  ]),
  without("a-waiting-machine", "the machine does not say that it waits", ["T2"], "first", [
    first,
    'if (status?.spec.stage !== "maintenance" || client',
    "if (client",
  ]),
  without("a-declared-machine", "the machine is not declared any more", ["T2"], "first", [
    first,
    'if (spec === undefined || look?.kind !== "maintenance")',
  ]),
  without("an-intent-to-configure", "the record knows of no configuration", ["T2"], "first", [
    first,
    "fact?.configuredAt !== undefined && fact.spki",
    "fact?.spki",
  ]),
  without("the-recorded-key", "the record names another key", ["T2"], "first", [first, "fact.spki === ifSpki && ", ""]),
  without("a-machine-kept", "the record let the machine go", ["T2"], "first", [first, "fact.releasedAt === undefined && ", ""]),
  without("the-recorded-address", "the record knows the machine elsewhere", ["T2"], "first", [
    first,
    " && fact.address === machine.address",
    "",
  ]),

  without("asking-everybody", "no other control plane is asked before etcd is bootstrapped", ["T4"], "first", [
    founding,
    "action.probe.filter((target) => target.machine !== action.machine).map((target) => demandNoEtcd(target, effects)),",
    "action.probe.filter(() => action.machine === '').map((target) => demandNoEtcd(target, effects)),",
  ]),
  without("a-waiting-etcd", "etcd runs on the target", ["T4"], "first", [
    founding,
    "if (!waitsForEtcd(told) && !stoppedWithoutData(told))",
  ]),
  without("the-founding-machine", "another machine stands where etcd is to be bootstrapped", ["T4"], "first", [
    founding,
    "await demandMachine(client, action.machine, action.ifUuid, signal, effects.facts());",
    "",
  ]),
  without("a-reboot-between", "the target still knows that it was asked", ["T4"], "first", [
    founding,
    "if (action.onlyAfterReboot && !hasStopped(etcd) && (bootId",
    "if (action.probe.length < 0 && (bootId",
  ]),
  without("founded-once", "the record says that etcd was bootstrapped", ["T4"], "first", [
    founding,
    "facts.bootstrapDone === undefined && ",
    "",
  ]),
  without("the-founding-intent", "the record names another machine", ["T4"], "first", [
    founding,
    " && facts.bootstrapIntent?.machine === action.machine",
    "",
  ]),
  without("a-machine-that-is-looked-at", "nobody looks at a control plane", ["T4"], "first", [
    founding,
    "if (connections === undefined) throw new EffectError(",
    "if (connections === undefined) return; else if (signal.aborted) throw new EffectError(",
  ]),
  without("the-place-of-a-control-plane", "another machine of the cluster stands in the place of a control plane", ["T4"], "first", [
    founding,
    "&& look.etcd?.hasData === false && !isOther) return;",
    "&& look.etcd?.hasData === false) return;",
  ]),
  without("a-waiting-etcd-elsewhere", "etcd runs on another control plane", ["T4"], "first", [
    founding,
    'if (look.kind === "running" && waitsForEtcd(look.etcd) && look.etcd?.hasData === false && !isOther)',
    'if (look.kind === "running" && !isOther)',
  ]),
  without("an-empty-folder-elsewhere", "a control plane that prepares holds etcd data", ["T4"], "first", [
    founding,
    "waitsForEtcd(look.etcd) && look.etcd?.hasData === false",
    'look.etcd?.service === "Preparing"',
  ]),
  without("an-empty-folder", "the target holds etcd data", ["T4"], "first", [
    founding,
    "const told = hasData === undefined ? etcd : { ...etcd, hasData };",
    "const told = hasData === undefined ? etcd : { ...etcd, hasData: false };",
  ]),
  without("the-key-of-a-waiting-machine", "a stranger waits in the place of a control plane", ["T4"], "first", [
    founding,
    "(!target.wasConfigured || look.spki === target.spki)",
    '(!target.wasConfigured || look.spki !== "")',
  ]),
  without("doubt-about-silence", "a control plane that was configured is silent", ["T4"], "first", [
    founding,
    `if (look.kind === "silent" && !target.wasConfigured) return;`,
    `if (look.kind === "silent") return;`,
  ]),
  without("doubt-about-the-missing", "a control plane that was configured has no address", ["T4"], "first", [
    founding,
    `if (target.address === "" && !target.wasConfigured) return;`,
    `if (target.address === "") return;`,
  ]),

  without("the-wiped-machine", "another machine stands where one is to be wiped", ["T9"], "last", [
    wipe,
    "await demandMachine(client, action.machine, action.ifUuid, signal, effects.facts());",
    "",
  ]),
  without("a-quorum-after-leaving", "a voter leaves though the others lose their quorum", ["T7", "T9"], "last", [
    wipe,
    "if (action.leavesEtcd === true) await",
    "if (action.leavesEtcd !== true && action.machine === '') await",
  ]),
  without("a-handover", "the leader leaves without having handed over", ["T6", "T7"], "last", [
    wipe,
    "if (view.leader === memberId && view.voters.length > 1)",
  ]),
  without("a-look-for-votes", "a machine that should have no vote has one", ["T9"], "last", [
    wipe,
    'if (action.ifUnlisted === "no-voter") await',
    "if (action.machine === '') await",
  ]),
  without("a-look-for-data", "a machine that should hold no etcd holds some", ["T9"], "last", [
    wipe,
    'if (action.ifUnlisted === "no-etcd") await',
    "if (action.machine === '') await",
  ]),
  without("a-person-s-wish", "a machine that leaves is listed", ["T7", "T9"], "last", [
    wipe,
    "        await demandUnlisted(action.machine, effects);\n",
    "",
  ]),
  without("a-deletion-that-stands", "the pool of the machine is not being deleted", ["T9"], "last", [
    deleted,
    "if (live.metadata.deletionTimestamp === undefined)",
  ]),
  without("the-deleted-pool", "another pool of the same name is there", ["T9"], "last", [
    deleted,
    "if (live === undefined || live.metadata.uid !== pool?.metadata.uid)",
    "if (live === undefined)",
  ]),
  without("a-policy-that-stands", "the machines of the pool are to be left as they are by now", ["T9"], "last", [
    deleted,
    'if (live.spec?.deletionPolicy === "preserve")',
  ]),
  without(
    "a-pause-of-the-pool",
    "the pool that is deleted was paused",
    ["T9"],
    "last",
    [deleted, 'if (mode === "disable" || mode === "dryrun")'],
    [effect("demand-unpaused"), 'if (object !== undefined && (mode === "disable" || mode === "dryrun"))'],
  ),
  without("the-same-control-plane", "another object has the name of the control plane", everything, "mode", [
    effect("demand-reconciled"),
    "if (controlPlane !== undefined && controlPlane.metadata.uid !== metadata.uid)",
  ]),
  without("a-wipe-that-is-meant", "the intent is of another kind", ["T9"], "last", [wipe, 'intent.what === "Reset" &&', ""]),
  without("the-machine-of-a-wipe", "the intent is on another machine", ["T9"], "last", [wipe, "intent.machine === action.machine &&", ""]),
  without("the-address-of-a-wipe", "the intent is for another address", ["T9"], "last", [wipe, "intent.address === action.address &&", ""]),
  without("the-uuid-of-a-wipe", "the intent is for another UUID", ["T9"], "last", [
    wipe,
    "intent.uuid === action.ifUuid,",
    "intent.uuid !== '',",
  ]),

  without("the-leading-machine", "another machine stands where the leader is", ["T6"], "last", [
    handover,
    "await demandMachine(client, machine, action.ifUuid, signal, effects.facts());",
    "",
  ]),
  without("a-leader", "the machine does not lead", ["T6"], "last", [handover, "if (view.leader !== memberId) return;", ""]),
  without("a-handover-that-is-meant", "the intent is of another kind", ["T6"], "last", [handover, 'intent.what === "Reset" && ', ""]),
  without("the-machine-of-a-handover", "the intent is on another machine", ["T6"], "last", [
    handover,
    "intent.machine === machine && ",
    "",
  ]),
  without("the-uuid-of-a-handover", "the intent is for another UUID", ["T6"], "last", [handover, " && intent.uuid === action.ifUuid", ""]),

  without("the-witness", "another machine stands where the removal is asked for", ["T8"], "last", [
    removal,
    "await demandMachine(client, via.machine, via.ifUuid, signal, effects.facts());",
    "",
  ]),
  without("a-member-that-is-gone", "a machine answers and shows the member", ["T8"], "last", [
    removal,
    "if (owner !== undefined && !isLeaving)",
  ]),
  without("a-wish-to-remove", "the machine of the member is listed", ["T8"], "last", [
    removal,
    "      await demandUnlisted(machine, effects);\n",
    "",
  ]),
  without("a-removal-that-is-meant", "the intent is of another kind", ["T8"], "last", [
    removal,
    'intent.what === "Reset" && isContainerFact(facts, machine)),',
    "true),",
  ]),
  without("the-machine-of-a-removal", "the intent is on another machine", ["T8"], "last", [removal, "intent.machine === machine &&", ""]),
  without("the-member-of-a-removal", "the intent is for another member", ["T8"], "last", [
    removal,
    "? intent.memberId === memberId",
    "? true",
  ]),

  without("a-member-of-its-own", "a machine does not tell which member is its own", ["T7", "T11"], "last", [
    quorum,
    'if (memberId === undefined || memberId === "none")',
    "if (memberId === 'none')",
  ]),
  without("agreement", "members tell different lists", ["T6", "T7", "T8", "T11"], "last", [
    quorum,
    `if (view.kind === "unsafe") throw new EffectError("PRECONDITION_GONE", view.message);
  const isOnly`,
    `if (view.kind === "unsafe") return { view: { voters: [], leader: memberId } as never, memberId, shownBy: new Map() };
  const isOnly`,
  ]),
  without("a-settled-etcd", "a member is joining", ["T7", "T11"], "last", [
    quorum,
    "const view = isJoining ? all : settled(all);",
    "const view = isJoining || all.kind === 'known' ? all : settled(all);",
  ]),
  without("a-projection", "etcd would lose its quorum", ["T7", "T8", "T11"], "last", [
    quorum,
    'if (!projection.isSafe && !(isOnly && demand.how === "is-down"))',
  ]),
  without("answers-of-the-right-machine", "a machine answers for another one", ["T7", "T8", "T11"], "last", [
    quorum,
    "return isOther ? [] : [{ machine: declared.name, look }];",
    "return [{ machine: declared.name, look, isOther }];",
  ]),
  without("a-member-that-is-told", "a machine that should have no vote does not tell", ["T9"], "last", [
    quorum,
    `if (own === undefined) throw new EffectError("PRECONDITION_GONE", \`\${machine} does not tell which member of etcd is its own\`);
  if (view.kind === "unsafe") throw new EffectError("PRECONDITION_GONE", view.message);
  if (view.voters`,
    `if (view.kind === "unsafe") throw new EffectError("PRECONDITION_GONE", view.message);
  if (view.voters`,
  ]),
  without("a-list-to-look-in", "nobody can tell who votes", ["T9"], "last", [
    quorum,
    'if (view.kind === "unsafe") throw new EffectError("PRECONDITION_GONE", view.message);\n  if (view.voters',
    'if (view.kind === "unsafe") return;\n  if (view.voters',
  ]),
  without("a-look-at-the-voters", "the machine is a voter", ["T9"], "last", [quorum, "if (view.voters.some(({ id }) => id === own))"]),

  without("a-control-plane", "the control plane is not there, or is another one", ["T7", "T8", "T9"], "unlisted", [
    unlisted,
    "if (controlPlane === undefined || controlPlane.metadata.uid !== uid) throw",
    "if (controlPlane === undefined) throw",
  ]),
  without("a-pool", "the pool is not there", ["T9"], "unlisted", [unlisted, "if (poolName !== undefined && worker === undefined)"]),
  without("a-pool-that-stays", "the pool is being deleted", ["T7", "T8", "T9"], "unlisted", [
    unlisted,
    "if (pool.metadata.deletionTimestamp !== undefined)",
  ]),
  without("a-pool-that-is-reconciled", "the pool is paused", ["T7", "T8", "T9"], "unlisted", [
    unlisted,
    'if (reconcileModeOf(pool.metadata) !== "reconcile")',
  ]),
  without("the-list", "the pool lists the machine", ["T7", "T8", "T9"], "unlisted", [unlisted, "if (namesIn(pool).includes(machine))"]),
  without("the-list-of-references", "the pool lists a reference of its name", ["T7", "T8", "T9"], "unlisted", [
    unlisted,
    "...(machineRef?.name === undefined ? []",
    "...(machineRef?.name !== undefined || machineRef === undefined ? []",
  ]),
  without("a-pool-of-this-cluster", "the pool belongs to another control plane", ["T9"], "unlisted", [
    unlisted,
    "if (worker !== undefined && worker.spec?.controlPlaneRef?.name !== name)",
  ]),
  without("hand-made-machines", "the machine was made by hand and is there", ["T7", "T8", "T9"], "unlisted", [
    unlisted,
    "if (isHandMade && object.metadata.deletionTimestamp === undefined)",
  ]),

  without("the-changed-machine", "a clone stands where a configuration is to change", ["T3"], "last", [
    change,
    "  await demandMachine(client, action.machine, question.uuid, signal, effects.facts());\n",
    "",
  ]),
  without("the-seen-configuration", "the configuration changed since the decision", ["T3"], "last", [
    change,
    "if (seen.activeHash !== action.ifActiveHash) throw",
    "if (seen.activeHash === '') throw",
  ]),
  without("a-fitting-mode", "the change needs more than its mode does", ["T3"], "last", [change, "if (!fits)"]),
  without("a-quorum-while-tried", "etcd would lose its quorum while a configuration is tried", ["T3"], "last", [
    change,
    'if (action.mode === "try" && question.input.role === "controlplane")',
  ]),
  without("the-declared-settings", "the settings are other ones by now", ["T3"], "last", [
    change,
    "if (question === undefined || question.settings !== action.settings)",
    "if (question === undefined)",
  ]),
  without("time-to-arrive", "the call could arrive after its intent is over", ["T3"], "last", [
    effect("demand-in-time"),
    "if (intent !== undefined && effects.clock.now() + timeoutMs <= intent.at + ARRIVES_MS) return;",
    "if (intent === undefined || effects.clock.now() + timeoutMs > ARRIVES_MS) return;",
  ]),
  without("the-settings-of-a-change", "the intent is for other settings", ["T3"], "last", [
    change,
    "return intent?.configHash === action.settings && intent.applyMode === action.mode",
    "return intent?.applyMode === action.mode",
  ]),
  without("the-mode-of-a-change", "the intent is for another mode", ["T3"], "last", [change, " && intent.applyMode === action.mode", ""]),
  without("the-uuid-of-a-change", "the intent is for another UUID", ["T3"], "last", [
    change,
    "intent.applyMode === action.mode && intent.uuid === action.ifUuid",
    "intent.applyMode === action.mode",
  ]),
  without("the-kept-configuration", "the configuration is not the one that was looked at", ["T3"], "last", [
    change,
    "if (seen.activeHash !== action.ifActiveHash || seen.changes.length > 0)",
    "if (seen.changes.length > 0)",
  ]),
  without("the-tried-configuration", "the configuration is not the wanted one", ["T3"], "last", [
    change,
    "if (seen.activeHash !== action.ifActiveHash || seen.changes.length > 0)",
    "if (seen.activeHash !== action.ifActiveHash)",
  ]),
  without("the-settings-of-a-trial", "the intent is for other settings", ["T3"], "last", [
    change,
    'return intent?.configHash === action.settings && intent.applyMode === "try"',
    'return intent?.applyMode === "try"',
  ]),
  without("the-mode-of-a-trial", "the intent is for no trial", ["T3"], "last", [change, ' && intent.applyMode === "try"', ""]),
  without("the-uuid-of-a-trial", "the intent is for another UUID", ["T3"], "last", [
    change,
    'intent.applyMode === "try" && intent.uuid === action.ifUuid',
    'intent.applyMode === "try"',
  ]),

  without("the-booted-machine", "a clone stands where a machine is to be booted", ["T11"], "last", [
    boot,
    "await demandMachine(client, action.machine, action.ifUuid, signal, effects.facts());",
    "",
  ]),
  without("the-boot-of-then", "the machine has booted meanwhile", ["T11"], "last", [boot, "if (bootId !== action.ifBootId)"]),
  without("a-quorum-while-down", "etcd would lose its quorum while a machine boots", ["T11"], "last", [
    boot,
    'if (action.role === "controlplane") await',
    "if (action.machine === '') await",
  ]),
  without("the-boot-that-is-meant", "the intent is for another boot", ["T11"], "last", [
    boot,
    "return intent?.bootIdBefore === action.ifBootId && intent.uuid",
    "return intent?.uuid",
  ]),
  without("the-uuid-of-a-boot", "the intent is for another UUID", ["T11"], "last", [boot, " && intent.uuid === action.ifUuid", ""]),

  without("the-machine-of-meta", "a clone stands where META is to be written", ["T3"], "last", [
    meta,
    "await demandMachine(client, action.machine, action.ifUuid, effects.signal, effects.facts());",
    "",
  ]),
  without("the-declared-meta", "the settings of META are other ones by now", ["T3"], "last", [
    meta,
    "if (wanted?.hash !== action.settings) throw",
    "if (wanted === undefined) throw",
  ]),
  without("the-seen-meta", "META changed since the decision", ["T3"], "last", [meta, "if (live !== action.ifLive)"]),
  without("a-quorum-while-meta-is-written", "etcd would lose its quorum while META is written", ["T3"], "last", [
    meta,
    'if (action.role === "controlplane") await',
    "if (action.machine === '') await",
  ]),
  without("the-settings-of-meta", "the intent is for other settings", ["T3"], "last", [
    meta,
    "return intent?.configHash === action.settings && intent.uuid",
    "return intent?.uuid",
  ]),
  without("the-uuid-of-meta", "the intent is for another UUID", ["T3"], "last", [meta, " && intent.uuid === action.ifUuid", ""]),

  without("denied-addresses", "an address is one where no machine can be", ["T1", "T2"], "dialer", [
    dialer,
    '"kind" in host && host.kind === "ip" && deniedHost(host, hosts) === undefined',
    '"kind" in host && host.kind === "ip"',
  ]),
  without("denied-names", "a name is one that leads to no machine", ["T1", "T2"], "dialer", [
    dialer,
    "  if (denied !== undefined) throw",
    "  if (denied !== undefined && host.kind === 'ip') throw",
  ]),
  without("denied-answers", "DNS leads to an address where no machine can be", ["T1", "T2"], "dialer", [
    dialer,
    "if (problem !== undefined)",
  ]),
  without("a-limit-of-answers", "DNS gives very many addresses", ["T1", "T2"], "dialer", [dialer, "if (found.length > MAX_ADDRESSES)"]),
  without("an-answer", "DNS gives no address", ["T1", "T2"], "dialer", [dialer, "if (found.length === 0)"]),
  without("the-checked-address", "the connection goes to the name that was checked", ["T1", "T2"], "dialer", [
    dialer,
    'return { address: first?.text ?? "", serverName: host.text };',
    "return { address: first === undefined ? '' : host.text, serverName: host.text };",
  ]),
];

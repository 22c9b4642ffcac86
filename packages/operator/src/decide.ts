import { conditionFor } from "@talos-operator/api";
import type { ConditionInput, ControlPlaneState, ReadyReason, ReasonOf } from "@talos-operator/api";
import { withOutlook } from "./controllers/shared/outlook.ts";
import { pausedCondition } from "./controllers/shared/mode.ts";
import { settledOr } from "./controllers/shared/settled.ts";
import { isChangingConfig } from "./procedures/configure/config-intents.ts";
import { describe } from "./report/describe.ts";
import { blockedByEdit, editRefused } from "./report/edit-refused.ts";
import { configConditions } from "./report/describe-config.ts";
import { riskConditions } from "./report/describe-risk.ts";
import { waitingOfEndpoint } from "./report/endpoint-reachable.ts";
import { removalConditions, removalRows, removalsOf } from "./report/describe-removal.ts";
import { etcdLeaderOf } from "./report/etcd-leader.ts";
import { headlineOf } from "./report/headline.ts";
import { upgradeStatusOf } from "./report/upgrade-progress.ts";
import { withoutHeld } from "./observe/pauses.ts";
import { brokenBy } from "./invariants/broken.ts";
import { controlPlaneIntent } from "./record/facts.ts";
import { openRun, upgradeIntents } from "./record/upgrades.ts";
import { signed } from "./record/journal.ts";
import { foresee } from "./planning/foresee.ts";
import { dryRunCondition, notLookedYet } from "./planning/dry-run-condition.ts";
import { answerAnnotations } from "./procedures/annotations/rule.ts";
import { keepAccess } from "./procedures/access/rule.ts";
import { refuseBesideAnother } from "./gates/beside-another.ts";
import { bootstrapOnce } from "./procedures/bootstrap/rule.ts";
import { careForEtcd, defragmentEtcd, releaseCare } from "./procedures/care/rule.ts";
import { changeConfig } from "./procedures/configure/rule.ts";
import { composeMachines } from "./procedures/compose/rule.ts";
import { configureMachines } from "./procedures/join/rule.ts";
import { finishDeletion } from "./procedures/delete/rule.ts";
import { importCluster } from "./procedures/import/rule.ts";
import { keepFinalizers } from "./procedures/delete/keep-finalizer.ts";
import { keepKeys } from "./gates/keep-keys.ts";
import { honourReconcileMode } from "./gates/reconcile-mode.ts";
import { releaseConfig, settleConfig } from "./procedures/configure/settle-config.ts";
import { moveEndpoint } from "./procedures/endpoint/rule.ts";
import { changeMembership, rememberMembers } from "./procedures/remove/rule.ts";
import { releasePools } from "./procedures/delete/release-pools.ts";
import { removeStrays } from "./procedures/strays/rule.ts";
import { rememberVersions } from "./procedures/versions/rule.ts";
import { refuseUnsafeSpec, whatGoesOn } from "./gates/safe-spec.ts";
import { settleUpgrade } from "./procedures/upgrade/settle.ts";
import { upgradeTalos } from "./procedures/upgrade/rule.ts";
import { tendCertificates } from "./procedures/certificates/rule.ts";
import { hasNodesToTend, tendNodes } from "./procedures/nodes/rule.ts";
import { waitOrSettle } from "./gates/wait.ts";
import type { Decision, Plan, Rule } from "./model/decision.ts";
import type { Observed } from "./model/observation.ts";
import type { IntentKind } from "./model/record.ts";
import type { Verdict, Waiting } from "./model/plans.ts";
import type { Assessment } from "./model/assessment.ts";

/** The rules of the brain, most urgent first. A test replaces one to show that the harness notices. */
export const defaultRules: readonly Rule[] = [
  honourReconcileMode,
  refuseBesideAnother,
  importCluster,
  releaseConfig,
  releasePools,
  releaseCare,
  finishDeletion,
  refuseUnsafeSpec,
  keepFinalizers,
  keepKeys,
  composeMachines,
  answerAnnotations,
  bootstrapOnce,
  careForEtcd,
  removeStrays,
  tendNodes,
  settleConfig,
  settleUpgrade,
  configureMachines,
  changeMembership,
  moveEndpoint,
  changeConfig,
  upgradeTalos,
  keepAccess,
  tendCertificates,
  rememberMembers,
  rememberVersions,
  defragmentEtcd,
  waitOrSettle,
];

/** Where a settled cluster is looked at again without an event. */
const SETTLED_LOOK_MS = 30_000;

/** Where a cluster that waits is looked at again without an event; changes that machines show wake the brain at once. */
const WAITING_LOOK_MS = 10_000;

/** While an effect on a running machine is open. */
const BUSY_LOOK_MS = 2_000;

/** How often a dry run looks again without an event. */
const DRY_RUN_LOOK_MS = 30_000;

/** By then every machine was asked, or does not answer. */
export const FIRST_LOOKS_MS = 8_000;

/** The first rule that has something to say ends the pass; conditions always describe everything that was concluded. Pure, total, synchronous. */
export function decide(assessed: Assessment, rules: readonly Rule[] = defaultRules): Decision {
  const { seen } = assessed;
  if (seen.mode === "dryrun") return described(seen, rules);
  for (const rule of rules) {
    const verdict = withoutHeld(rule.decide(assessed), seen);
    if (verdict !== undefined) return asserted(assessed, rule.name, signed(verdict, rule.name, seen));
  }
  return decisionOf(assessed, "none", { actions: [], waiting: { reason: "Unobserved", message: "No rule had anything to say." } });
}

/**
 * The decision, or, where its actions would break what no pass may break, one that does none of them and says so: whoever goes on wrongly cannot take it back, and
 * whoever stops can be helped. What keeps people's access goes on.
 */
function asserted(assessed: Assessment, rule: string, verdict: Verdict): Decision {
  const { seen } = assessed;
  const broken = seen.mode === "reconcile" ? brokenBy(assessed, verdict.actions) : undefined;
  if (broken === undefined) return decisionOf(assessed, rule, verdict);
  const message = `Nothing is sent: what was decided (${rule}) would break ${broken.id}: ${broken.says} ${broken.detail}.`;
  const held = decisionOf(assessed, rule, { actions: whatGoesOn(assessed), waiting: { reason: "InvariantBroken", message } });
  return { ...held, broken };
}

/** A dry run: the plan as a condition, and no action whatever the plan holds. */
function described(seen: Observed, rules: readonly Rule[]): Decision {
  const plan = foresee(seen, rules);
  return {
    rule: "dryRun",
    actions: [],
    conditions: [pausedCondition("dryrun"), describePlan(plan, seen)],
    state: stateWord(seen, undefined),
    requeueAfterMs: DRY_RUN_LOOK_MS,
    plan,
  };
}

/** The plan under its type. It carries no generation: it is about the world as much as about the spec. */
function describePlan(plan: Plan, seen: Observed): ConditionInput {
  // The first looks take a moment; a plan made before them would be told twice.
  if (
    seen.machines.some(({ look }) => look.kind === "not-asked" || look.kind === "silent") &&
    seen.now - seen.watchedSince < FIRST_LOOKS_MS
  )
    return notLookedYet;
  return dryRunCondition(plan);
}

function decisionOf(assessed: Assessment, rule: string, verdict: Verdict): Decision {
  const { seen } = assessed;
  const generation = seen.controlPlane.metadata.generation;
  // A paused object hears one word and nothing else.
  if (seen.mode !== "reconcile")
    return { rule, actions: [], conditions: verdict.conditions ?? [], state: stateWord(seen, undefined), requeueAfterMs: undefined };
  const waiting = ownWaiting(verdict, assessed);
  const isMet = waiting === undefined && assessed.waiting === undefined;
  const awaited = waiting ?? waitingOfEndpoint(seen);
  const tended = tendsEtcd(assessed, verdict);
  const isBusy = isChangingConfig(seen) || isUpgrading(assessed) || tended !== undefined;
  const requeueAfterMs =
    verdict.requeueAfterMs ?? (isBusy ? BUSY_LOOK_MS : isMet && !hasNodesToTend(assessed) ? SETTLED_LOOK_MS : WAITING_LOOK_MS);
  const ready =
    awaited === undefined
      ? conditionFor("Ready", "AllReady", "etcd is healthy and every control plane node is ready.", generation)
      : conditionFor("Ready", awaited.reason, withOutlook(awaited), generation);
  const said = verdict.conditions ?? [];
  const refused = editRefused(seen);
  const standing = [
    ...describe(assessed),
    ...configConditions(assessed),
    ...removalConditions(assessed),
    ...riskConditions(assessed),
    ...refused,
  ];
  const conditions: readonly ConditionInput[] = [
    ready,
    // What goes on does so whatever answers at the endpoint.
    refused.length > 0 ? blockedByEdit(generation) : headed(assessed, progressing(isBusy ? waiting : awaited, assessed, standing, tended)),
    ...standing,
    ...said,
    ...(said.some(({ type }) => type === "Deleting") ? [] : (assessed.goingPools?.conditions ?? [])),
  ];
  return {
    rule,
    actions: verdict.actions,
    removals: removalRows(removalsOf(assessed)),
    upgrade: upgradeStatusOf(
      assessed,
      seen.machines.filter(({ declared }) => declared.owner.kind === "TalosControlPlane"),
    ),
    etcdLeader: etcdLeaderOf(assessed),
    conditions,
    state: stateWord(seen, awaited === undefined ? "Ready" : undefined),
    isMet,
    requeueAfterMs,
    isBusy,
  };
}

/**
 * What the control plane waits for: never only a worker, nor that a person corrects an edit. A rule that only acts says nothing about the rest: that a Secret is
 * renewed does not make a cluster unready.
 */
function ownWaiting({ waiting }: Verdict, assessed: Assessment): Waiting | undefined {
  if (waiting?.ofEdit === true) return assessed.ownWaiting;
  return waiting === undefined || waiting === assessed.waiting || waiting.ofWorkers === true ? assessed.ownWaiting : waiting;
}

/** `Progressing` by what is waited for. */
function progressing(
  waiting: Waiting | undefined,
  assessed: Assessment,
  standing: readonly ConditionInput[],
  tended: string | undefined,
): ConditionInput {
  const { seen } = assessed;
  const { generation } = seen.controlPlane.metadata;
  if (isUpgrading(assessed) && (waiting === undefined || PASSING.has(waiting.reason)))
    return conditionFor("Progressing", "UpgradingTalos", assessed.upgrade?.says || "See UpgradePending.", generation);
  if (waiting === undefined && isChangingConfig(seen))
    return conditionFor("Progressing", "ChangingConfiguration", "See ConfigUpToDate.", generation);
  if (waiting === undefined && tended !== undefined) return conditionFor("Progressing", "TendingEtcd", tended, generation);
  if (waiting === undefined) return settledOr(standing, generation);
  const reason = progressReason(waiting, seen);
  return conditionFor("Progressing", reason, reason === "Blocked" ? "See Ready." : waiting.message, generation);
}

/** With what goes on in one sentence: what is waited for stands in `Ready`. */
function headed(assessed: Assessment, progress: ConditionInput): ConditionInput {
  const headline = progress.status === "True" ? headlineOf(assessed, progress.reason) : undefined;
  return headline === undefined ? progress : { ...progress, message: headline };
}

/** What a machine that boots another Talos brings along. */
const PASSING: ReadonlySet<ReadyReason> = new Set([
  "EtcdUnhealthy",
  "Joining",
  "Booting",
  "NodesNotReady",
  "MachineUnreachable",
  "Restarting",
]);

/** A run is open, or a step of one. */
function isUpgrading({ facts }: Assessment): boolean {
  return openRun(facts) !== undefined || upgradeIntents(facts).length > 0;
}

/** What is being done to etcd, or is about to, and was not asked for by a spec: a sentence; `undefined` = nothing. */
function tendsEtcd({ facts }: Assessment, { actions }: Verdict): string | undefined {
  const written = actions.find((action) => action.kind === "WriteRecord");
  const open = controlPlaneIntent(written?.facts ?? facts);
  const what = open === undefined ? undefined : OF_ETCD[open.what];
  return open === undefined || what === undefined ? undefined : `${what} ${open.machine}. ${open.why}`;
}

/** What is done to etcd, and with a machine's name after it. */
const OF_ETCD: Partial<Record<IntentKind, string>> = {
  Defragment: "Defragmenting etcd on",
  DisarmAlarms: "Disarming the alarms of etcd on",
  ReplaceMember: "Replacing the etcd member of",
  RemoveStray: "Removing a stray member of etcd through",
};

function progressReason(waiting: Waiting, seen: Observed): ReasonOf<"Progressing"> {
  switch (waiting.reason) {
    case "Unobserved":
      return "Configuring";
    case "WaitingForMachines":
    case "MachineUnreachable":
      return "WaitingForMachines";
    case "Bootstrapping":
      return "Bootstrapping";
    case "EtcdUnhealthy":
      return isChangingConfig(seen) ? "ChangingConfiguration" : "WaitingForEtcd";
    case "Restarting":
      return isChangingConfig(seen) ? "ChangingConfiguration" : "WaitingForNodes";
    case "Joining":
      return isChangingConfig(seen) ? "ChangingConfiguration" : "Joining";
    case "Composing":
    case "Configuring":
      return waiting.reason;
    case "Booting":
    case "NodesNotReady":
    case "EndpointPending":
      return "WaitingForNodes";
    case "Deleting":
      return "Deleting";
    case "Removing":
      return "Removing";
    default:
      return "Blocked";
  }
}

/** The published word. Never goes back from `Bootstrapped` once etcd was bootstrapped, and is `Ready` exactly while the condition is. */
function stateWord(seen: Observed, ready: "Ready" | undefined): ControlPlaneState {
  if (ready !== undefined) return ready;
  if (seen.record.kind === "present" && seen.record.value.facts.bootstrapDone !== undefined) return "Bootstrapped";
  // While the record is away, the word that says that the cluster exists stays.
  const told = seen.controlPlane.status?.state;
  if (seen.record.kind !== "present" && (told === "Bootstrapped" || told === "Ready")) return "Bootstrapped";
  const controlPlanes = seen.machines.filter((machine) => machine.declared.role === "controlplane");
  return controlPlanes.length > 0 && controlPlanes.every((machine) => machine.look.kind === "running") ? "Available" : "Pending";
}

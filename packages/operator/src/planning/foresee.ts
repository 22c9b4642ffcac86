import { labels } from "@talos-operator/api";
import { sayPlan } from "@talos-operator/talos";
import { hasFailed, isStored } from "../controllers/talosetcdbackup/phase.ts";
import { asTaken } from "../effects/take-snapshot.ts";
import { stateOf } from "../assess/machine-state.ts";
import { hazardIn, withheldIn } from "../report/describe-config.ts";
import { endpointMove } from "../report/endpoint-move.ts";
import { namedEndpoint } from "../procedures/endpoint/wish.ts";
import { schematicsKept } from "../report/schematics-kept.ts";
import { upgradePending } from "../report/upgrade-state.ts";
import { withoutHeld } from "../observe/pauses.ts";
import { factsOf, intentOn, machineFact, mayHoldConfig } from "../record/facts.ts";
import { despiteAlarms, etcdQuorum, projectWithout } from "../assess/quorum.ts";
import { waitingOf } from "../gates/wait.ts";
import { asIfBooted } from "./afterwards.ts";
import { withAssumedNodes } from "./afterwards-nodes.ts";
import { forecastOf } from "./forecast-of.ts";
import { hashOfSteps } from "./plan.ts";
import { sayForecast } from "./upgrade-forecast.ts";
import { upgradePlanOf } from "./upgrade-plan.ts";
import { definitionOf } from "../effects/definitions.ts";
import { joined, onMachine } from "./step-of.ts";
import { BAKE_MS } from "../procedures/upgrade/times.ts";
import { isUpgrade } from "../record/upgrades.ts";
import type { Step, StepWords } from "./step-of.ts";
import type { Action } from "../model/effect.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { Assessment } from "../model/assessment.ts";
import type { Plan, Rule } from "../model/decision.ts";
import type { Verdict, Waiting } from "../model/plans.ts";
import { assess } from "../assess/assess.ts";

/** Passes that are played at most; a cluster of a thousand machines needs a few dozen. */
const MOST_PASSES = 400;

/**
 * Plays the rules forward from what was seen, and tells what would be done: each action in its order, and each wait with what it is for.
 *
 * Every effect is assumed to go as it should, and a machine that was never heard of to wait in maintenance mode when its turn comes; both are said.
 * Where the outcome cannot be foreseen the plan ends and says so. Nothing is touched: it is a function of plain data.
 */
export function foresee(from: Observed, rules: readonly Rule[]): Plan {
  const { plan, seen } = playForward(from, rules);
  const isGoing = from.controlPlane.metadata.deletionTimestamp !== undefined;
  // What is left then, and why, for what the steps bring is in the plan.
  const { upgrade, configs } = assess(seen);
  const stopped = upgrade?.kind === "stopped" ? upgrade : undefined;
  const pending = isGoing ? [] : upgradePending(seen, seen.machines, undefined, undefined, stopped).map(({ message }) => message);
  const skews = isGoing ? [] : skewsOf(seen);
  const hazard = isGoing ? undefined : hazardIn(configs);
  const withheld = isGoing ? undefined : withheldIn(seen, configs);
  const moving = isGoing ? [] : endpointMove(seen).map(({ message }) => message);
  const left = [hazard?.message, withheld, ...pending, ...skews, ...moving, isGoing ? undefined : schematicsKept(seen.machines)]
    .filter((words) => words !== undefined)
    .join(" ");
  // Machines that a person holds up do not boot.
  const reached =
    stopped === undefined ? undefined : new Set(plan.steps.flatMap(({ effect, machines }) => (effect === "upgrade" ? machines : [])));
  const expected = isGoing ? undefined : forecastOf(assess(from), reached);
  return {
    ...plan,
    ...(expected === undefined ? {} : { forecast: [`${hopsOf(from)}${sayForecast(expected)}`, ...(from.ahead?.says ?? [])].join(" ") }),
    ...(left === "" ? {} : { pending: left }),
  };
}

/** Pools that ask for another Kubernetes than their control plane does, as the condition of each says it. */
function skewsOf(seen: Observed): readonly string[] {
  return seen.workers.flatMap(({ metadata, spec }) => {
    const asked = spec?.kubeVersion;
    if (asked === undefined || asked === seen.controlPlane.spec?.kubeVersion || metadata.deletionTimestamp !== undefined) return [];
    return upgradePending(seen, [], undefined, asked).map(({ message }) => `TalosWorker ${metadata.name}: ${message}`);
  });
}

/** The hops of the way there, as a sentence. */
function hopsOf(seen: Observed): string {
  const words = sayPlan(upgradePlanOf(seen));
  return words === "" ? "" : `${words[0]?.toUpperCase() ?? ""}${words.slice(1)}. `;
}

/** Every member that is told: one that is nobody's still is, by the time its turn comes. */
function membersOf({ machines }: Observed): ReadonlySet<string> {
  return new Set(machines.flatMap(({ look }) => (look.kind === "running" ? (look.etcd?.members ?? []).map(({ id }) => id) : [])));
}

function playForward(from: Observed, rules: readonly Rule[]): { readonly plan: Plan; readonly seen: Observed } {
  let seen: Observed = withAssumedNodes({
    ...withoutSnapshot(from),
    ...accessOf(from),
    ...withEndpointReached(from),
    mode: "reconcile",
    mayDisturb: true,
    strays: membersOf(from),
  });
  const steps: Step[] = [];
  let waiting: Waiting | undefined;
  let last = "";
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const assessed = assess(seen);
    const verdict = verdictOn(assessed, rules);
    if (verdict === undefined || verdict.actions.length === 0) {
      waiting = verdict?.waiting ?? (verdict === undefined ? { reason: "Unobserved", message: "No rule had anything to say." } : undefined);
      const booted = waiting === undefined ? undefined : bootedNext(seen, pass);
      if (booted === undefined) return { plan: planOf(steps, waiting, true), seen };
      steps.push(...booted.steps);
      seen = booted.seen;
      continue;
    }
    waiting = verdict.waiting ?? waitingOf(assessed);
    const words = JSON.stringify(verdict.actions);
    // A rule that says the same again waits for something that only time or a machine can bring.
    if (words === last) return { plan: planOf(steps, waiting, false), seen };
    last = words;
    const next = carriedOut(seen, verdict.actions, { steps, pass });
    if (next.kind === "ends") return { plan: planOf(steps, next.waiting, next.isWhole), seen };
    seen = next.seen;
  }
  return { plan: planOf(steps, waiting, false), seen };
}

/** A snapshot that is being taken has ended by the time that the plan is carried out. */
function withoutSnapshot(seen: Observed): Observed {
  const from = withSnapshotsTaken(seen);
  if (from.record.kind !== "present" || from.record.value.facts.snapshot === undefined) return from;
  const { snapshot: _ends, ...facts } = from.record.value.facts;
  return { ...from, record: { kind: "present", value: { ...from.record.value, facts } } };
}

/** And one that is taken before control planes leave has gone well. */
function withSnapshotsTaken(seen: Observed): Observed {
  if (seen.snapshots === undefined) return seen;
  const backups = seen.snapshots.backups.map((backup) =>
    backup.metadata.labels?.[labels.beforeRisk] === undefined || isStored(backup.status) || hasFailed(backup.status)
      ? backup
      : asTaken(backup, seen.now),
  );
  return { ...seen, snapshots: { ...seen.snapshots, backups } };
}

/** A new endpoint leads to the cluster by the time that the plan is carried out: before it does, nothing is sent. */
function withEndpointReached(seen: Observed): Pick<Observed, "nextEndpoint"> {
  const url = namedEndpoint(seen);
  return url === "" ? {} : { nextEndpoint: { url, seen: { kind: "answered", answer: { kind: "reached", detail: "" }, isSure: true } } };
}

/** Before etcd is bootstrapped nobody asks for the access Secrets: there are none. */
function accessOf({ record, kubeconfig, talosconfig }: Observed): Pick<Observed, "kubeconfig" | "talosconfig"> {
  const isFounded = record.kind === "present" && record.value.facts.bootstrapDone !== undefined;
  return isFounded ? { kubeconfig, talosconfig } : { kubeconfig: { kind: "absent" }, talosconfig: { kind: "absent" } };
}

function verdictOn(assessed: Assessment, rules: readonly Rule[]): Verdict | undefined {
  for (const rule of rules) {
    const verdict = withoutHeld(rule.decide(assessed), assessed.seen);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

/** Adds the steps of one pass and gives the world after them. */
function carriedOut(
  from: Observed,
  actions: readonly Action[],
  { steps, pass }: { readonly steps: Step[]; readonly pass: number },
):
  | { readonly kind: "goes-on"; readonly seen: Observed }
  | { readonly kind: "ends"; readonly waiting: Waiting | undefined; readonly isWhole: boolean } {
  let seen = from;
  const baking: Step[] = [];
  for (const action of actions) {
    const definition = definitionOf(action);
    const words = definition.step(action, seen);
    const quorum = words === undefined ? undefined : UNDISTURBING.has(action.kind) ? undefined : quorumAt(seen, words);
    if (words !== undefined) steps.push({ ...words, action: action.kind, pass, ...(quorum === undefined ? {} : { quorum }) });
    baking.push(...bakeTimeAfter(action, seen, pass));
    const next = definition.afterwards(seen, action);
    if (next === undefined) {
      // With the finalizer of the control plane the object is gone: nothing is left to plan.
      if (action.kind === "RemoveFinalizer") return { kind: "ends", waiting: undefined, isWhole: true };
      const waiting: Waiting = {
        reason: "Unobserved",
        message: `What follows depends on what ${words?.machine ?? "the cluster"} shows then.`,
      };
      return { kind: "ends", waiting, isWhole: false };
    }
    seen = next;
  }
  steps.push(...baking);
  return { kind: "goes-on", seen };
}

/** What follows the boot of another Talos before anything else is done to the machine. */
function bakeTimeAfter(action: Action, seen: Observed, pass: number): readonly Step[] {
  const isBoot = action.kind === "UpgradeTalos" || (action.kind === "RebootMachine" && isUpgrade(intentOn(factsOf(seen), action.machine)));
  if (!isBoot) return [];
  const says = (named: string): string => `Wait until well for the bake time of ${BAKE_MS / 1_000} seconds: ${named}.`;
  return [{ ...onMachine("waits", action.machine, says), action: "Wait", pass }];
}

/** Machines that nobody heard of yet are assumed to turn up: one step that names them. */
function bootedNext(seen: Observed, pass: number): { readonly seen: Observed; readonly steps: readonly Step[] } | undefined {
  const facts = factsOf(seen);
  const isNew = ({ declared, look }: SeenMachine): boolean => {
    if (look.kind !== "silent" && look.kind !== "not-asked") return false;
    const fact = machineFact(facts, declared.name);
    return seen.controlPlane.metadata.deletionTimestamp === undefined && !mayHoldConfig(fact);
  };
  const missing = seen.machines.filter(isNew);
  if (missing.length === 0) return undefined;
  return {
    seen: missing.reduce((world, machine) => asIfBooted(world, machine), seen),
    steps: missing.map((machine) => ({
      effect: "waits",
      action: "Wait",
      pass,
      machine: machine.declared.name,
      named: `${machine.declared.name} (${machine.declared.address}, now: ${stateOf(machine)})`,
      says: (named) => `Wait until these answer in maintenance mode: ${named}.`,
    })),
  };
}

/** Beside what runs: nobody is away for them. */
const UNDISTURBING: ReadonlySet<Action["kind"]> = new Set(["PullInstaller", "InstallTalos", "ForfeitLeadership"]);

/** Votes of etcd while a control plane is disturbed. */
function quorumAt(seen: Observed, { effect, machine }: StepWords): string | undefined {
  if (
    effect === "stored" ||
    effect === "waits" ||
    effect === "live" ||
    effect === "etcd care" ||
    effect === "drains" ||
    effect === "bootstraps etcd"
  )
    return undefined;
  const target = [...seen.machines, ...seen.former].find(({ declared }) => declared.name === machine);
  if (target?.declared.role !== "controlplane" || target.look.kind !== "running") return undefined;
  const member = target.look.etcd?.localMember;
  if (member === undefined || member === "none") return undefined;
  // Beneath an alarm nobody is disturbed but by its cure.
  const view = despiteAlarms(etcdQuorum(seen));
  if (view.kind === "unsafe") return view.message;
  return projectWithout(view, member, effect === "reboot" ? "is-down" : "leaves").message;
}

function planOf(steps: readonly Step[], waiting: Waiting | undefined, isWhole: boolean): Plan {
  const together = joined(steps);
  return { steps: together, waiting, isWhole, hash: hashOfSteps(together) };
}

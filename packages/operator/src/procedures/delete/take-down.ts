import { controlPlaneIntent, factsOf, machineFact, mayHoldConfig } from "../../record/facts.ts";
import { FactsDraft } from "../../record/facts-draft.ts";
import { intentsThatFit } from "../../record/room.ts";
import { certificateSource } from "./certificate-source.ts";
import { projectWithout } from "../../assess/quorum.ts";
import { isContainer } from "../remove/container-end.ts";
import { forgottenObjects } from "../remove/forgotten-objects.ts";
import { mayAskAgain } from "../../effects/define.ts";
import { resetMachine } from "../../effects/reset-machine.ts";
import { waits } from "./waits.ts";
import { fateOf } from "./fate.ts";
import { goingPools } from "./going-pools.ts";
import { WIPE_TAKES_MS } from "./times.ts";
import type { ReasonOf } from "@talos-operator/api";
import type { MachineName } from "../../model/machine.ts";
import type { ClusterFacts, IntentFact } from "../../model/record.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { Verdict } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { Fate } from "./fate.ts";

/** Takes machines down: actions until none of them is left, `undefined` when none is. */
export function takeDown(assessed: Assessment, machines: readonly SeenMachine[], isClusterGoing: boolean): Verdict | undefined {
  const { seen } = assessed;
  const facts = factsOf(seen);
  if (seen.record.kind === "unknown") return waits("Blocked", seen, `The ClusterRecord cannot be read: ${seen.record.detail}.`);
  const draft = facts === undefined ? undefined : new FactsDraft(withoutOthers(seen, facts, machines));
  const fates = machines.map((machine) => ({ machine, fate: fateOf(assessed, machine, isClusterGoing) }));
  const wipes = wipe(assessed, fates, draft, isClusterGoing);
  const objects = new Set(seen.machineObjects.map((object) => object.metadata.name));
  const former = new Set(seen.former);
  const gone = fates
    .filter(({ machine, fate }) => fate.kind === "kept" && (!former.has(machine) || objects.has(machine.declared.name)))
    .map(({ machine }) => machine.declared.name);
  const removals = [...gone.filter((name) => objects.has(name)), ...forgotten(seen, facts, isClusterGoing)].map((name): Action => ({
    kind: "DeleteMachine",
    name,
  }));
  const next = draft?.facts();
  const writes: Action[] =
    next !== undefined && next !== facts && seen.record.kind === "present"
      ? [{ kind: "WriteRecord", ifResourceVersion: seen.record.value.resourceVersion, facts: next, why: "Deletion" }]
      : [];
  const unreached = fates.flatMap(({ machine, fate }) => (fate.kind === "waits" && fate.isUnreached === true ? [machine] : []));
  const source = isClusterGoing && facts !== undefined ? certificateSource(seen, facts, unreached) : undefined;
  const resets = [...wipes.resets, ...(source?.actions ?? [])];
  const actions = [...writes, ...wipes.drains, ...resets, ...removals];
  const other = isClusterGoing ? openElsewhere(draft?.before) : undefined;
  const [told] =
    source === undefined
      ? [...(other === undefined ? [] : [other]), ...wipes.waiting]
      : [{ reason: "Resetting" as const, message: source.message }];
  const isOver = gone.length === machines.filter((machine) => !former.has(machine)).length && removals.length === 0;
  if (actions.length === 0 && told === undefined && isOver) return undefined;
  return {
    ...waits(told?.reason ?? "WaitingForChildren", seen, told?.message ?? "TalosMachines are being removed."),
    actions,
    requeueAfterMs: 1_000,
  };
}

/** TalosMachines that go with the cluster, or with a pool, and stand for no machine any more: one that was leaving already is in no list and was released. */
function forgotten(seen: Observed, facts: ClusterFacts | undefined, isClusterGoing: boolean): readonly MachineName[] {
  const pools = goingPools(seen);
  return forgottenObjects(seen, facts)
    .filter(({ spec }) => isClusterGoing || pools.has(spec?.workerRef?.name ?? ""))
    .map(({ metadata }) => metadata.name);
}

/** What is waited for, for people. */
interface Wait {
  readonly reason: ReasonOf<"Deleting">;
  readonly message: string;
}

/** An effect of another kind on a control plane is waited for first. */
function openElsewhere(facts: ClusterFacts | undefined): Wait | undefined {
  const open = controlPlaneIntent(facts);
  if (open === undefined || open.what === "Reset") return undefined;
  return { reason: "Resetting", message: `${open.machine} is in the middle of an effect (${open.what}), which is waited for first.` };
}

/** Writes down what becomes of the machines, and orders what may be done now: of control planes one at a time, of workers as many as the record holds. */
function wipe(
  assessed: Assessment,
  fates: readonly { readonly machine: SeenMachine; readonly fate: Fate }[],
  draft: FactsDraft | undefined,
  isClusterGoing: boolean,
): { readonly waiting: readonly Wait[]; readonly drains: readonly Action[]; readonly resets: readonly Action[] } {
  const { seen } = assessed;
  const waiting: Wait[] = [];
  const drains: Action[] = [];
  const resets: Action[] = [];
  // The record holds one open control-plane intent; the next one is opened only after this one was seen closed.
  let hasBegunControlPlane = false;
  let intentsLeft: number | undefined;
  for (const { machine, fate } of fates) {
    const { declared } = machine;
    const fact = machineFact(factsOf(seen), declared.name);
    if (fate.kind === "released" && draft !== undefined && fact !== undefined) draft.release(fact, seen.now, fate.reason, fate.message);
    // A pool goes and its machines stay: they are nobody's from here on. With the whole cluster the record is kept as it is.
    if (fate.kind === "kept" && !isClusterGoing && draft !== undefined && mayHoldConfig(fact))
      draft.release(fact, seen.now, "Preserved", `${declared.name} is released as it is: deletionPolicy is preserve.`);
    if (fate.kind === "waits") {
      waiting.push(fate);
      drains.push(...(fate.actions ?? []));
      if (fate.stopped !== undefined) draft?.replace(fate.stopped, { ...fate.stopped, stoppedAt: seen.now });
    }
    if (fate.kind !== "wiped") continue;
    if (fate.intent === undefined) {
      if (declared.role === "controlplane" && hasBegunControlPlane) continue;
      if (declared.role === "controlplane") hasBegunControlPlane = true;
      if (draft !== undefined) {
        const opened = wipeIntent(seen, declared, fact?.uuid, isClusterGoing);
        intentsLeft ??= intentsThatFit(draft.facts(), opened);
        if (declared.role === "worker" && intentsLeft <= 0) {
          waiting.push({ reason: "Resetting", message: `${declared.name} is wiped later: as many are being wiped as the record holds.` });
          continue;
        }
        intentsLeft -= 1;
        draft.open(opened);
        const message = `${declared.name} is to be wiped.`;
        draft.decide({ at: seen.now, action: "Reset", reason: "Deleted", machine: declared.name, message });
      }
    }
    waiting.push({ reason: "Resetting", message: fate.message });
    if (seen.mayDisturb && mayAskAgain(seen, resetMachine, declared.name))
      resets.push({
        kind: "ResetMachine",
        machine: declared.name,
        address: declared.address,
        ifUuid: fate.intent?.uuid ?? fact?.uuid ?? "",
        ...(leavesGracefully(assessed, machine) ? { isGraceful: true } : {}),
      });
  }
  return { waiting, drains, resets };
}

function wipeIntent(
  seen: Observed,
  { name, address, role }: SeenMachine["declared"],
  uuid: string | undefined,
  isClusterGoing: boolean,
): IntentFact {
  const why = isClusterGoing ? "The cluster is deleted." : "The worker pool is deleted.";
  return { what: "Reset", machine: name, address, uuid: uuid ?? "", role, at: seen.now, deadline: seen.now + WIPE_TAKES_MS, why };
}

/** Intents of another kind on what is wiped anyway: those on workers end at once, those on control planes when nothing can come of them any more. */
function withoutOthers(seen: Observed, facts: ClusterFacts, machines: readonly SeenMachine[]): ClusterFacts {
  const names = new Set(machines.map(({ declared }) => declared.name));
  const isOver = ({ what, role, machine, deadline }: ClusterFacts["intents"][number]): boolean =>
    what !== "Reset" && names.has(machine) && (role === "worker" || seen.now >= deadline);
  return facts.intents.some(isOver) ? { ...facts, intents: facts.intents.filter((intent) => !isOver(intent)) } : facts;
}

/** While etcd keeps its quorum without it, a control plane leaves etcd before it is wiped; asked a second time, and as the last one, it wipes at once. */
function leavesGracefully(assessed: Assessment, { declared, look }: SeenMachine): boolean {
  const { seen } = assessed;
  // A container leaves nothing when it is reset, graceful or not; the others go next.
  if (declared.role !== "controlplane" || isContainer(look, undefined) || seen.sent.has(`Reset/${declared.name}`)) return false;
  const view = assessed.etcd;
  const member = look.kind === "running" ? look.etcd?.localMember : undefined;
  if (view.kind === "unsafe" || view.voters.length < 2 || !view.voters.some(({ id }) => id === member)) return false;
  return projectWithout(view, member, "leaves").isSafe;
}

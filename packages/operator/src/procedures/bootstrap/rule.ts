import { elapsedMs } from "../../elapsed.ts";
import { awaitedImage, bootstrapEtcd } from "../../effects/bootstrap-etcd.ts";
import { always, pauseLeftMs, rememberedAs } from "../../effects/define.ts";
import { machineAtEndpoint, onlyFounder } from "./endpoint-founder.ts";
import { withDecisions } from "../../record/facts.ts";
import { controlPlaneIntent, machineFact } from "../../record/facts.ts";
import {
  controlPlanesOf,
  foundedBy,
  probeTargets,
  stoppedWithoutData,
  waitsForEtcd,
  wasEverConfigured,
  withFounded,
} from "../../assess/etcd-view.ts";
import type { BootstrapIntentFact, ClusterFacts } from "../../model/record.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { Rule } from "../../model/decision.ts";
import type { Verdict } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/** How long a bootstrap call may take until its effect shows. */
const DEADLINE_MS = 10 * 60_000;

/**
 * A Bootstrap ends a pull that is under way and has it begun anew, and until that has ended it dies with its caller: it waits for the image so long, counted
 * from the intent.
 */
const LONGEST_IMAGE_WAIT_MS = 15_000;

/**
 * bootstraps etcd exactly once in the life of a cluster.
 *
 * 1. Whoever already shows etcd with itself as member: that is the fact, nothing is sent.
 * 2. Every control plane ever configured answers and waits without data: one target is written down, then asked.
 * 3. From then on only that target is ever asked, whatever the outcome was (S3), and from every state in which it holds no data: a Bootstrap runs under its
 *    call and may leave an etcd that has stopped. The fact comes from its own member list (S4).
 *
 * @see siderolabs/talos `internal/app/machined/internal/server/v1alpha1/v1alpha1_server.go`: Bootstrap looks at its own machine only
 */
export const bootstrapOnce: Rule = {
  name: "bootstrapOnce",
  decide(assessed) {
    const { seen } = assessed;
    if (seen.record.kind !== "present") return undefined;
    const { facts, resourceVersion } = seen.record.value;
    if (facts.bootstrapDone !== undefined) return undefined;
    const founded = foundedBy(controlPlanesOf(seen));
    if (founded !== undefined) {
      const next = withFounded(facts, founded, seen.now);
      return { actions: [{ kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: next, why: "Bootstrapped" }] };
    }
    // A wipe that may still take place must not meet a machine that has joined what is bootstrapped meanwhile.
    if (controlPlaneIntent(facts) !== undefined) return undefined;
    return facts.bootstrapIntent === undefined ? choose(assessed, facts, resourceVersion) : pursue(seen, facts, facts.bootstrapIntent);
  },
};

/** Writes down a target, and asks it in the same pass. */
function choose(assessed: Assessment, facts: ClusterFacts, resourceVersion: string): Verdict | undefined {
  const { seen } = assessed;
  const controlPlanes = controlPlanesOf(seen);
  if (controlPlanes.some((machine) => mayHoldData(facts, machine))) return undefined;
  const candidates = controlPlanes.filter(
    (machine) => machine.look.kind === "running" && waitsForEtcd(machine.look.etcd) && seen.machines.includes(machine),
  );
  const only = onlyFounder(seen, facts);
  const preferred = only ?? machineAtEndpoint(seen, facts);
  const target = candidates.find((machine) => machine === preferred) ?? (only === undefined ? candidates[0] : undefined);
  if (target === undefined) return undefined;
  const { name, address } = target.declared;
  const intent: BootstrapIntentFact = {
    machine: name,
    address,
    uuid: machineFact(facts, name)?.uuid ?? "",
    at: seen.now,
    deadline: seen.now + DEADLINE_MS,
  };
  const next = withDecisions(
    { ...facts, bootstrapIntent: intent },
    {
      at: seen.now,
      action: "Bootstrap",
      reason: "NoEtcdAnywhere",
      machine: name,
      message: `Every control plane that answers waits for etcd and has none; ${name} bootstraps it.`,
    },
  );
  return {
    actions: [
      { kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: next, why: "BootstrapIntent" },
      bootstrap(seen, next, intent),
    ],
    waiting: { reason: "Bootstrapping", message: `Bootstrapping etcd on ${name}.` },
  };
}

/** Asks the recorded target, and no other, until its member list shows the cluster. */
function pursue(seen: Observed, facts: ClusterFacts, intent: BootstrapIntentFact): Verdict | undefined {
  const target = controlPlanesOf(seen).find((machine) => machine.declared.name === intent.machine);
  if (target?.look.kind !== "running") return undefined;
  // What was seen before the last call is no news of what came of it.
  const isStopped = stoppedWithoutData(target.look.etcd) && !sentAfter(seen, target.look.at);
  if (!isStopped && !waitsForEtcd(target.look.etcd)) return undefined;
  const { pauseMs } = bootstrapEtcd.retry;
  const left = pauseLeftMs(seen, bootstrapEtcd, undefined, isStopped ? always(pauseMs.unknown) : pauseMs);
  const sent = seen.sent.get(rememberedAs(bootstrapEtcd));
  if (sent !== undefined && left > 0) return { actions: [], waiting: waitingFor(intent, sent.outcome, sent.detail), requeueAfterMs: left };
  const awaited = seen.sent.get(rememberedAs(awaitedImage));
  const imageLeft = pauseLeftMs(seen, awaitedImage);
  if (awaited !== undefined && !isStopped && imageLeft > 0)
    return { actions: [], waiting: { reason: "Bootstrapping", message: awaited.detail }, requeueAfterMs: imageLeft };
  if (controlPlanesOf(seen).some((machine) => machine.declared.name !== intent.machine && mayHoldData(facts, machine))) return undefined;
  return {
    actions: [bootstrap(seen, facts, intent)],
    waiting: { reason: "Bootstrapping", message: `Bootstrapping etcd on ${intent.machine}.` },
  };
}

function sentAfter(seen: Observed, at: number): boolean {
  const sent = seen.sent.get(rememberedAs(bootstrapEtcd));
  return sent !== undefined && sent.at >= at;
}

function waitingFor(
  intent: BootstrapIntentFact,
  outcome: "answered" | "unknown" | "refused",
  detail: string,
): NonNullable<Verdict["waiting"]> {
  const message = {
    answered: `${intent.machine} accepted the bootstrap; its etcd is expected to start.`,
    unknown: `The bootstrap was sent to ${intent.machine} and no answer came: what the machine shows decides; only this machine is ever asked again.`,
    refused: `${intent.machine} cannot bootstrap etcd yet (${detail}); retrying.`,
  }[outcome];
  return { reason: "Bootstrapping", message };
}

/** Whoever waits without data, waits in maintenance mode, or was asked and never configured holds none; of all others nobody knows. */
function mayHoldData(facts: ClusterFacts, machine: SeenMachine): boolean {
  const { look } = machine;
  if (look.kind === "running") return !waitsForEtcd(look.etcd);
  if (look.kind === "not-asked" || look.kind === "foreign") return true;
  if (look.kind === "maintenance" && machineFact(facts, machine.declared.name)?.spki === look.spki) return false;
  return wasEverConfigured(facts, machine);
}

function bootstrap(seen: Observed, facts: ClusterFacts, intent: BootstrapIntentFact): Action {
  const onlyAfterReboot = seen.sent.get(rememberedAs(bootstrapEtcd))?.outcome === "answered";
  const { machine, address, uuid: ifUuid, at } = intent;
  const isWaitedOut = elapsedMs(at, seen.now) >= LONGEST_IMAGE_WAIT_MS;
  const imageAwaitedSince = isWaitedOut ? undefined : at;
  return { kind: "BootstrapEtcd", machine, address, ifUuid, probe: probeTargets(seen, facts), onlyAfterReboot, imageAwaitedSince };
}

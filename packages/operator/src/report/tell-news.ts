import {
  apiVersionOf,
  controllerOf,
  isConditionTrue,
  talosControlPlaneResource,
  talosMachineResource,
  talosWorkerResource,
} from "@talos-operator/api";
import type { MachineEventReason, TalosControlPlane, TalosMachine } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { Telling } from "../telling/telling.ts";
import { wordsFor } from "../telling/telling.ts";
import { onceFor } from "../assess/once.ts";
import { machineFact } from "../record/facts.ts";
import { newsOf } from "../record/news.ts";
import type { News } from "../record/news.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";

/** Tells what was just written into the record, on the objects that it is about. */
export function tellWritten(seen: Observed, before: ClusterFacts, after: ClusterFacts, events: Telling): void {
  const drained = new Set([...(seen.drains ?? [])].flatMap(([name, { state }]) => (state?.kind === "drained" ? [name] : [])));
  for (const news of newsOf(before, after, drained)) tellNews(news, seen, after, events);
}

/**
 * Tells one thing on the machine, its pool and the object that the cluster was made from. Before etcd is bootstrapped only pools say that machines were
 * configured, and while the control plane is not ready nobody says who joined, for `Ready` comes next: a cluster that is made would cost the API many more requests.
 */
export function tellNews(news: News, seen: Observed, facts: ClusterFacts, events: Telling): void {
  const root = rootOf(seen.controlPlane);
  if (news.kind === "cluster") {
    const [object = controlPlaneOf(seen)] = root;
    events.tell(object, news.reason, news.reason, news.note);
    return;
  }
  const pool = poolOf(seen, facts, news.machine);
  const machine = machineObject(seen, news.machine);
  if (news.kind === "failure") {
    for (const object of [...machine, pool, ...root])
      events.tell(object, news.reason, news.reason === "TalosVersionFailed" ? "UpgradeTalos" : "ApplyConfig", news.note);
    return;
  }
  const { reason, machine: name, talos } = news;
  if (news.isOwn === true) return tellStep(reason, name, seen, events, talos);
  const isReady = isConditionTrue(seen.controlPlane.status?.conditions, "Ready");
  if (reason === "MachineConfigured") {
    // The object of the machine may be made in this very moment.
    for (const object of [pool, ...(facts.bootstrapDone === undefined ? [] : root)]) events.gather(object, reason, name);
    return;
  }
  if (reason === "MachineJoined" && !isReady) return;
  for (const object of machine) events.tell(object, reason, reason, wordsFor(reason, [name], talos));
  for (const object of [pool, ...root]) events.gather(object, reason, name, talos);
}

/**
 * Tells a step between others, on the machine alone.
 *
 * @param what the version of Talos, or the image, that it is about
 */
export function tellStep(reason: MachineEventReason, machine: MachineName, seen: Observed, events: Telling, what?: string): void {
  for (const object of machineObject(seen, machine)) events.tell(object, reason, reason, wordsFor(reason, [machine], what));
}

function controlPlaneOf({ controlPlane }: Observed): KubeObject {
  return { ...controlPlane, apiVersion: apiVersionOf(talosControlPlaneResource), kind: talosControlPlaneResource.kind };
}

/** The TalosCluster or KubernetesCluster that made the control plane. */
function rootOf({ metadata }: TalosControlPlane): readonly KubeObject[] {
  const owner = controllerOf(metadata);
  if (owner === undefined) return [];
  const { apiVersion, kind, name, uid } = owner;
  return [{ apiVersion, kind, metadata: { ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }), name, uid } }];
}

function poolOf(seen: Observed, facts: ClusterFacts, machine: MachineName): KubeObject {
  const pool = machineFact(facts, machine)?.pool ?? listedIn(seen, machine);
  const worker = pool === undefined ? undefined : seen.workers.find(({ metadata }) => metadata.name === pool);
  return worker === undefined
    ? controlPlaneOf(seen)
    : { ...worker, apiVersion: apiVersionOf(talosWorkerResource), kind: talosWorkerResource.kind };
}

/** The TalosWorker that lists or listed it, where the record does not say. */
function listedIn({ machines, former }: Observed, name: MachineName): string | undefined {
  const owner = (declaredIn(machines).get(name) ?? declaredIn(former).get(name))?.owner;
  return owner?.kind === "TalosWorker" ? owner.name : undefined;
}

/** Of each list once: a thousand machines may have news in one pass. */
const declaredIn = onceFor((machines: readonly SeenMachine[]) => new Map(machines.map(({ declared }) => [declared.name, declared])));
const objectsIn = onceFor((objects: readonly TalosMachine[]) => new Map(objects.map((object) => [object.metadata.name, object])));

function machineObject({ machineObjects }: Observed, name: MachineName): readonly KubeObject[] {
  const object = objectsIn(machineObjects).get(name);
  return object === undefined ? [] : [{ ...object, apiVersion: apiVersionOf(talosMachineResource), kind: talosMachineResource.kind }];
}

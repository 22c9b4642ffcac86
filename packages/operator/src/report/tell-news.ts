import { apiVersionOf, isConditionTrue, talosControlPlaneResource, talosMachineResource, talosWorkerResource } from "@talos-operator/api";
import type { EventReason, TalosMachine } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { headOf } from "../telling/head-of.ts";
import type { Telling } from "../telling/telling.ts";
import { onceFor } from "../assess/once.ts";
import { factsOf, machineFact } from "../record/facts.ts";
import { newsOf } from "../record/news.ts";
import type { News, NewsContext } from "../record/news.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import { upgradeCount } from "./upgrade-count.ts";

/** Steps that nobody reports while the control plane is not ready: `Ready` comes next, and a cluster that is made would cost the API many more requests. */
const WHEN_READY: ReadonlySet<EventReason> = new Set(["MachineConfigured", "MachineJoined"]);

/** Tells what was just written into the record: a step on its machine, everything else on the pool or the cluster that a person wrote. */
export function tellWritten(seen: Observed, before: ClusterFacts, after: ClusterFacts, events: Telling): void {
  const drained = new Set([...(seen.drains ?? [])].flatMap(([name, { state }]) => (state?.kind === "drained" ? [name] : [])));
  const context: NewsContext = { drained, now: seen.now, count: (run) => upgradeCount(seen, run, after) };
  for (const news of newsOf(before, after, context)) tellNews(news, seen, after, events);
}

function tellNews(news: News, seen: Observed, facts: ClusterFacts, events: Telling): void {
  const { reason } = news;
  if (news.kind === "cluster") return events.tell(clusterOf(seen), reason, reason, news.note);
  if (news.kind === "step") return tellStep(news.machine, reason, news.note, seen, events);
  const pool = headOf(poolOf(seen, facts, news.machine));
  if (news.kind === "left") return events.gather(pool, reason, news.machine, (names) => `Removed ${names} from the cluster.`);
  events.tell(pool, reason, reason === "TalosVersionFailed" ? "UpgradeTalos" : "ApplyConfig", news.note);
}

/** Tells a step on the machine alone. One whose object is gone has it told on what lists or listed it. */
export function tellStep(machine: MachineName, reason: EventReason, note: string, seen: Observed, events: Telling): void {
  if (WHEN_READY.has(reason) && !isConditionTrue(seen.controlPlane.status?.conditions, "Ready")) return;
  events.tell(machineObject(seen, machine) ?? headOf(poolOf(seen, factsOf(seen), machine)), reason, reason, note);
}

/** What the story of the whole cluster is told on. */
export function clusterOf(seen: Pick<Observed, "controlPlane">): KubeObject {
  return headOf(controlPlaneOf(seen));
}

function controlPlaneOf({ controlPlane }: Pick<Observed, "controlPlane">): KubeObject {
  return { ...controlPlane, apiVersion: apiVersionOf(talosControlPlaneResource), kind: talosControlPlaneResource.kind };
}

function poolOf(seen: Observed, facts: ClusterFacts | undefined, machine: MachineName): KubeObject {
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

function machineObject({ machineObjects }: Observed, name: MachineName): KubeObject | undefined {
  const object = objectsIn(machineObjects).get(name);
  return object === undefined ? undefined : { ...object, apiVersion: apiVersionOf(talosMachineResource), kind: talosMachineResource.kind };
}

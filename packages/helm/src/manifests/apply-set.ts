import { KubeApiError } from "@talos-operator/kube-runtime";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import type { ApplyManifestsTask, KeptObjects, ManifestsAppliedResult } from "../task/manifests.ts";
import type { WorkloadRef } from "../task/result.ts";
import { ManifestsFault, faultOfCall } from "./fault.ts";
import { OWNER_ANNOTATION, entryText, identityOf, union, without } from "./inventory.ts";
import type { Entry } from "./inventory.ts";
import { typesOf } from "./kinds.ts";
import type { ManifestObject } from "./manifest-object.ts";
import { stagesOf } from "./order.ts";
import { readSources } from "./read-sources.ts";
import { removeEntries } from "./removal.ts";
import type { SetRun } from "./set-run.ts";

/** How long the cluster may take to serve what a CRD defines. Milliseconds. */
const ESTABLISHED_WITHIN_MS = 60_000;
const LOOK_MS = 500;

/** Names in a result. */
const MOST_KEPT = 10;
const MOST_WORKLOADS = 20;

const namespaces: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

/** An object of the set, and where it belongs. */
interface Item {
  readonly kind: string;
  readonly type: ResourceType;
  readonly object: ManifestObject;
  readonly entry: Entry;
  /** It bears our mark: it is not there yet, it is ours, or it is to be taken over. */
  readonly isOurs: boolean;
}

/** Makes the objects of the set as its sources have them, then removes those that left it. @throws ManifestsFault, KubeApiError */
export async function applySet(run: SetRun, task: ApplyManifestsTask, texts: readonly string[]): Promise<ManifestsAppliedResult> {
  const before = await run.inventory.read();
  if (task.isOnce && before?.inputs === task.inputs) return resultOf(run, before.entries, 0, []);
  const items = await itemsOf(run, task, await readSources(run, task, texts));
  const entries = items.map(({ entry }) => entry);
  const known = before?.entries ?? [];
  // What is about to be made stands there first: whoever dies from here on leaves nothing that nobody knows of.
  await run.inventory.write({ entries: union(known, entries), inputs: undefined });
  await prepareNamespace(run, task, items);
  const stages = stagesOf(items);
  await applyAll(run, stages.namespaces, task.takeOwnership);
  await applyAll(run, stages.definitions, task.takeOwnership);
  for (const item of stages.definitions) await untilEstablished(run, item);
  await applyAll(run, stages.rest, task.takeOwnership);
  const { deleted, kept } = await removeEntries(run, without(known, entries), task, false);
  await run.inventory.write({ entries: [...entries, ...kept], inputs: task.inputs });
  return resultOf(run, entries, deleted, kept);
}

function resultOf(run: SetRun, entries: readonly Entry[], pruned: number, kept: readonly Entry[]): ManifestsAppliedResult {
  return {
    kind: "manifests-applied",
    objects: entries.length,
    workloads: entries.flatMap(workloadOf).slice(0, MOST_WORKLOADS),
    pruned,
    kept: keptOf(kept),
    at: run.deps.clock.now(),
  };
}

export function keptOf(entries: readonly Entry[]): KeptObjects {
  return { total: entries.length, names: entries.slice(0, MOST_KEPT).map((entry) => entryText(entry).slice(0, 150)) };
}

const WORKLOADS: Readonly<Record<string, WorkloadRef["kind"]>> = {
  "apps Deployment": "Deployment",
  "apps DaemonSet": "DaemonSet",
  "apps StatefulSet": "StatefulSet",
  "batch Job": "Job",
};

function workloadOf({ apiVersion, kind, namespace, name }: Entry): readonly WorkloadRef[] {
  const workload = WORKLOADS[`${apiVersion.split("/")[0] ?? ""} ${kind}`];
  return workload === undefined || namespace === undefined ? [] : [{ kind: workload, namespace, name }];
}

/** Everything that can be known without touching anything: kinds, names given twice, and whose each object is. */
async function itemsOf(run: SetRun, task: ApplyManifestsTask, objects: readonly ManifestObject[]): Promise<readonly Item[]> {
  const types = await typesOf(objects, run.kinds());
  const found = new Map<string, Item>();
  for (const given of objects) {
    const type = types.get(given);
    if (type === undefined) throw new RangeError("an object without a type");
    const { apiVersion, kind } = given;
    const object = inNamespace(given, type, task.release.namespace);
    const { name, namespace } = object.metadata;
    const entry: Entry = { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
    if (found.has(identityOf(entry)))
      throw new ManifestsFault("manifests-invalid", `${entryText(entry)} is given twice. Leave one of them out.`, false);
    run.demandTime();
    found.set(identityOf(entry), { kind, type, object, entry, isOurs: await isToBeOurs(run, type, entry, task.takeOwnership) });
  }
  return [...found.values()];
}

function inNamespace(object: ManifestObject, type: ResourceType, namespace: string): ManifestObject {
  const { namespace: given, ...metadata } = object.metadata;
  return { ...object, metadata: type.namespaced ? { ...metadata, namespace: given ?? namespace } : metadata };
}

/** @throws ManifestsFault `object-not-ours` */
async function isToBeOurs(run: SetRun, type: ResourceType, entry: Entry, takeOwnership: boolean): Promise<boolean> {
  let object: KubeObject | undefined;
  try {
    object = await run.client.resource(type).tryGet(entry, run.call);
  } catch (thrown) {
    // Its kind is made by this very set.
    if (thrown instanceof KubeApiError && thrown.code === "NOT_SERVED") return true;
    throw faultOfCall(thrown, entryText(entry));
  }
  if (object?.metadata?.deletionTimestamp !== undefined)
    throw new ManifestsFault("not-ready", `${entryText(entry)} of before is being deleted; it is made anew once it is gone.`, true);
  const owner = object?.metadata?.annotations?.[OWNER_ANNOTATION];
  if (object === undefined || owner === run.owner || takeOwnership) return true;
  if (owner !== undefined)
    throw new ManifestsFault(
      "object-not-ours",
      `${entryText(entry)} belongs to another addon, or to one that is gone. Leave it out, or set spec.manifests.takeOwnership.`,
      true,
    );
  return false;
}

/** The namespace of objects that name none is there before the first of them. */
async function prepareNamespace(run: SetRun, { release, namespaceLabels }: ApplyManifestsTask, items: readonly Item[]): Promise<void> {
  const { namespace: name } = release;
  const isGiven = items.some(({ entry }) => entry.kind === "Namespace" && entry.name === name);
  const isUsed = items.some(({ entry }) => entry.namespace === name);
  if ((!isUsed || isGiven) && namespaceLabels === undefined) return;
  try {
    await run.client.resource(namespaces).apply(
      { metadata: { name, ...(namespaceLabels === undefined ? {} : { labels: namespaceLabels }) } },
      // Under a name of its own: the set itself may hold this Namespace, and would take these labels away.
      { ...run.call, fieldManager: `${run.fieldManager}/namespace`, force: true },
    );
  } catch (thrown) {
    throw faultOfCall(thrown, `Namespace ${name}`);
  }
}

/** Applies all of a stage, whatever is refused; then tells the first refusal. @throws ManifestsFault */
async function applyAll(run: SetRun, items: readonly Item[], force: boolean): Promise<void> {
  const faults: ManifestsFault[] = [];
  for (const item of items) {
    run.demandTime();
    try {
      await applyOne(run, item, force);
    } catch (thrown) {
      const fault = faultOfCall(thrown, entryText(item.entry));
      // Who gives no answer now gives none to the next one.
      if (fault.reason === "cluster-unreachable" || fault.reason === "cluster-refused" || fault.reason === "timed-out") throw fault;
      faults.push(fault);
    }
  }
  const [first] = faults;
  if (first === undefined) return;
  const more = faults.length === 1 ? "" : ` And ${faults.length - 1} more of ${items.length} objects.`;
  throw new ManifestsFault(first.reason, `${first.message}${more}`, first.mayRepeat, { cause: first });
}

async function applyOne(run: SetRun, { type, object, isOurs }: Item, force: boolean): Promise<void> {
  const annotations = isOurs ? { ...object.metadata.annotations, [OWNER_ANNOTATION]: run.owner } : object.metadata.annotations;
  const metadata = { ...object.metadata, ...(annotations === undefined ? {} : { annotations }) };
  await run.client.resource(type).apply({ ...object, metadata }, { ...run.call, fieldManager: run.fieldManager, force });
}

/** Waits until a CRD is Established and what it defines is served. @throws ManifestsFault `not-ready` */
async function untilEstablished(run: SetRun, { type, entry, object }: Item): Promise<void> {
  const { clock, timers, signal } = run.deps;
  const until = clock.now() + ESTABLISHED_WITHIN_MS;
  for (;;) {
    run.demandTime();
    const found = (await run.client.resource(type).tryGet(entry, run.call)) as Definition | undefined;
    const isEstablished = found?.status?.conditions?.some((one) => one.type === "Established" && one.status === "True") === true;
    if (isEstablished && (await isServed(run, object as unknown as Definition))) return;
    if (clock.now() >= until)
      throw new ManifestsFault(
        "not-ready",
        `${entryText(entry)} is applied, and the cluster does not serve its kind after a minute.`,
        true,
      );
    await timers.sleep(LOOK_MS, signal);
  }
}

interface Definition {
  readonly spec?: {
    readonly group?: string;
    readonly names?: { readonly kind?: string };
    readonly versions?: readonly { readonly name?: string; readonly served?: boolean }[];
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

async function isServed(run: SetRun, { spec = {} }: Definition): Promise<boolean> {
  const kinds = run.kinds();
  for (const { name = "", served } of spec.versions ?? [])
    if (served === true && (await kinds.find(`${spec.group ?? ""}/${name}`, spec.names?.kind ?? "")) === undefined) return false;
  return true;
}

import { isNotFound, isNotServed } from "@talos-operator/kube-runtime";
import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import type { DriftedObject, InspectedResult } from "../task/result.ts";
import type { InspectTask } from "../task/task.ts";
import { driftedPaths, isIgnored } from "./compare-object.ts";
import type { ComparedObject } from "./compare-object.ts";
import { WorkerFault } from "./fault.ts";
import type { Job } from "./job.ts";
import { demandOwned } from "./ownership.ts";
import { demandObjects } from "./printed-manifest.ts";
import { storedRevisions } from "./releases.ts";

/** Objects that a result names, and paths of each. */
const MOST_OBJECTS = 5;
const MOST_PATHS = 4;

/** Longest that one question to the cluster may take. Milliseconds. */
const CALL_MS = 10_000;

/** Compares what runs with the manifest of the deployed revision. Changes nothing. @throws WorkerFault, KubeApiError */
export async function inspect(job: Job, { release, owner, ignore }: InspectTask): Promise<InspectedResult> {
  const version = await job.version();
  const stored = await storedRevisions(job.client, release);
  demandOwned(stored, { release, owner, unowned: "refuse" });
  const [newest] = stored;
  if (newest?.status !== "deployed") throw new WorkerFault("failed", `The newest revision of ${release.name} is not deployed.`, true);
  const place = [release.name, `--namespace=${release.namespace}`, `--revision=${newest.number}`];
  const { stdout } = await job.cluster(["get", "manifest", ...place]);
  const objects = demandObjects(stdout);
  const types = createTypes(job.client);
  const drifted: DriftedObject[] = [];
  for (const object of objects) {
    const found = await driftOf(object, release.namespace, types, job.client, ignore);
    if (found !== undefined) drifted.push(found);
  }
  return { kind: "inspected", revision: newest.number, drifted: drifted.slice(0, MOST_OBJECTS), total: drifted.length, helm: version.text };
}

async function driftOf(
  wanted: ComparedObject,
  namespace: string,
  types: Types,
  client: KubeClient,
  ignore: readonly string[],
): Promise<DriftedObject | undefined> {
  const { apiVersion = "", kind = "", metadata: { name = "", ...metadata } = {} } = wanted;
  const type = await types(apiVersion, kind);
  const key = type?.namespaced === false ? { name } : { namespace: metadata.namespace ?? namespace, name };
  const object = `${kind} ${"namespace" in key ? `${key.namespace}/` : ""}${name}`.slice(0, 150);
  // Read whole: the client's own type leaves the owners of fields out.
  const live =
    type === undefined ? undefined : ((await client.resource(type).tryGet(key, { timeoutMs: CALL_MS })) as ComparedObject | undefined);
  if (live === undefined) return goesByItself(wanted) ? undefined : { object, isGone: true, paths: [] };
  const paths = driftedPaths(wanted, live).filter((path) => !isIgnored(path, ignore));
  if (paths.length === 0) return undefined;
  const more = paths.length - MOST_PATHS;
  const named = paths.slice(0, MOST_PATHS).map((path) => path.slice(0, 80));
  return { object, isGone: false, paths: named, ...(more > 0 ? { more } : {}) };
}

/** A Job that is taken away when it is done. */
function goesByItself({ kind, spec }: ComparedObject): boolean {
  return kind === "Job" && typeof spec === "object" && spec !== null && "ttlSecondsAfterFinished" in spec;
}

/** Where a kind is served; `undefined` = nowhere. */
type Types = (apiVersion: string, kind: string) => Promise<ResourceType | undefined>;

function createTypes(client: KubeClient): Types {
  const asked = new Map<string, readonly ServedResource[]>();
  const served = async (apiVersion: string): Promise<readonly ServedResource[]> => {
    try {
      const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
      const { body } = await client.send({ method: "GET", path }, { timeoutMs: CALL_MS });
      return (body as { readonly resources?: readonly ServedResource[] }).resources ?? [];
    } catch (thrown) {
      if (isNotServed(thrown) || isNotFound(thrown)) return [];
      throw thrown;
    }
  };
  return async (apiVersion, kind) => {
    const resources = asked.get(apiVersion) ?? (await served(apiVersion));
    asked.set(apiVersion, resources);
    const found = resources.find((one) => one.kind === kind && one.name?.includes("/") === false);
    if (found?.name === undefined) return undefined;
    const [group = "", version] = apiVersion.split("/");
    const place = version === undefined ? { group: "", version: group } : { group, version };
    return { ...place, plural: found.name, kind, namespaced: found.namespaced === true };
  };
}

interface ServedResource {
  readonly name?: string;
  readonly kind?: string;
  readonly namespaced?: boolean;
}

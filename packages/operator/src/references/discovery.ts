import { isNotFound, isNotServed } from "@talos-operator/kube-runtime";
import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import type { Clock } from "@talos-operator/ports";
import { elapsedMs } from "../elapsed.ts";

/** Finds under which path a kind is served. */
export interface Discovery {
  /**
   * @returns `undefined` when the API serves no such kind
   * @throws KubeApiError when it could not be asked
   */
  find(apiVersion: string, kind: string): Promise<ResourceType | undefined>;
}

/** Kinds hardly ever move. */
const FRESH_MS = 600_000;

/** A kind that is not served may be installed any moment. */
const ABSENT_FRESH_MS = 5_000;

/** Asks a group and version for its kinds, and remembers the answer for a while. */
export function createDiscovery(client: KubeClient, clock: Clock): Discovery {
  const known = new Map<string, { readonly at: number; readonly type: ResourceType | undefined }>();
  return {
    async find(apiVersion, kind) {
      const id = `${apiVersion} ${kind}`;
      const before = known.get(id);
      if (before !== undefined && elapsedMs(before.at, clock.now()) < (before.type === undefined ? ABSENT_FRESH_MS : FRESH_MS))
        return before.type;
      const at = clock.now();
      const type = await ask(client, apiVersion, kind);
      known.set(id, { at, type });
      return type;
    },
  };
}

async function ask(client: KubeClient, apiVersion: string, kind: string): Promise<ResourceType | undefined> {
  const slash = apiVersion.indexOf("/");
  const path = slash < 0 ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
  let body: unknown;
  try {
    ({ body } = await client.send({ method: "GET", path }));
  } catch (thrown) {
    if (isNotFound(thrown) || isNotServed(thrown)) return undefined;
    throw thrown;
  }
  const resources: unknown = typeof body === "object" && body !== null && "resources" in body ? body.resources : undefined;
  for (const entry of Array.isArray(resources) ? (resources as readonly unknown[]) : []) {
    if (typeof entry !== "object" || entry === null) continue;
    const { name, kind: served, namespaced } = entry as Readonly<Record<string, unknown>>;
    // `pods/status` and the like are parts of a kind.
    if (served !== kind || typeof name !== "string" || name.includes("/")) continue;
    return {
      group: slash < 0 ? "" : apiVersion.slice(0, slash),
      version: apiVersion.slice(slash + 1),
      plural: name,
      kind,
      namespaced: namespaced === true,
    };
  }
  return undefined;
}

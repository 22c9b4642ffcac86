import { KubeApiError, isNotFound, isNotServed } from "@talos-operator/kube-runtime";
import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import { ManifestsFault } from "./fault.ts";
import type { ManifestObject } from "./manifest-object.ts";

/** Where kinds are served, as the cluster tells, asked once for each group and version. */
export interface Kinds {
  /** `undefined` = the cluster serves no such kind. @throws KubeApiError when it does not tell */
  find(apiVersion: string, kind: string): Promise<ResourceType | undefined>;
  /** The same in whatever version is served now. @throws KubeApiError */
  findAnyVersion(apiVersion: string, kind: string): Promise<ResourceType | undefined>;
}

interface ServedResource {
  readonly name?: string;
  readonly kind?: string;
  readonly namespaced?: boolean;
}

export function createKinds(client: KubeClient, options: { readonly signal: AbortSignal; readonly timeoutMs: number }): Kinds {
  const asked = new Map<string, readonly ResourceType[]>();
  const get = async (path: string): Promise<unknown> => {
    try {
      return (await client.send({ method: "GET", path }, options)).body;
    } catch (thrown) {
      if (isNotServed(thrown) || isNotFound(thrown)) return undefined;
      throw thrown;
    }
  };
  const served = async (apiVersion: string): Promise<readonly ResourceType[]> => {
    const known = asked.get(apiVersion);
    if (known !== undefined) return known;
    const { group, version } = partsOf(apiVersion);
    const body = (await get(group === "" ? `/api/${version}` : `/apis/${group}/${version}`)) as
      { readonly resources?: readonly ServedResource[] } | undefined;
    if (body !== undefined && !Array.isArray(body.resources))
      throw new KubeApiError("UNEXPECTED_ANSWER", { call: `discover ${apiVersion}`, detail: "the answer is no list of kinds" });
    const types = (body?.resources ?? []).flatMap(({ name = "", kind = "", namespaced = false }) =>
      name === "" || name.includes("/") ? [] : [{ group, version, plural: name, kind, namespaced }],
    );
    asked.set(apiVersion, types);
    return types;
  };
  const find: Kinds["find"] = async (apiVersion, kind) => (await served(apiVersion)).find((type) => type.kind === kind);
  return {
    find,
    async findAnyVersion(apiVersion, kind) {
      const same = await find(apiVersion, kind);
      const { group } = partsOf(apiVersion);
      if (same !== undefined || group === "") return same;
      const body = (await get(`/apis/${group}`)) as { readonly versions?: readonly { readonly groupVersion?: string }[] } | undefined;
      for (const { groupVersion = "" } of body?.versions ?? []) {
        const type = groupVersion === "" ? undefined : await find(groupVersion, kind);
        if (type !== undefined) return type;
      }
      return undefined;
    },
  };
}

/** Kinds that CRDs of the set itself make, by `<apiVersion> <kind>`. Pure. */
function kindsOfSet(objects: readonly ManifestObject[]): ReadonlyMap<string, ResourceType> {
  const kinds = new Map<string, ResourceType>();
  for (const object of objects) {
    if (object.kind !== "CustomResourceDefinition") continue;
    const { group = "", names, scope, versions = [] } = (object as DefinitionLike).spec ?? {};
    for (const { name: version = "", served } of versions)
      if (served === true && names?.kind !== undefined && names.plural !== undefined)
        kinds.set(`${group}/${version} ${names.kind}`, {
          group,
          version,
          plural: names.plural,
          kind: names.kind,
          namespaced: scope === "Namespaced",
        });
  }
  return kinds;
}

/** Where each object is served. @throws ManifestsFault `kind-not-served`, before anything is touched */
export async function typesOf(objects: readonly ManifestObject[], kinds: Kinds): Promise<ReadonlyMap<ManifestObject, ResourceType>> {
  const own = kindsOfSet(objects);
  const types = new Map<ManifestObject, ResourceType>();
  for (const object of objects) {
    const { apiVersion, kind } = object;
    const type = own.get(`${apiVersion} ${kind}`) ?? (await kinds.find(apiVersion, kind));
    if (type === undefined)
      throw new ManifestsFault(
        "kind-not-served",
        `The cluster does not serve ${kind} of ${apiVersion}, and no CRD of the set makes it. What brings it has to be installed first: spec.dependsOn.`,
        true,
      );
    types.set(object, type);
  }
  return types;
}

function partsOf(apiVersion: string): { readonly group: string; readonly version: string } {
  const [first = "", second] = apiVersion.split("/");
  return second === undefined ? { group: "", version: first } : { group: first, version: second };
}

interface DefinitionLike {
  readonly spec?: {
    readonly group?: string;
    readonly names?: { readonly kind?: string; readonly plural?: string };
    readonly scope?: string;
    readonly versions?: readonly { readonly name?: string; readonly served?: boolean }[];
  };
}

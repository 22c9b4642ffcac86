import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import { CliError } from "../cli-error.ts";

/** Anything that has a type and a name. */
export interface NamedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: Readonly<Record<string, string>> };
}

/** Applies one object server-side; objects of namespaced kinds without a namespace go to `default`. */
export async function applyObject(client: KubeClient, object: NamedObject, fieldManager: string): Promise<NamedObject> {
  const type = await resourceTypeOf(client, object.apiVersion, object.kind);
  const namespace = type.namespaced ? (object.metadata.namespace ?? "default") : undefined;
  const complete = { ...object, metadata: { ...object.metadata, ...(namespace === undefined ? {} : { namespace }) } };
  const applied = await client.resource(type).apply(complete, { fieldManager, force: true });
  return applied as unknown as NamedObject;
}

/** Asks the API which resource serves a kind. */
export async function resourceTypeOf(client: KubeClient, apiVersion: string, kind: string): Promise<ResourceType> {
  const [group, version] = apiVersion.includes("/") ? (apiVersion.split("/") as [string, string]) : ["", apiVersion];
  const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const response = await client.transport.send({ method: "GET", path });
  const resources = (response.body as { resources?: ApiResource[] }).resources ?? [];
  const found =
    response.status === 200 ? resources.find((candidate) => candidate.kind === kind && !candidate.name.includes("/")) : undefined;
  if (found === undefined) {
    throw new CliError(
      `the API serves no ${kind} in ${apiVersion}`,
      "Check apiVersion and kind; `kubectl api-resources` lists what is served.",
    );
  }
  return { group, version, plural: found.name, kind, namespaced: found.namespaced };
}

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

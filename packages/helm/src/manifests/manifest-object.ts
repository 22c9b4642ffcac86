import type { KubeObject } from "@talos-operator/kube-runtime";
import { KubernetesYamlError, parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { ManifestsFault } from "./fault.ts";

/** An object of a set, as it is applied: no status, nothing that only a server writes. */
export interface ManifestObject extends KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Most objects of one set: its inventory has to fit into a ConfigMap. */
const MOST_OBJECTS = 2_000;

type Fields = Readonly<Record<string, unknown>>;

/** All objects of some texts, in their order; Lists are taken apart. @throws ManifestsFault `manifests-invalid` */
export function objectsOf(texts: readonly { readonly name: string; readonly text: string }[]): readonly ManifestObject[] {
  const objects = texts.flatMap(({ name, text }) => documentsOf(name, text).flatMap((document) => flattened(document, name)));
  if (objects.length > MOST_OBJECTS)
    throw new ManifestsFault(
      "manifests-invalid",
      `There are ${objects.length} objects, and ${MOST_OBJECTS} are the most of one set. Make several addons of them.`,
      false,
    );
  return objects;
}

function documentsOf(name: string, text: string): readonly unknown[] {
  try {
    return parseKubernetesYaml(text).filter((document) => document !== undefined && document !== null);
  } catch (thrown) {
    if (thrown instanceof KubernetesYamlError)
      throw new ManifestsFault("manifests-invalid", `${name} is no YAML: ${thrown.message}.`, false);
    throw thrown;
  }
}

function flattened(document: unknown, source: string): readonly ManifestObject[] {
  if (isFields(document) && document["kind"] === "List" && Array.isArray(document["items"]))
    return document["items"].flatMap((item: unknown) => flattened(item, source));
  return [objectOf(document, source)];
}

function objectOf(document: unknown, source: string): ManifestObject {
  const refused = (what: string): ManifestsFault => new ManifestsFault("manifests-invalid", `${source} holds ${what}.`, false);
  if (!isFields(document)) throw refused("a document that is no object");
  const { apiVersion, kind, metadata } = document;
  if (
    typeof apiVersion !== "string" ||
    !/^([a-z0-9.-]+\/)?[a-z0-9]+$/.test(apiVersion) ||
    typeof kind !== "string" ||
    !/^\w{1,63}$/.test(kind)
  )
    throw refused("a document without apiVersion and kind");
  if (!isFields(metadata) || typeof metadata["name"] !== "string" || metadata["name"] === "")
    throw refused(`a ${kind} without metadata.name; generateName makes another object each time`);
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = metadata;
  if (namespace !== undefined && typeof namespace !== "string") throw refused(`a ${kind} whose namespace is no text`);
  if (ownerReferences !== undefined) throw refused(`a ${kind} with ownerReferences, which name a UID of another cluster`);
  for (const [field, map] of [
    ["labels", labels],
    ["annotations", annotations],
  ] as const)
    if (map !== undefined && map !== null && !(isFields(map) && Object.values(map).every((value) => typeof value === "string")))
      throw refused(`a ${kind} ${name} whose ${field} are no texts`);
  const { status: _status, stringData, ...rest } = document;
  const secret = kind === "Secret" && apiVersion === "v1" && isFields(stringData) ? { data: withTexts(rest["data"], stringData) } : {};
  return {
    ...rest,
    ...(kind === "Secret" || stringData === undefined ? {} : { stringData }),
    ...secret,
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === undefined || namespace === "" ? {} : { namespace }),
      ...(isFields(labels) ? { labels } : {}),
      ...(isFields(annotations) ? { annotations: annotations as Readonly<Record<string, string>> } : {}),
      ...(finalizers === undefined ? {} : { finalizers }),
    },
  };
}

/** Nobody owns `stringData`, so what leaves it would stay: it is written as the data that it becomes. */
function withTexts(data: unknown, texts: Fields): Fields {
  const encoded = Object.entries(texts).map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")]);
  return { ...(isFields(data) ? data : {}), ...Object.fromEntries(encoded) };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import { cloneJson, equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import type { ApiUser } from "../request/request.ts";
import type { CompiledVersion, FieldError, KindNames } from "../schema/index.ts";
import type { ReadCertificateRequest } from "./certificate-request.ts";

/** What a rule about a write may know besides the object. */
export interface WriteFacts {
  /** RFC 3339, seconds. */
  readonly now: string;
  /** Who writes. */
  readonly user: ApiUser;
  /** Every stored object of a resource, named as the store does; with a namespace those in it. */
  readonly stored: (resource: string, namespace?: string) => readonly JsonObject[];
  /** Reads a request for a certificate. @throws Error for what is none */
  readonly readCertificateRequest: ReadCertificateRequest;
}

/** A subresource through which one part of an object is written. */
export interface ObjectPart {
  /** The live object with that part of what a client wants. */
  readonly restrict: (live: JsonObject, next: JsonObject, facts: WriteFacts) => JsonObject;
  /** What of the part may not become of the live one. */
  readonly validate: (object: JsonObject, live: JsonObject) => readonly FieldError[];
}

/** What is particular about one kind. Everything here is pure; objects are in the stored version and are never changed in place. */
export interface Strategy {
  /** As discovery lists them. */
  readonly verbs: readonly string[];
  /** `metadata.generation` counts changes outside metadata and status. */
  readonly hasGeneration: boolean;
  /** It is 1 and stays so. */
  readonly keepsGeneration?: true;
  /** So do changes of annotations (Deployments). */
  readonly generationCountsAnnotations?: boolean;
  /** A PUT without resourceVersion replaces whatever is there; else it is refused with 422. */
  readonly allowsUnconditionalUpdate: boolean;
  /** A PUT to a missing name creates. */
  readonly createsOnUpdate: boolean;
  /** DELETE answers with the object instead of a Status. */
  readonly answersDeletedObject: boolean;
  /** A write to `/status` leaves labels, annotations, finalizers and owners alone (custom resources). */
  readonly statusKeepsMetadata: boolean;
  /** A new object may bring its status along, as kubelets do when they register (Nodes). */
  readonly keepsStatusOnCreate?: boolean;
  /** What is wrong with a name; empty for a good one. */
  readonly refuseName: (name: string) => readonly string[];
  /** Fields besides `metadata.name` and `metadata.namespace` that field selectors may use. */
  readonly selectableFields: readonly string[];
  /** Brings a created or updated object into shape before validation. */
  readonly prepare?: (object: JsonObject, old: JsonObject | undefined, facts: WriteFacts) => JsonObject;
  /** Adds what the server itself gives an object (`old` is absent for a new one): the members that no field manager owns. */
  readonly begin?: (object: JsonObject, old: JsonObject | undefined, facts: WriteFacts) => JsonObject;
  /** Rules beyond the schema. */
  readonly validate?: (object: JsonObject, old: JsonObject | undefined, facts: WriteFacts) => readonly FieldError[];
  /** Rules about what is written through the status subresource. */
  readonly validateStatus?: (object: JsonObject, live: JsonObject) => readonly FieldError[];
  /** Subresources besides status through which a part of an object is written, by name. */
  readonly parts?: Readonly<Record<string, ObjectPart>>;
  /** For kinds served in a form other than the stored one. */
  readonly toServed?: (object: JsonObject, apiVersion: string) => JsonObject;
  readonly toStored?: (object: JsonObject) => JsonObject;
}

/** One kind with all its served versions. */
export interface ServedKind {
  readonly group: string;
  readonly names: KindNames;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly custom: boolean;
  /** Where the store keeps it: `<group>/<plural>`; two groups may share one. */
  readonly resource: string;
  /** Served versions, most preferred first. */
  readonly versions: ReadonlyMap<string, CompiledVersion>;
  /** `apiVersion` that stored objects carry. */
  readonly storedApiVersion: string;
  /** Of a custom kind, the version whose schema stored objects have, served or not. */
  readonly storage?: CompiledVersion;
  /** False for requests that are answered and forgotten (reviews). */
  readonly persistent: boolean;
  readonly strategy: Strategy;
}

/** The key under which the store keeps an object. */
export function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** The object as a served version shows it. Shares structure with the stored one, which may have been written under another schema. */
export function toServedVersion(kind: ServedKind, version: CompiledVersion, stored: JsonObject): JsonObject {
  if (kind.custom) return servedCustom(kind.storage ?? version, version, stored);
  return named(version, kind.strategy.toServed === undefined ? stored : kind.strategy.toServed(stored, version.apiVersion));
}

function named(version: CompiledVersion, object: JsonObject): JsonObject {
  return object["apiVersion"] === version.apiVersion && object["kind"] === version.names.kind
    ? object
    : { ...object, apiVersion: version.apiVersion, kind: version.names.kind };
}

/** By version and stored object: both are replaced, never changed, when a CRD or an object changes. */
const servedForms = new WeakMap<CompiledVersion, WeakMap<JsonObject, JsonObject>>();

function formsOf(version: CompiledVersion): WeakMap<JsonObject, JsonObject> {
  let forms = servedForms.get(version);
  if (forms === undefined) {
    forms = new WeakMap();
    servedForms.set(version, forms);
  }
  return forms;
}

/** Pruned and defaulted as the schema of the storage version says today, however old the object is; other versions show what they know of that. */
function servedCustom(storage: CompiledVersion, version: CompiledVersion, stored: JsonObject): JsonObject {
  const forms = formsOf(version);
  const known = forms.get(stored);
  if (known !== undefined) return known;
  if (version !== storage) {
    const other = cloneJson(servedCustom(storage, storage, stored));
    version.prune(other);
    const shown = named(version, other);
    forms.set(stored, shown);
    return shown;
  }
  const copy = cloneJson(stored);
  version.prune(copy);
  version.applyDefaults(copy);
  const form = named(version, equalJson(copy, stored) ? stored : copy);
  forms.set(stored, form);
  return form;
}

/** Says that an object was pruned and defaulted under this version when it was written, so that nobody does it again. */
export function writtenUnder(kind: ServedKind, version: CompiledVersion, stored: JsonObject): void {
  if (kind.custom && version === (kind.storage ?? version)) formsOf(version).set(stored, named(version, stored));
}

/** The object as it is stored, from what a client sent in a served version. */
export function toStoredVersion(kind: ServedKind, object: JsonObject): JsonObject {
  const stored = kind.strategy.toStored === undefined ? object : kind.strategy.toStored(object);
  return stored["apiVersion"] === kind.storedApiVersion ? stored : { ...stored, apiVersion: kind.storedApiVersion };
}

/** The verbs of an ordinary stored kind. */
export const storedVerbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;

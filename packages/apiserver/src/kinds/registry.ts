import type { JsonObject } from "../json.ts";
import type { CompiledCrd, CompiledVersion } from "../schema/index.ts";
import { compareVersions } from "../schema/index.ts";
import type { ServedKind } from "./kind.ts";
import { builtinStrategy, customStrategy, isAnsweredOnly } from "./strategies.ts";

/** The kinds being served. Built-in ones never change, custom ones follow their CRDs. */
export class KindRegistry {
  readonly #kinds = new Map<string, ServedKind>();
  /** Grows with every change; answers that depend on the set of kinds are cached by it. */
  #generation = 0;

  constructor(builtins: readonly CompiledVersion[]) {
    for (const kind of groupBuiltins(builtins)) {
      this.#kinds.set(`${kind.group}/${kind.plural}`, kind);
    }
  }

  get generation(): number {
    return this.#generation;
  }

  /** The kind at a path, by group and plural. */
  find(group: string, plural: string): ServedKind | undefined {
    return this.#kinds.get(`${group}/${plural}`);
  }

  /** Whether built-in kinds are served in this version of a group. */
  hasBuiltin(group: string, version: string): boolean {
    return this.all().some((kind) => !kind.custom && kind.group === group && kind.versions.has(version));
  }

  /** Every kind, built-in ones first, custom ones in order of registration. */
  all(): readonly ServedKind[] {
    return [...this.#kinds.values()];
  }

  /** Starts to serve a custom kind, or replaces what was served under its name. */
  register(crd: CompiledCrd): void {
    const served = [...crd.versions.values()].filter((version) => version.served).sort((a, b) => compareVersions(a.version, b.version));
    const storage = crd.versions.get(crd.storageVersion);
    this.#generation++;
    this.#kinds.set(`${crd.group}/${crd.names.plural}`, {
      ...(storage === undefined ? {} : { storage }),
      group: crd.group,
      names: crd.names,
      plural: crd.names.plural,
      namespaced: crd.namespaced,
      custom: true,
      resource: `${crd.group}/${crd.names.plural}`,
      versions: new Map(served.map((version) => [version.version, version])),
      storedApiVersion: `${crd.group}/${crd.storageVersion}`,
      persistent: true,
      strategy: customStrategy([...new Set(served.flatMap((version) => version.selectableFields))]),
    });
  }

  /** Stops serving a custom kind. */
  unregister(group: string, plural: string): void {
    if (this.find(group, plural)?.custom === true) {
      this.#generation++;
      this.#kinds.delete(`${group}/${plural}`);
    }
  }

  /** The kind whose objects carry this apiVersion and kind, for owner references and stored objects. */
  findByKind(apiVersion: string, kind: string): ServedKind | undefined {
    const group = apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
    return this.all().find((candidate) => candidate.group === group && candidate.names.kind === kind);
  }

  /** The kind whose objects the store keeps under this name. */
  ofStored(resource: string, object: JsonObject): ServedKind | undefined {
    return this.#kinds.get(resource) ?? this.findByKind(String(object["apiVersion"]), String(object["kind"]));
  }
}

function groupBuiltins(builtins: readonly CompiledVersion[]): readonly ServedKind[] {
  const byResource = new Map<string, CompiledVersion[]>();
  for (const version of builtins) {
    const resource = `${version.group}/${version.names.plural}`;
    byResource.set(resource, [...(byResource.get(resource) ?? []), version]);
  }
  return [...byResource].map(([resource, versions]) => kindOfBuiltin(resource, versions));
}

function kindOfBuiltin(resource: string, versions: readonly CompiledVersion[]): ServedKind {
  const first = versions[0];
  if (first === undefined) {
    throw new Error(`built-in kind ${resource} has no version`);
  }
  const storage = versions.find((version) => version.storage) ?? first;
  // Both Event groups are one set of objects, stored in the older form.
  const isNewEvent = resource === "events.k8s.io/events";
  return {
    group: first.group,
    names: first.names,
    plural: first.names.plural,
    namespaced: first.namespaced,
    custom: false,
    resource: isNewEvent ? "/events" : resource,
    versions: new Map([...versions].sort((a, b) => compareVersions(a.version, b.version)).map((version) => [version.version, version])),
    storedApiVersion: isNewEvent ? "v1" : storage.apiVersion,
    persistent: !isAnsweredOnly(resource),
    strategy: builtinStrategy(resource),
  };
}

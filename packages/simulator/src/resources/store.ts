import type { Cell } from "../datacenter/cell.ts";
import type { World } from "../datacenter/world.ts";
import { definitionsFor, namespaces } from "./definitions.ts";
import { projections } from "./projections.ts";
import type { Projected } from "./projection.ts";

/** A resource with its bookkeeping. */
export interface StoredResource {
  readonly namespace: string;
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly owner: string;
  readonly created: number;
  readonly updated: number;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: unknown;
}

interface Memory {
  readonly resource: StoredResource;
  readonly fingerprint: string;
}

/** Versions seen so far, per machine and boot: a resource's version grows when somebody looks and finds it changed. */
const memories = new WeakMap<Cell, { bootId: string; readonly entries: Map<string, Memory> }>();

export const definitionType = "ResourceDefinitions.meta.cosi.dev";
export const namespaceType = "Namespaces.meta.cosi.dev";

/** Resources of one type and namespace, in order of id. A namespace that is not the type's own holds none of it. */
export function listResources(world: World, cell: Cell, type: string, namespace: string): readonly StoredResource[] {
  const found = project(world, cell, type, namespace);
  const resources = found.map((projected) => remember(world, cell, type, namespace, projected));
  return resources.length < 2 ? resources : resources.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

function project(world: World, cell: Cell, type: string, namespace: string): readonly Projected[] {
  const { talosVersion } = cell.state.hardware;
  if (type === definitionType) {
    return namespace === "meta"
      ? [...definitionsFor(talosVersion).values()].map((definition) => ({ id: definition.id, owner: "meta", spec: definition.spec }))
      : [];
  }
  if (type === namespaceType) {
    return namespace === "meta"
      ? Object.entries(namespaces).map(([id, description]) => ({ id, owner: "meta", spec: { description } }))
      : [];
  }
  if (definitionsFor(talosVersion).get(type)?.namespace !== namespace) return [];
  return projections[type]?.({ world, cell }) ?? [];
}

function remember(world: World, cell: Cell, type: string, namespace: string, projected: Projected): StoredResource {
  const { id, owner = "", annotations = {}, spec } = projected;
  if (projected.counted !== undefined) return { namespace, type, id, owner, annotations, spec, ...projected.counted };
  const { bootId } = cell.state;
  let memory = memories.get(cell);
  if (memory?.bootId !== bootId) {
    memory = { bootId, entries: new Map() };
    memories.set(cell, memory);
  }
  const key = `${type}/${id}`;
  const fingerprint = `${projected.changes ?? ""} ${JSON.stringify(spec) ?? ""}`;
  const old = memory.entries.get(key);
  // The same object while nothing changes, so that whoever prints it need not print it again.
  if (old?.fingerprint === fingerprint) return old.resource;
  const now = world.clock.now();
  const { version, created } = old?.resource ?? { version: 0, created: now };
  const resource = { namespace, type, id, owner, annotations, spec, version: version + 1, created, updated: now };
  memory.entries.set(key, { resource, fingerprint });
  return resource;
}

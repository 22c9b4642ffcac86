import type { Cell } from "../datacenter/cell.ts";
import type { World } from "../datacenter/world.ts";
import { definitionsFor, namespaces } from "./definitions.ts";
import { projections } from "./projections.ts";
import type { Projected } from "./projections.ts";

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
  readonly version: number;
  readonly created: number;
  readonly updated: number;
  readonly fingerprint: string;
}

/** Versions seen so far, per machine and boot: a resource's version grows when somebody looks and finds it changed. */
const memories = new WeakMap<Cell, { bootId: string; readonly entries: Map<string, Memory> }>();

export const definitionType = "ResourceDefinitions.meta.cosi.dev";
export const namespaceType = "Namespaces.meta.cosi.dev";

/** Resources of one type and namespace, in order of id. A namespace that is not the type's own holds none of it. */
export function listResources(world: World, cell: Cell, type: string, namespace: string): readonly StoredResource[] {
  const found = project(world, cell, type, namespace);
  return found
    .map((projected) => remember(world, cell, type, namespace, projected))
    .toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
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
  const base = {
    namespace,
    type,
    id: projected.id,
    owner: projected.owner ?? "",
    annotations: projected.annotations ?? {},
    spec: projected.spec,
  };
  if (projected.counted !== undefined) return { ...base, ...projected.counted };
  const { bootId } = cell.state;
  let memory = memories.get(cell);
  if (memory?.bootId !== bootId) {
    memory = { bootId, entries: new Map() };
    memories.set(cell, memory);
  }
  const key = `${type}/${projected.id}`;
  const fingerprint = JSON.stringify(projected.spec) ?? "";
  const old = memory.entries.get(key);
  const now = world.clock.now();
  const next: Memory =
    old === undefined
      ? { version: 1, created: now, updated: now, fingerprint }
      : old.fingerprint === fingerprint
        ? old
        : { version: old.version + 1, created: old.created, updated: now, fingerprint };
  memory.entries.set(key, next);
  return { ...base, version: next.version, created: next.created, updated: next.updated };
}

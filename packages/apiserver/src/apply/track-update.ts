import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf } from "../request/json.ts";
import { emptySet, intersectSets, isEmptySet, subtractSets, unionSets } from "./field-set.ts";
import { compareFields, touchedBy, type Comparison } from "./field-sets-of.ts";
import { capManagers, managerKey, printManagers, readManagers, resetsManagers, type Manager, type Managers } from "./managers.ts";
import {
  ignoredFields,
  printTime,
  unownedFields,
  withManagedFields,
  withoutIgnored,
  withoutManagedFields,
  type OwnershipContext,
} from "./ownership.ts";

/**
 * Field ownership of create, update and patch: returns `updated` (a shallow copy) with `metadata.managedFields` brought up to date.
 *
 * Call it after defaulting and pruning. `live` is undefined on creation. Fields whose value changed, and new ones, go to `manager`;
 * removed ones leave everybody. An update without change leaves every entry and its time as it is.
 */
export function trackUpdate(input: OwnershipContext & { readonly live: JsonObject | undefined; readonly updated: JsonObject }): JsonObject {
  const { live, updated, kind } = input;
  const before: JsonObject =
    live === undefined ? { ...kind.emptyObject, apiVersion: updated["apiVersion"], kind: updated["kind"] } : withoutManagedFields(live);
  const after = withoutManagedFields(updated);
  const ignored = ignoredFields(input);
  const comparison = withoutIgnored(compareFields(before, after, kind.root), ignored);

  const starting = startingManagers(input);
  // An object whose ownership nobody keeps (any more) is left so; only a creation or an apply begins to keep it.
  if (live !== undefined && starting.size === 0) return withManagedFields(updated, []);
  const managers = takeFromOthers(starting, comparison);
  const owned = subtractSets(touchedBy(comparison), unownedFields);
  if (!isEmptySet(owned)) {
    const self: Omit<Manager, "fields"> = {
      name: input.manager,
      operation: "Update",
      apiVersion: input.apiVersion,
      subresource: input.subresource,
      time: printTime(input.now),
    };
    const key = managerKey(self);
    managers.set(key, { ...self, fields: unionSets(managers.get(key)?.fields ?? emptySet, owned) });
  }
  return withManagedFields(updated, printManagers(capManagers(managers)));
}

/** Managers to start from: those the client sent back (it may edit them), else those of the stored object. */
function startingManagers({
  live,
  updated,
  subresource,
}: Pick<OwnershipContext, "subresource"> & { live: JsonObject | undefined; updated: JsonObject }): Managers {
  if (subresource === "") {
    if (resetsManagers(updated)) return new Map();
    // Most send back what they read: the stored entries were read before.
    const sent = readManagers(hasSameManagers(live, updated) ? live : updated);
    if (sent !== undefined && sent.size > 0) return sent;
  }
  // Entries that cannot be read are forgotten rather than kept unread: ownership is advice, not data.
  return readManagers(live) ?? new Map<string, Manager>();
}

function hasSameManagers(live: JsonObject | undefined, updated: JsonObject): boolean {
  const before = live === undefined ? undefined : metadataOf(live)["managedFields"];
  return before !== undefined && equalJson(before, metadataOf(updated)["managedFields"]);
}

/** Takes removed, changed and new fields away from every manager. */
export function takeFromOthers(managers: Managers, comparison: Comparison, except?: string): Managers {
  const touched = touchedBy(comparison);
  const result: Managers = new Map();
  for (const [key, manager] of managers) {
    if (key === except) {
      result.set(key, manager);
      continue;
    }
    const conflicting = intersectSets(manager.fields, touched);
    let { fields } = manager;
    if (!isEmptySet(conflicting)) fields = subtractSets(fields, conflicting);
    if (!isEmptySet(comparison.removed)) fields = subtractSets(fields, comparison.removed);
    if (!isEmptySet(fields)) result.set(key, fields === manager.fields ? manager : { ...manager, fields });
  }
  return result;
}

import { getOwn, isObject, type JsonObject } from "../json.ts";
import { checkApplied, joinProblems } from "./check-applied.ts";
import { emptySet, intersectSets, isEmptySet, pathsOf, subtractRecursively, subtractSets, unionSets, type FieldSet } from "./field-set.ts";
import { compareFields, fieldsOf, touchedBy } from "./field-sets-of.ts";
import { appliedByClient, kubectlManager, syncLastApplied } from "./last-applied.ts";
import { describeManager, managerKey, printManagers, readManagers, type Manager, type Managers } from "./managers.ts";
import { mergeApplied, removeFields, withNamedParents } from "./merge.ts";
import {
  ignoredFields,
  printTime,
  unownedFields,
  withManagedFields,
  withoutIgnored,
  withoutManagedFields,
  type OwnershipContext,
} from "./ownership.ts";
import { printPath } from "./path-element.ts";
import { takeFromOthers } from "./track-update.ts";

/** One field that somebody else owns with another value. */
interface ApplyConflict {
  readonly manager: string;
  /** As `kubectl` prints it: `.spec.replicas`. */
  readonly field: string;
  /** Text of the cause in the Status. */
  readonly message: string;
}

/**
 * Result of a server-side apply. `conflicts` is a 409 with that message and one cause per conflict. `invalid` carries the status the genuine
 * server answers with: 500 for a configuration that does not fit the schema, 400 for one that carries managedFields.
 */
export type ApplyOutcome =
  | { readonly kind: "applied"; readonly object: JsonObject }
  | { readonly kind: "conflicts"; readonly conflicts: readonly ApplyConflict[]; readonly message: string }
  | { readonly kind: "invalid"; readonly status: 400 | 500; readonly message: string };

/** A server-side apply. */
export interface ApplyInput extends OwnershipContext {
  /** The stored object, or undefined on creation. */
  readonly live: JsonObject | undefined;
  /** What the request carried. */
  readonly applied: JsonObject;
  /** Take fields from other managers instead of reporting conflicts. */
  readonly force: boolean;
}

/**
 * Server-side apply: lays `applied` over `live`, removes what this manager applied before and no longer does, and keeps the books of who
 * owns what. Neither argument is changed.
 *
 * Fields that the (sub)resource cannot change are taken from `live`: `status` on the object itself, everything else on `status`.
 * The result is neither defaulted nor validated: fill in defaults with `keepNulls`, because an applied null is an error, not an absence.
 *
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
export function serverSideApply(input: ApplyInput): ApplyOutcome {
  const { kind, live, force } = input;
  const root = kind.root;
  const metadata = getOwn(input.applied, "metadata");
  if (isObject(metadata) && Array.isArray(getOwn(metadata, "managedFields")) && (metadata["managedFields"] as unknown[]).length > 0) {
    return { kind: "invalid", status: 400, message: "metadata.managedFields must be nil" };
  }
  const problems = checkApplied(input.applied, root);
  if (problems.length > 0) {
    const { apiVersion } = input;
    const version = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
    const where = `${objectName(metadata)}; ${version}, Kind=${kind.names.kind}`;
    return { kind: "invalid", status: 500, message: `failed to create typed patch object (${where}): ${joinProblems(problems)}` };
  }
  const ignored = ignoredFields(input);
  const applied = dropIgnored(input.applied, ignored);
  const before: JsonObject =
    live === undefined
      ? { ...kind.emptyObject, apiVersion: applied["apiVersion"], kind: applied["kind"] }
      : { ...withoutManagedFields(live), apiVersion: input.apiVersion };
  const self: Omit<Manager, "fields"> = {
    name: input.manager,
    operation: "Apply",
    apiVersion: input.apiVersion,
    subresource: input.subresource,
    time: printTime(input.now),
  };
  const key = managerKey(self);
  const managers = startingManagers(input);
  const last = managers.get(key);
  const fields = subtractRecursively(fieldsOf(applied, root), ignored);
  managers.set(key, { ...self, fields });

  const merged = mergeApplied(before, applied, root) as JsonObject;
  // Who applies again what it applied before gives nothing up, and nothing goes.
  const givesNothingUp = last === undefined || isEmptySet(subtractSets(last.fields, fields));
  const result = givesNothingUp ? merged : pruneUnclaimed(merged, last.fields, managers, input);
  const comparison = withoutIgnored(compareFields(before, result, root), ignored);
  if (!force) {
    const touched = touchedBy(comparison);
    const refused = conflictsOf(managers, key, touched);
    if (refused !== undefined && !isTakeover(input, managers, key, touched)) return refused;
  }
  const remaining = takeFromOthers(managers, comparison, key);
  const owned = subtractSets(fields, unownedFields);
  // An apply that leaves the object as it is leaves its time as it was, so that nothing needs to be written when ownership is the same too.
  remaining.set(key, { ...self, fields: owned, time: comparisonIsEmpty(comparison) ? last?.time : self.time });
  const object = withManagedFields(result, printManagers(remaining));
  return { kind: "applied", object: isKubectl(input) ? syncLastApplied(object, input.applied) : object };
}

function isKubectl({ manager, subresource }: ApplyInput): boolean {
  return manager === kubectlManager && subresource === "";
}

/** `kubectl` changes nothing but what it applied itself, on the client's side, before. */
function isTakeover(input: ApplyInput, managers: Managers, self: string, touched: FieldSet): boolean {
  if (!isKubectl(input)) return false;
  let contested = emptySet;
  for (const [key, manager] of managers) if (key !== self) contested = unionSets(contested, intersectSets(manager.fields, touched));
  return isEmptySet(subtractSets(contested, appliedByClient(input.live, input.kind)));
}

function comparisonIsEmpty(comparison: { added: FieldSet; removed: FieldSet; modified: FieldSet }): boolean {
  return isEmptySet(comparison.added) && isEmptySet(comparison.removed) && isEmptySet(comparison.modified);
}

function objectName(metadata: unknown): string {
  const part = (key: string): string => {
    const value = isObject(metadata) ? getOwn(metadata, key) : undefined;
    return typeof value === "string" ? value : "";
  };
  return `${part("namespace")}/${part("name")}`;
}

function dropIgnored(applied: JsonObject, ignored: FieldSet): JsonObject {
  if (ignored === emptySet) return applied;
  const kept: JsonObject = {};
  for (const key of Object.keys(applied)) {
    const isIdentity = key === "apiVersion" || key === "kind" || key === "metadata";
    if (!isIdentity && ignored.children.get(`f:${key}`)?.member === true) continue;
    kept[key] = key === "metadata" && ignored.children.has("f:metadata") ? {} : applied[key];
  }
  return kept;
}

/** Managers of the stored object. One without any belongs, as a whole, to whoever wrote it before ownership was kept. */
function startingManagers({ live, kind, apiVersion, now }: ApplyInput): Managers {
  const managers = readManagers(live) ?? new Map<string, Manager>();
  if (live === undefined || managers.size > 0) return managers;
  const everything = touchedBy(compareFields({}, withoutManagedFields(live), kind.root));
  const early: Manager = {
    name: "before-first-apply",
    operation: "Update",
    apiVersion,
    subresource: "",
    time: printTime(now),
    fields: subtractSets(everything, unownedFields),
  };
  if (!isEmptySet(early.fields)) managers.set(managerKey(early), early);
  return managers;
}

/** Removes what this manager applied before and does not apply now, unless somebody else claims it. */
function pruneUnclaimed(merged: JsonObject, last: FieldSet, managers: Managers, { kind }: ApplyInput): JsonObject {
  const root = kind.root;
  const named = (set: FieldSet): FieldSet => withNamedParents(set, root);
  const pruned = removeFields(merged, named(last), root) ?? {};
  let claimed = emptySet;
  for (const manager of managers.values()) claimed = unionSets(claimed, manager.fields);
  const mergedFields = named(fieldsOf(merged, root));
  const kept = unionSets(named(fieldsOf(pruned, root)), named(claimed));
  const backWithOwned = removeFields(merged, subtractSets(mergedFields, kept), root) ?? {};
  // What vanished with its container but was never applied by this manager comes back.
  const present = named(fieldsOf(backWithOwned, root));
  const gone = intersectSets(subtractSets(mergedFields, present), named(last));
  return (removeFields(merged, gone, root) ?? {}) as JsonObject;
}

function conflictsOf(managers: Managers, self: string, touched: FieldSet): ApplyOutcome | undefined {
  const conflicts: ApplyConflict[] = [];
  const groups: string[] = [];
  const others = [...managers.entries()]
    .filter(([key]) => key !== self)
    .sort(([, a], [, b]) => (describeManager(a) < describeManager(b) ? -1 : 1));
  for (const [, manager] of others) {
    const fields = [...pathsOf(intersectSets(manager.fields, touched))].map(printPath);
    const who = describeManager(manager);
    for (const field of fields) conflicts.push({ manager: manager.name, field, message: `conflict with ${who}` });
    if (fields.length > 0) groups.push(`conflicts with ${who}:${fields.map((field) => `\n- ${field}`).join("")}`);
  }
  const [first] = conflicts;
  if (first === undefined) return undefined;
  const message =
    conflicts.length === 1
      ? `Apply failed with 1 conflict: ${first.message}: ${first.field}`
      : `Apply failed with ${conflicts.length} conflicts: ${groups.join("\n")}`;
  return { kind: "conflicts", conflicts, message };
}

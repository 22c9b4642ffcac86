import { getOwn, isObject, type JsonObject } from "../json.ts";
import { isEmptySet, parseFields, printFields, unionSets, type FieldSet } from "./field-set.ts";

/** What one manager owns through one operation on one (sub)resource. */
export interface Manager {
  readonly name: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339 with seconds; absent on entries that somebody wrote by hand without one. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** Managers by identity. An applier keeps its identity when it changes the apiVersion, an updater does not. */
export type Managers = Map<string, Manager>;

/** Identity of a manager. */
export function managerKey(manager: Pick<Manager, "name" | "operation" | "apiVersion" | "subresource">): string {
  return JSON.stringify([manager.name, manager.operation, manager.operation === "Apply" ? "" : manager.apiVersion, manager.subresource]);
}

/**
 * Reads `metadata.managedFields`.
 *
 * @returns undefined when an entry is malformed
 */
export function readManagers(object: JsonObject | undefined): Managers | undefined {
  const managers: Managers = new Map();
  const metadata = object === undefined ? undefined : getOwn(object, "metadata");
  const entries = isObject(metadata) ? getOwn(metadata, "managedFields") : undefined;
  if (!Array.isArray(entries)) return managers;
  for (const entry of entries) {
    if (!isObject(entry)) return undefined;
    const operation = getOwn(entry, "operation");
    const fields = parseFields(getOwn(entry, "fieldsV1"));
    if ((operation !== "Apply" && operation !== "Update") || fields === undefined || getOwn(entry, "fieldsType") !== "FieldsV1")
      return undefined;
    const manager: Manager = {
      name: text(entry, "manager"),
      operation,
      apiVersion: text(entry, "apiVersion"),
      subresource: text(entry, "subresource"),
      time: text(entry, "time") === "" ? undefined : text(entry, "time"),
      fields,
    };
    const key = managerKey(manager);
    const present = managers.get(key);
    managers.set(key, present === undefined ? manager : { ...manager, fields: unionSets(present.fields, fields) });
  }
  return managers;
}

function text(object: JsonObject, key: string): string {
  const value = getOwn(object, key);
  return typeof value === "string" ? value : "";
}

/** True when a client asks for ownership to be forgotten: a list with one empty entry. */
export function resetsManagers(object: JsonObject): boolean {
  const metadata = getOwn(object, "metadata");
  const entries = isObject(metadata) ? getOwn(metadata, "managedFields") : undefined;
  return Array.isArray(entries) && entries.length === 1 && isObject(entries[0]) && Object.keys(entries[0]).length === 0;
}

/** Most updaters that are told apart; the oldest beyond are joined. */
const maxUpdaters = 10;
const joinedName = "ancient-changes";

/** Joins the oldest updaters into one entry once there are too many. */
export function capManagers(managers: Managers): Managers {
  const updaters = [...managers.entries()].filter(([, manager]) => manager.operation === "Update" && manager.subresource === "");
  if (updaters.length <= maxUpdaters) return managers;
  const byAge = updaters.sort(([, a], [, b]) => compareText(a.time ?? "", b.time ?? "") || compareText(a.name, b.name));
  const capped: Managers = new Map(managers);
  const joined = new Map<string, string>();
  for (const [key, manager] of byAge) {
    if ([...capped.values()].filter((other) => other.operation === "Update" && other.subresource === "").length <= maxUpdaters) break;
    const bucket: Manager = { ...manager, name: joinedName };
    const bucketKey = joined.get(manager.apiVersion) ?? managerKey(bucket);
    joined.set(manager.apiVersion, bucketKey);
    const present = capped.get(bucketKey);
    capped.delete(key);
    capped.set(bucketKey, present === undefined ? bucket : { ...bucket, fields: unionSets(present.fields, manager.fields) });
  }
  return capped;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `metadata.managedFields` as it is stored: appliers first, then by time and name. Managers without fields are left out. */
export function printManagers(managers: Managers): JsonObject[] {
  return [...managers.values()]
    .filter((manager) => !isEmptySet(manager.fields))
    .sort(
      (a, b) =>
        compareText(a.operation, b.operation) ||
        compareText(a.time ?? "", b.time ?? "") ||
        compareText(a.name, b.name) ||
        compareText(a.apiVersion, b.apiVersion) ||
        compareText(a.subresource, b.subresource),
    )
    .map((manager) => ({
      manager: manager.name,
      operation: manager.operation,
      apiVersion: manager.apiVersion,
      ...(manager.time === undefined ? {} : { time: manager.time }),
      fieldsType: "FieldsV1",
      fieldsV1: printFields(manager.fields),
      ...(manager.subresource === "" ? {} : { subresource: manager.subresource }),
    }));
}

/** A manager as conflict messages name it. */
export function describeManager(manager: Manager): string {
  const name = JSON.stringify(manager.name);
  const where = manager.subresource === "" ? name : `${name} with subresource ${JSON.stringify(manager.subresource)}`;
  return manager.operation === "Update" ? `${where} using ${manager.apiVersion}` : where;
}

import type { ObjectChange } from "../task/result.ts";
import { HIDDEN } from "./hide.ts";
import type { Hide } from "./hide.ts";
import type { ManifestObject } from "./objects-in.ts";

/** Fields that are named of an object, and letters of a value. */
const MOST_FIELDS = 6;
const LONGEST_VALUE = 60;
const LONGEST_PATH = 120;

type Values = Readonly<Record<string, unknown>>;

/**
 * What becomes of which object when one manifest follows another: what is made, changed and deleted, in this order and then by name. Of fields the new value is
 * told, never the one before, which may have come of a Secret that nobody knows of any more; of Secrets none. Pure.
 *
 * @param namespace of objects that name none
 */
export function changesBetween(
  before: readonly ManifestObject[],
  after: readonly ManifestObject[],
  namespace: string,
  hide: Hide,
): readonly ObjectChange[] {
  const has = new Map(before.map((one) => [keyOf(one, namespace), one]));
  const wants = new Map(after.map((one) => [keyOf(one, namespace), one]));
  const created: ObjectChange[] = [];
  const changed: ObjectChange[] = [];
  for (const [key, object] of wants) {
    const old = has.get(key);
    if (old === undefined) created.push({ object: wordsOf(object), change: "create", fields: [] });
    else {
      const fields: string[] = [];
      compare(old, object, "", object.kind === "Secret" ? () => HIDDEN : hide, fields);
      const more = fields.length - MOST_FIELDS;
      if (fields.length > 0)
        changed.push({ object: wordsOf(object), change: "change", fields: fields.slice(0, MOST_FIELDS), ...(more > 0 ? { more } : {}) });
    }
  }
  const deleted = [...has]
    .filter(([key]) => !wants.has(key))
    .map(([, object]) => ({ object: wordsOf(object), change: "delete", fields: [] }) as const);
  return [created, changed, deleted].flatMap((some) => some.toSorted((a, b) => (a.object < b.object ? -1 : 1)));
}

/** Group, kind, namespace and name: another version of the same group is the same object. */
function keyOf(object: ManifestObject, namespace: string): string {
  const apiVersion = textOf(object["apiVersion"]);
  const group = apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
  const place = placeOf(object);
  return [group, object.kind, place.namespace || namespace, place.name].join("\n");
}

/** A namespace only where the manifest names one: which kinds have any is not known here. */
function wordsOf(object: ManifestObject): string {
  const { namespace, name } = placeOf(object);
  return `${object.kind} ${namespace === "" ? "" : `${namespace}/`}${name}`.slice(0, 150);
}

function placeOf({ metadata }: ManifestObject): { readonly namespace: string; readonly name: string } {
  const known = isMap(metadata) ? metadata : {};
  return { namespace: textOf(known["namespace"]), name: textOf(known["name"]) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function compare(old: unknown, wanted: unknown, path: string, hide: Hide, fields: string[]): void {
  if (isMap(old) && isMap(wanted)) {
    for (const key of new Set([...Object.keys(old), ...Object.keys(wanted)]))
      compare(old[key], wanted[key], `${path}${path === "" ? key : step(key)}`, hide, fields);
    return;
  }
  if (isNamedList(old) && isNamedList(wanted)) {
    for (const name of new Set([...old, ...wanted].map((one) => one.name)))
      compare(
        old.find((one) => one.name === name),
        wanted.find((one) => one.name === name),
        `${path}[name=${name.slice(0, 40)}]`,
        hide,
        fields,
      );
    return;
  }
  const [was, is] = [JSON.stringify(old), JSON.stringify(wanted)];
  if (was === is) return;
  const place = path.slice(0, LONGEST_PATH);
  fields.push(wanted === undefined || wanted === null ? `${place} goes` : `${place}: ${told(wanted, hide)}`);
}

/** The new value, as short as a line allows: hidden before it is cut. */
function told(value: unknown, hide: Hide): string {
  const text = typeof value === "object" ? JSON.stringify(hidden(value, hide)) : hide(textOf(value));
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}...` : text;
}

function hidden(value: unknown, hide: Hide): unknown {
  if (Array.isArray(value)) return value.map((one) => hidden(one, hide));
  if (isMap(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hidden(one, hide)]));
  return value === null || value === undefined ? value : hide(textOf(value));
}

function isMap(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNamedList(value: unknown): value is readonly (Values & { readonly name: string })[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every((one) => isMap(one) && typeof one["name"] === "string")) return false;
  return new Set(value.map((one: Values) => one["name"])).size === value.length;
}

function step(key: string): string {
  return /^[\w-]+$/.test(key) ? `.${key}` : `[${key.slice(0, 80)}]`;
}

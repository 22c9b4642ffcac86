import type { ObjectChange } from "../task/result.ts";
import { HIDDEN } from "./hide.ts";
import type { Hide } from "./hide.ts";
import type { ManifestObject } from "./objects-in.ts";

/** Fields that are named of an object, and letters of a value. */
const MOST_FIELDS = 6;
const LONGEST_VALUE = 60;
const LONGEST_PATH = 120;

type Values = Readonly<Record<string, unknown>>;

/** Manifests that are compared. */
export interface Compared {
  readonly before: readonly ManifestObject[];
  readonly after: readonly ManifestObject[];
  /** `after`, rendered once more with other texts in place of those of Secrets: what is not the same in it came of them, or of chance. */
  readonly twin: readonly ManifestObject[];
}

/**
 * What becomes of which object when one manifest follows another: what is made, changed and deleted, in this order and then by name. Of fields the new value is
 * told, never the one before, which may have come of a Secret that nobody knows of any more; of Secrets none, nor what is made of one. Pure.
 *
 * @param namespace of objects that name none
 */
export function changesBetween({ before, after, twin }: Compared, namespace: string, hide: Hide): readonly ObjectChange[] {
  const byKey = (objects: readonly ManifestObject[]): ReadonlyMap<string, ManifestObject> =>
    new Map(objects.map((one) => [keyOf(one, namespace), one]));
  const [has, wants, twins] = [byKey(before), byKey(after), byKey(twin)];
  const created: ObjectChange[] = [];
  const changed: ObjectChange[] = [];
  for (const [key, object] of wants) {
    const old = has.get(key);
    const other = twins.get(key);
    // A name that is made of a Secret is no name to tell; one that stands in the cluster is known.
    if (old === undefined)
      created.push({ object: other === undefined ? `${object.kind} ${HIDDEN}` : wordsOf(object), change: "create", fields: [] });
    else {
      const fields: string[] = [];
      compare({ old, wanted: object, twin: other }, "", object.kind === "Secret" ? () => HIDDEN : hide, fields);
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

interface Place {
  readonly old: unknown;
  readonly wanted: unknown;
  readonly twin: unknown;
}

function compare({ old, wanted, twin }: Place, path: string, hide: Hide, fields: string[]): void {
  if (isMap(old) && isMap(wanted)) {
    const other = isMap(twin) ? twin : {};
    for (const key of new Set([...Object.keys(old), ...Object.keys(wanted)])) {
      const isKnown = Object.hasOwn(old, key) || Object.hasOwn(other, key);
      const next = isKnown ? (path === "" ? key : step(key)) : `.${HIDDEN}`;
      compare({ old: old[key], wanted: wanted[key], twin: other[key] }, `${path}${next}`, hide, fields);
    }
    return;
  }
  if (isNamedList(old) && isNamedList(wanted)) {
    const find = (list: unknown, name: string): unknown => (isNamedList(list) ? list.find((one) => one.name === name) : undefined);
    for (const name of new Set([...old, ...wanted].map((one) => one.name))) {
      const place = { old: find(old, name), wanted: find(wanted, name), twin: find(twin, name) };
      const isKnown = place.old !== undefined || place.twin !== undefined;
      compare(place, `${path}[name=${isKnown ? name.slice(0, 40) : HIDDEN}]`, hide, fields);
    }
    return;
  }
  const is = JSON.stringify(wanted);
  if (JSON.stringify(old) === is) return;
  const place = path.slice(0, LONGEST_PATH);
  if (isPlainList(old) && isPlainList(wanted) && old.length > 0 && wanted.length > 0) {
    fields.push(`${place}: ${listWords(old, wanted, isPlainList(twin) ? twin : [], hide)}`);
    return;
  }
  const isPublic = JSON.stringify(twin) === is;
  fields.push(wanted === undefined || wanted === null ? `${place} goes` : `${place}: ${isPublic ? told(wanted, hide) : HIDDEN}`);
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

/** Arguments and their like are long, and one of them changes. */
function listWords(old: readonly unknown[], wanted: readonly unknown[], twin: readonly unknown[], hide: Hide): string {
  const gained = wanted.filter((one) => !old.includes(one)).map((one) => (twin.includes(one) ? told(one, hide) : HIDDEN));
  const lost = old.filter((one) => !wanted.includes(one)).length;
  const words = [...(gained.length > 0 ? [`with ${gained.join(" ")}`] : []), ...(lost > 0 ? [`without ${lost} that were there`] : [])];
  return words.length === 0 ? "in another order" : words.join(", ");
}

function isPlainList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every((one) => typeof one !== "object" || one === null);
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

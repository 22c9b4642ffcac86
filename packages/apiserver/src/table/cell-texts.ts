import { isObject, type JsonObject } from "../json.ts";
import { ageOf } from "./age.ts";
import { at, listAt, textAt } from "./read-fields.ts";

/** Cells of one object, in the order of the kind's columns. */
export type CellWriter = (object: JsonObject, now: Date) => readonly unknown[];

/** The number at a path, else 0. */
export function numberAt(value: unknown, ...path: readonly string[]): number {
  const found = at(value, ...path);
  return typeof found === "number" ? found : 0;
}

/** What kubectl prints for nothing. */
export const none = "<none>";
/** The name of an object. */
export const name = (object: JsonObject): string => textAt("", object, "metadata", "name");
/** Its age, as kubectl prints it. */
export const age = (object: JsonObject, now: Date): string => ageOf(at(object, "metadata", "creationTimestamp"), now);
/** How many members an object has. */
export const sizeOf = (value: unknown): number => (isObject(value) ? Object.keys(value).length : 0);

/** `a=1,b=2`. */
export function selectorText(labels: unknown): string {
  if (!isObject(labels) || Object.keys(labels).length === 0) return none;
  return Object.keys(labels)
    .sort()
    .map((key) => `${key}=${String(labels[key])}`)
    .join(",");
}

/** A LabelSelector in one line. */
export function labelSelectorText(selector: unknown): string {
  const parts = sizeOf(at(selector, "matchLabels")) > 0 ? [selectorText(at(selector, "matchLabels"))] : [];
  for (const expression of listAt(selector, "matchExpressions")) {
    const key = textAt("", expression, "key");
    const values = `(${listAt(expression, "values").map(String).sort().join(",")})`;
    switch (at(expression, "operator")) {
      case "In":
        parts.push(`${key} in ${values}`);
        break;
      case "NotIn":
        parts.push(`${key} notin ${values}`);
        break;
      case "Exists":
        parts.push(key);
        break;
      default:
        parts.push(`!${key}`);
    }
  }
  return parts.length === 0 ? none : parts.join(",");
}

/** Names and images of the containers of a pod template. */
export function containerTexts(object: JsonObject): [names: string, images: string] {
  const containers = listAt(object, "spec", "template", "spec", "containers");
  return [containers.map((item) => textAt("", item, "name")).join(","), containers.map((item) => textAt("", item, "image")).join(",")];
}

import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt, stringsAt } from "./json.ts";

/** True when labels fit a `LabelSelector` object; an empty one fits everything, an unknown operator nothing. */
export function matchesLabelSelector(selector: JsonObject, labels: JsonObject): boolean {
  const has = (key: string): boolean => Object.hasOwn(labels, key);
  const isEqual = Object.entries(objectAt(selector, "matchLabels")).every(([key, value]) => has(key) && labels[key] === value);
  return (
    isEqual &&
    objectsAt(selector, "matchExpressions").every((expression) => {
      const key = stringAt(expression, "key") ?? "";
      const isIn = has(key) && stringsAt(expression, "values").includes(String(labels[key]));
      switch (stringAt(expression, "operator")) {
        case "In":
          return isIn;
        case "NotIn":
          return !isIn;
        case "Exists":
          return has(key);
        case "DoesNotExist":
          return !has(key);
        default:
          return false;
      }
    })
  );
}

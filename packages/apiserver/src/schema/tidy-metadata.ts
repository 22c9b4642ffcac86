import { getOwn, isObject, type JsonObject } from "../json.ts";

/**
 * Removes empty lists, maps and texts and nulls from `metadata`, in place: the genuine server reads it into a struct that does not print
 * them again.
 */
export function tidyMetadata(object: JsonObject): void {
  const metadata = getOwn(object, "metadata");
  if (!isObject(metadata)) return;
  for (const key of Object.keys(metadata)) {
    const value = metadata[key];
    const isEmpty =
      value === null || value === "" || (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);
    if (isEmpty) delete metadata[key];
  }
}

import { annotations, annotationsOfOperator, OPERATOR_GROUP, TALOS_GROUP } from "@talos-operator/api";
import type { ObjectMeta } from "@talos-operator/api";

/** Annotations of a person, each by its name without the prefix. */
const BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.values(annotations)
    .filter((key) => !annotationsOfOperator.has(key))
    .map((key) => [nameOf(key), key]),
);

/** Prefixes that people mix up, or forget. */
const PREFIXES: readonly string[] = [`${OPERATOR_GROUP}/`, `${TALOS_GROUP}/`, ""];

/** What is said of annotations that differ from one that is read only by their prefix, or have a value that is none: whoever wrote one would wait in vain. Sentences. */
export function unreadAnnotations({ annotations: written = {} }: Pick<ObjectMeta, "annotations">): readonly string[] {
  return Object.entries(written)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, value]) => {
      if (key === annotations.endpointReachableFrom && value.toLowerCase() !== "outside")
        return [`Annotation ${key} says ${JSON.stringify(value.slice(0, 100))}, which is no known value: write outside, or remove it.`];
      const read = PREFIXES.some((prefix) => key === prefix + nameOf(key)) ? BY_NAME.get(nameOf(key)) : undefined;
      return read === undefined || read === key ? [] : [`Annotation ${key} is not read: write ${read}.`];
    });
}

function nameOf(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

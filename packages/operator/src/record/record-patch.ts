import { isDeepStrictEqual } from "node:util";
import type { ClusterRecord } from "@talos-operator/api";
import type { JsonPatchOperation } from "@talos-operator/kube-runtime";

/**
 * What makes the stored record `before` the record `after`, as a compare-and-swap: whoever wrote meanwhile makes it a conflict. What stays is not sent, so that an
 * intent costs the same in a cluster of three machines and of two thousand.
 *
 * The API server puts the patch on what is stored then, and only afterwards compares the version: places in lists are those of `before`, and a record that has
 * fewer is refused as invalid and not as a conflict. The first operation asks for the version, so both mean the same.
 */
export function recordPatch(before: ClusterRecord, after: ClusterRecord): readonly JsonPatchOperation[] {
  const { resourceVersion } = before.metadata;
  return [
    { op: "test", path: "/metadata/resourceVersion", value: resourceVersion },
    { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
    ...fieldChanges(before.spec, after.spec, "/spec"),
  ];
}

function fieldChanges(before: object, after: object, path: string): readonly JsonPatchOperation[] {
  const was = new Map<string, unknown>(Object.entries(before));
  const is = new Map<string, unknown>(Object.entries(after).filter(([, value]) => value !== undefined));
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((key): readonly JsonPatchOperation[] => {
    const at = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const [old, next] = [was.get(key), is.get(key)];
    if (next === undefined) return old === undefined ? [] : [{ op: "remove", path: at }];
    if (old === undefined) return [{ op: "add", path: at, value: next }];
    if (isSame(old, next)) return [];
    return Array.isArray(old) && Array.isArray(next) ? itemChanges(old, next, at) : [{ op: "replace", path: at, value: next }];
  });
}

/** Items that went, changed in their place, or came; the whole list where it was put into another order, or names something twice. */
function itemChanges(before: readonly unknown[], after: readonly unknown[], path: string): readonly JsonPatchOperation[] {
  const whole: JsonPatchOperation = { op: "replace", path, value: after };
  const [was, is] = [new Set(before.map(nameOf)), new Set(after.map(nameOf))];
  if (was.size < before.length || is.size < after.length) return [whole];
  const gone = before.flatMap((item, index): readonly JsonPatchOperation[] =>
    is.has(nameOf(item)) ? [] : [{ op: "remove", path: `${path}/${index}` }],
  );
  const kept = before.filter((item) => is.has(nameOf(item)));
  const changes: JsonPatchOperation[] = gone.toReversed();
  let next = 0;
  for (const [index, item] of after.entries()) {
    if (!was.has(nameOf(item))) changes.push({ op: "add", path: `${path}/${index}`, value: item });
    else {
      if (nameOf(kept[next]) !== nameOf(item)) return [whole];
      if (!isSame(kept[next], item)) changes.push({ op: "replace", path: `${path}/${index}`, value: item });
      next += 1;
    }
  }
  return changes;
}

/** What an item is called: intents have an id, machines a name; a decision is what it says. */
function nameOf(item: unknown): string {
  const { id, name } = Object(item) as { readonly id?: unknown; readonly name?: unknown };
  const given = id ?? name;
  return typeof given === "string" ? given : JSON.stringify(item);
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || isDeepStrictEqual(a, b);
}

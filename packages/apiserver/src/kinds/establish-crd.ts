import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt, stringsAt } from "../request/json.ts";
import { compileCrd } from "../schema/index.ts";
import { storageVersions } from "./custom.ts";
import type { ServedKind } from "./kind.ts";
import type { KindRegistry } from "./registry.ts";

/**
 * Serves a stored CRD and returns the status that says so. Names that another CRD of the group has make it wait with `NamesAccepted=False`.
 * A CRD that is being deleted is still served, so that finalizers of its objects can be worked off.
 */
export function establishCrd(kinds: KindRegistry, crd: JsonObject, now: string): JsonObject {
  const spec = objectAt(crd, "spec");
  const names = objectAt(spec, "names");
  const group = stringAt(spec, "group") ?? "";
  const status = objectAt(crd, "status");
  const conflict = conflictOfNames(
    names,
    kinds.all().filter((kind) => kind.group === group && kind.plural !== names["plural"]),
  );
  if (conflict !== undefined) {
    return withConditions({ ...status, acceptedNames: conflict.accepted }, now, [
      { type: "NamesAccepted", status: "False", reason: conflict.reason, message: conflict.message },
      { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" },
    ]);
  }
  const outcome = compiledOf(crd, spec);
  if (!outcome.ok) {
    return withConditions(status, now, [
      {
        type: "NonStructuralSchema",
        status: "True",
        reason: "Violations",
        message: outcome.errors.map((error) => `${error.field}: ${error.message}`).join("; "),
      },
    ]);
  }
  kinds.register(outcome.crd);
  return withConditions(
    { ...status, acceptedNames: names, storedVersions: [...new Set([...stringsAt(status, "storedVersions"), ...storageVersions(spec)])] },
    now,
    [
      { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" },
      { type: "Established", status: "True", reason: "InitialNamesAccepted", message: "the initial names have been accepted" },
    ],
  );
}

/** The last of the names that another kind of the group has, in the order in which they are looked at, and those that nobody has. */
function conflictOfNames(
  names: JsonObject,
  others: readonly ServedKind[],
): { readonly reason: string; readonly message: string; readonly accepted: JsonObject } | undefined {
  const resources = new Set(others.flatMap(({ names: { plural, singular, shortNames } }) => [plural, singular, ...shortNames]));
  const kindNames = new Set(others.flatMap(({ names: { kind, listKind } }) => [kind, listKind]));
  const wanted: readonly (readonly [field: string, reason: string, texts: readonly unknown[], taken: ReadonlySet<string>])[] = [
    ["plural", "PluralConflict", [names["plural"]], resources],
    ["singular", "SingularConflict", [names["singular"]], resources],
    ["shortNames", "ShortNamesConflict", stringsAt(names, "shortNames"), resources],
    ["kind", "KindConflict", [names["kind"]], kindNames],
    ["listKind", "ListKindConflict", [names["listKind"]], kindNames],
  ];
  const looked = wanted.map(([field, reason, texts, taken]) => ({ field, reason, taken: texts.filter((text) => taken.has(String(text))) }));
  const found = looked.findLast(({ taken }) => taken.length > 0);
  if (found === undefined) return undefined;
  const messages = found.taken.map((text) => `${JSON.stringify(text)} is already in use`);
  const free = looked.filter(({ field, taken }) => taken.length === 0 && names[field] !== undefined);
  return {
    reason: found.reason,
    message: messages.length === 1 ? (messages[0] ?? "") : `[${messages.join(", ")}]`,
    accepted: { kind: "", plural: "", ...Object.fromEntries(free.map(({ field }) => [field, names[field]])) },
  };
}

/** What specs were compiled to: servers of one process that begin with the same objects compile them once. */
const compiled = new WeakMap<JsonObject, { readonly name: string; readonly outcome: ReturnType<typeof compileCrd> }>();

function compiledOf(crd: JsonObject, spec: JsonObject): ReturnType<typeof compileCrd> {
  const name = stringAt(metadataOf(crd), "name") ?? "";
  const known = compiled.get(spec);
  if (known?.name === name) return known.outcome;
  const outcome = compileCrd(crd);
  compiled.set(spec, { name, outcome });
  return outcome;
}

function withConditions(status: JsonObject, now: string, wanted: readonly JsonObject[]): JsonObject {
  const conditions = [...objectsAt(status, "conditions")];
  for (const condition of wanted) {
    const index = conditions.findIndex((existing) => existing["type"] === condition["type"]);
    const existing = conditions[index];
    const since = existing !== undefined && existing["status"] === condition["status"] ? existing["lastTransitionTime"] : now;
    conditions.splice(index === -1 ? conditions.length : index, 1, { lastTransitionTime: since, ...condition });
  }
  return { ...status, conditions };
}

import type { Finding } from "@talos-operator/api";

/**
 * Fields of a pool, each with the field of the object that the person wrote: `{ "spec.endpoint": "spec.clusterEndpoint" }`. One counts for the fields below it, too,
 * and the longest that fits counts.
 */
export type WrittenFields = Readonly<Record<string, string>>;

/** A field of the object that speaks. `a.spec.b`, `TalosMachine/x spec.b` and `TalosWorker default/x spec.b` are another's. */
const OWN_FIELD = /(?<![\w.]|\bTalos\w+(?:\/| \S+\/)\S+ )spec(?:\.\w+)+/g;

/** What a pool says, with the fields where the person wrote them. */
export function written(message: string, fields: WrittenFields = {}): string {
  const byLength = Object.entries(fields).toSorted(([a], [b]) => b.length - a.length);
  return message.replaceAll(OWN_FIELD, (path) => {
    const [from, to] = byLength.find(([field]) => path === field || path.startsWith(`${field}.`)) ?? ["", ""];
    return to + path.slice(from.length);
  });
}

/**
 * The same fields for a pool that has more than its owner wrote: what a person added to the pool is named there, for only there it can be corrected.
 *
 * @param stored spec of the pool as it is
 * @param wanted spec of the pool as its owner writes it; `undefined` = not known
 */
export function withAdded(fields: WrittenFields, stored: unknown, wanted: unknown): WrittenFields {
  return wanted === undefined ? fields : { ...fields, ...Object.fromEntries(added("spec", stored, wanted).map((path) => [path, path])) };
}

/** Of lists nobody can tell who wrote an entry. */
function added(path: string, stored: unknown, wanted: unknown): readonly string[] {
  if (wanted === undefined) return [path];
  if (!isMap(stored) || !isMap(wanted)) return [];
  return Object.entries(stored).flatMap(([key, value]) => added(`${path}.${key}`, value, wanted[key]));
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What another object says of itself, to be repeated by a pool. @param object its kind and name, as in `TalosEtcdBackup/nightly-1` */
export function repeated(message: string, object: string): string {
  return message.replaceAll(OWN_FIELD, (path) => `${object} ${path}`);
}

/** Findings about a pool that another object describes itself, at the field where it does so. */
export function findingsAt(findings: readonly Finding[], field: string): readonly Finding[] {
  return findings.map((finding) => ({
    ...finding,
    field: finding.field.replace(/^spec\b/, field),
    message: written(finding.message, { "spec.metalSpec": `${field}.metalSpec` }),
  }));
}

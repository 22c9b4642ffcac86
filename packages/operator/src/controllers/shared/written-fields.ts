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

import type { EventEntry } from "../src/reasons/events.ts";

/** `docs/reference/events.md`: each reason of an event as a row. */
export function eventsReference(catalogue: Readonly<Record<string, EventEntry>>): string {
  const rows = Object.entries(catalogue).map(([reason, { type, on, when }]) => `| \`${reason}\` | ${type} | ${on.join(", ")} | ${when} |`);
  return `# Events

Generated from \`packages/api\` by \`npm run generate\`.

\`kubectl describe\` shows them below an object, \`kubectl events --for taloscluster/demo\` alone. They are \`events.k8s.io/v1\` and kept by the API server for an hour
unless it is told otherwise; what is so now is in the [conditions](conditions.md).

A step is reported on its TalosMachine. Start, end and failure of an operation are reported on the object that a person wrote: the TalosCluster or KubernetesCluster, or the
pool where no cluster made it. Restarts by the operator itself are no \`NotReady\`. A step of a machine whose object is gone is reported on its pool or cluster.

Each is reported when a fact was written into the ClusterRecord, or when a condition that turned was written into a status: a restart reports nothing twice, and an end in
that very moment may lose one. \`Ready\` of a TalosMachine and \`EtcdHealthy\` are reported by the process that reported the opposite. Machines that leave within five
seconds share an event. The same event again is counted, and the count is written once a minute.

| Reason | Type | On | When |
|---|---|---|---|
${rows.join("\n")}
`;
}

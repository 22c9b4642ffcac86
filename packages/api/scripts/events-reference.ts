import type { EventEntry } from "../src/reasons/events.ts";

/** `docs/reference/events.md`: each reason of an event as a row. */
export function eventsReference(catalogue: Readonly<Record<string, EventEntry>>): string {
  const rows = Object.entries(catalogue).map(([reason, { type, on, when }]) => `| \`${reason}\` | ${type} | ${on.join(", ")} | ${when} |`);
  return `# Events

Generated from \`packages/api\` by \`npm run generate\`.

\`kubectl describe\` shows them below an object, \`kubectl events --for taloscluster/demo\` alone. They are \`events.k8s.io/v1\` and kept by the API server for an hour
unless it is told otherwise; what is so now is in the [conditions](conditions.md).

Each is reported when a fact was written into the ClusterRecord, or when a condition that turned was written into a status: a restart reports nothing twice, and an end in
that very moment may lose one. \`Ready\` of a TalosMachine and \`EtcdHealthy\` are reported by the process that reported the opposite. Machines that do the same within five
seconds share an event on their pool and their cluster. The same event again is counted, and the count is written once a minute.

| Reason | Type | On | When |
|---|---|---|---|
${rows.join("\n")}
`;
}

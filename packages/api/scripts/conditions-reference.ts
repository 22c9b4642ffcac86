import type { ConditionEntry } from "../src/reasons/entry.ts";

/** `docs/reference/conditions.md`: each condition type with its reasons as a table. */
export function conditionsReference(catalogue: Readonly<Record<string, ConditionEntry>>): string {
  return `# Conditions

Generated from \`packages/api\` by \`npm run generate\`.

Each object says under \`status.conditions\` what was observed. \`Ready\` is the summary: \`kubectl wait --for=condition=Ready\`.
A condition whose \`observedGeneration\` is smaller than \`metadata.generation\` speaks of an earlier spec.
\`Reconciling\` and \`Stalled\` are for GitOps tools: [howto/gitops.md](../howto/gitops.md).

${Object.entries(catalogue)
  .map(([type, entry]) => section(type, entry))
  .join("\n")}`;
}

function section(type: string, entry: ConditionEntry): string {
  const rows = Object.entries(entry.reasons).map(([reason, { status, when, next }]) => `| \`${reason}\` | ${status} | ${when} | ${next} |`);
  return `## ${type}

${entry.meaning}

On ${entry.kinds.join(", ")}.

| Reason | Status | When | What to do |
|---|---|---|---|
${rows.join("\n")}
`;
}

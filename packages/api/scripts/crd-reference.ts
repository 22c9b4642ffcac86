import { controlPlaneSpecField } from "../src/kinds/talos-control-plane.ts";
import { etcdBackupSpecField } from "../src/kinds/talos-etcd-backup.ts";
import { workerSpecField } from "../src/kinds/talos-worker.ts";
import { conditionsField } from "../src/meta/condition.ts";
import type { KindDefinition } from "../src/schema/crd.ts";
import type { JsonSchema } from "../src/schema/json-schema.ts";

/** Structures that are described once and referred to elsewhere. */
const shared: readonly { readonly schema: JsonSchema; readonly home: string; readonly text: string }[] = [
  { schema: controlPlaneSpecField.schema, home: "TalosControlPlane", text: "Fields as `spec` of [TalosControlPlane](#taloscontrolplane)." },
  { schema: workerSpecField.schema, home: "TalosWorker", text: "Fields as `spec` of [TalosWorker](#talosworker)." },
  { schema: etcdBackupSpecField.schema, home: "TalosEtcdBackup", text: "Fields as `spec` of [TalosEtcdBackup](#talosetcdbackup)." },
  { schema: conditionsField.schema, home: "", text: "Types and reasons: [conditions](conditions.md)." },
];

/** `docs/reference/crds.md`: each kind with its fields as a table, those of other operators last. */
export function crdReference(kinds: readonly KindDefinition[], companions: readonly KindDefinition[]): string {
  return `# Kinds

Generated from \`packages/api\` by \`npm run generate\`.

${kinds.map(kindSection).join("\n")}
# Kinds of other operators

Read, or asked for, where they are served; a cluster does without each of them. Their owner installs them; \`config/crd/companions\` has
them for trying things out.

${companions.map(kindSection).join("\n")}`;
}

function kindSection({ resource, categories = [], description, spec, status, printerColumns }: KindDefinition): string {
  const rows = [
    ...fieldRows("spec", spec.schema, spec.isRequired, resource.kind),
    ...fieldRows("status", status.schema, false, resource.kind),
  ];
  const columns = printerColumns.length === 0 ? "name and age" : printerColumns.map((column) => column.name).join(", ");
  return `## ${resource.kind}

${description}

\`${resource.group}/${resource.version}\`, ${resource.namespaced ? "namespaced" : "cluster-scoped"}, \`kubectl get ${resource.plural}\` or \`${resource.shortNames.join("`, `")}\`${categories.map((name) => `, with others of ours \`${name}\``).join("")}; columns: ${columns}.

| Field | Type | Meaning | Rules |
|---|---|---|---|
${rows.join("\n")}
`;
}

function fieldRows(path: string, schema: JsonSchema, isRequired: boolean, kind: string): string[] {
  const elsewhere = shared.find((entry) => entry.home !== kind && sameStructure(entry.schema, schema));
  const meaning = [cell(schema.description ?? ""), ...(elsewhere ? [elsewhere.text] : [])].join(" ");
  const row = `| \`${path}\` | ${typeOf(schema)} | ${meaning} | ${rulesOf(schema, isRequired).join("; ")} |`;
  if (elsewhere !== undefined) return [row];
  const requiredNames = new Set(schema.required);
  return [
    row,
    ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
      fieldRows(`${path}.${name}`, child, requiredNames.has(name), kind),
    ),
    ...Object.entries(schema.items?.properties ?? {}).flatMap(([name, child]) =>
      fieldRows(`${path}[].${name}`, child, new Set(schema.items?.required).has(name), kind),
    ),
  ];
}

/** A structure with other words is the same structure: `described` keeps the identity of what lies below. */
function sameStructure(a: JsonSchema, b: JsonSchema): boolean {
  return (a.properties !== undefined && a.properties === b.properties) || (a.items !== undefined && a.items === b.items);
}

function typeOf(schema: JsonSchema): string {
  if (schema["x-kubernetes-int-or-string"]) return "integer or string";
  if (schema["x-kubernetes-preserve-unknown-fields"]) return schema.items === undefined ? "object, free form" : "list or object";
  if (schema.additionalProperties) return `map of ${schema.additionalProperties.type}`;
  if (schema.type === "array")
    return `list of ${schema.items?.["x-kubernetes-preserve-unknown-fields"] ? "object, free form" : (schema.items?.type ?? "any")}`;
  return schema.format === undefined ? (schema.type ?? "any") : `${schema.type} (${schema.format})`;
}

function rulesOf(schema: JsonSchema, isRequired: boolean): string[] {
  const rules: string[] = [];
  if (isRequired) rules.push("required");
  if (schema.default !== undefined) rules.push(`default \`${JSON.stringify(schema.default)}\``);
  if (schema.enum) rules.push(schema.enum.map((value) => `\`${value}\``).join(", "));
  if (schema.pattern) rules.push(`pattern \`${cell(schema.pattern)}\``);
  if (schema.items?.pattern) rules.push(`items: pattern \`${cell(schema.items.pattern)}\``);
  if (schema.minLength !== undefined) rules.push(`at least ${schema.minLength} characters`);
  if (schema.maxLength !== undefined) rules.push(`at most ${schema.maxLength} characters`);
  if (schema.minimum !== undefined) rules.push(`at least ${schema.minimum}`);
  if (schema.maxItems !== undefined) rules.push(`at most ${schema.maxItems} items`);
  for (const rule of [...(schema["x-kubernetes-validations"] ?? []), ...(schema.items?.["x-kubernetes-validations"] ?? [])])
    rules.push(cell(rule.message));
  return rules;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

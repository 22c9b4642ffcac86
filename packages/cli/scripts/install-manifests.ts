import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crds } from "@talos-operator/api";
import { permissions, policyRuleOf } from "@talos-operator/operator";
import type { Permission } from "@talos-operator/operator";
import { dump } from "js-yaml";

const root = join(import.meta.dirname, "../../..");
const note = (source: string): string => `Generated from ${source} by \`npm run generate\`. Do not edit.`;

/** Features that a value of the chart switches off. */
const switches: Partial<Record<Permission["feature"], string>> = { neighbours: ".Values.rbac.detectOtherOperators" };

/** Kinds that people write; what they may do to them, the roles `edit` and `admin` of a namespace may. */
const written: readonly (readonly [string, readonly string[]])[] = [
  [
    "talos.alperen.cloud",
    ["talosclusters", "taloscontrolplanes", "talosworkers", "talosmachines", "talosetcdbackups", "talosetcdbackupschedules"],
  ],
  ["vitistack.io", ["kubernetesclusters", "etcdbackups"]],
];

/** Kinds that only show, or are others'. */
const shown: readonly (readonly [string, readonly string[]])[] = [
  ["talos-operator.dev", ["clusterrecords"]],
  ["vitistack.io", ["machines"]],
];

const LOOK = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];

/** Rules that the cluster's own roles take in: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles */
const aggregated: readonly { readonly to: string; readonly why: string; readonly rules: readonly object[] }[] = [
  { to: "view", why: "what is in these objects is no secret", rules: [...written, ...shown].map((one) => aggregatedRule(one, LOOK)) },
  {
    to: "edit",
    why: "clusters are made, changed and deleted, which may wipe machines",
    rules: written.map((one) => aggregatedRule(one, WRITE)),
  },
  {
    to: "admin",
    why: "a record is deleted where a runbook says so; it is held while its cluster is there",
    rules: [aggregatedRule(["talos-operator.dev", ["clusterrecords"]], ["delete", "patch", "update"])],
  },
];

function aggregatedRule([group, resources]: readonly [string, readonly string[]], verbs: readonly string[]): object {
  return { apiGroups: [group], resources, verbs };
}

function rulesText(rules: readonly object[]): string {
  return dump(rules, { flowLevel: 2, lineWidth: -1, noRefs: true }).trimEnd();
}

/** Writes what the chart and the kustomize tree take from the code: CRDs that an uninstall keeps, and the rules of the roles. */
export function writeInstallManifests(): void {
  const folder = join(root, "charts/talos-operator/files/crds");
  mkdirSync(folder, { recursive: true });
  for (const old of readdirSync(folder)) rmSync(join(folder, old));
  const files = crds.map((crd) => ({ crd, file: `${crd.spec.group}_${crd.spec.names.plural}.yaml` }));
  for (const { crd, file } of files) {
    const metadata = { ...crd.metadata, annotations: { "helm.sh/resource-policy": "keep" } };
    writeFileSync(join(folder, file), `# ${note("packages/api")}\n${dump({ ...crd, metadata }, { lineWidth: -1, noRefs: true })}`);
  }
  // The name without an ending keeps it out of `kubectl apply -f config/crd`.
  const kustomization = { apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", resources: files.map(({ file }) => file) };
  writeFileSync(join(root, "config/crd/Kustomization"), `# ${note("packages/api")}\n${dump(kustomization)}`);

  const everywhere = permissions.filter(({ inOwnNamespace }) => inOwnNamespace !== true);
  const own = permissions.filter(({ inOwnNamespace }) => inOwnNamespace === true);
  const source = "packages/operator/src/permissions.ts";
  writeFileSync(
    join(root, "charts/talos-operator/templates/_rules.tpl"),
    [
      `{{- /* ${note(source)} */ -}}`,
      `{{- define "talos-operator.clusterRules" -}}`,
      ...everywhere.map(chartRule),
      "{{- end }}",
      "",
      `{{- define "talos-operator.ownNamespaceRules" -}}`,
      ...own.map(chartRule),
      "{{- end }}",
      "",
    ].join("\n"),
  );
  writeFileSync(
    join(root, "charts/talos-operator/templates/aggregate-roles.yaml"),
    [
      `{{- /* ${note("packages/cli/scripts/install-manifests.ts")} */ -}}`,
      "{{- if and .Values.rbac.create .Values.rbac.aggregateRoles }}",
      ...aggregated.flatMap(({ to, why, rules }) => [
        "---",
        `# ${why}`,
        "apiVersion: rbac.authorization.k8s.io/v1",
        "kind: ClusterRole",
        "metadata:",
        `  name: {{ include "talos-operator.fullname" . }}-${to}`,
        "  labels:",
        `    {{- include "talos-operator.labels" . | nindent 4 }}`,
        `    rbac.authorization.k8s.io/aggregate-to-${to}: "true"`,
        "rules:",
        indented(rulesText(rules)),
      ]),
      "{{- end }}",
      "",
    ].join("\n"),
  );
  writeFileSync(
    join(root, "config/rbac/aggregate_roles.yaml"),
    `# ${note("packages/cli/scripts/install-manifests.ts")}\n${aggregated
      .map(({ to, why, rules }) => {
        const metadata = { name: `talos-operator-${to}`, labels: { [`rbac.authorization.k8s.io/aggregate-to-${to}`]: "true" } };
        const head = dump({ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata }).trimEnd();
        return `# ${why}\n${head}\nrules:\n${indented(rulesText(rules))}\n`;
      })
      .join("---\n")}`,
  );
  const metadata = { name: "talos-operator" };
  const leader = { name: "talos-operator-leader-election", namespace: "talos-operator-system" };
  writeFileSync(
    join(root, "config/rbac/role.yaml"),
    [`# ${note(source)}`, role("ClusterRole", metadata, everywhere), "---", role("Role", leader, own), ""].join("\n"),
  );
}

function role(kind: string, metadata: object, rules: readonly Permission[]): string {
  return [
    dump({ apiVersion: "rbac.authorization.k8s.io/v1", kind, metadata }).trimEnd(),
    "rules:",
    ...rules.map((rule) => indented(ruleText(rule))),
  ].join("\n");
}

function chartRule(permission: Permission): string {
  const condition = switches[permission.feature];
  return condition === undefined ? ruleText(permission) : `{{- if ${condition} }}\n${ruleText(permission)}\n{{- end }}`;
}

function ruleText(permission: Permission): string {
  return `# ${permission.why}\n${dump([policyRuleOf(permission)], { flowLevel: 2, lineWidth: -1 }).trimEnd()}`;
}

function indented(text: string): string {
  return text.replace(/^/gm, "  ");
}

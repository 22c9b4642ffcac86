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

import { loadAll } from "js-yaml";

/** What components of Kubernetes refuse of a configuration that Talos takes. */
export interface KubeRefusals {
  /** kube-apiserver ends with these words as often as it is started; `undefined` = it starts. */
  readonly apiServer: string | undefined;
  /** The kubelet ends as often as it is started. */
  readonly kubelet: boolean;
}

const nothing: KubeRefusals = { apiServer: undefined, kubelet: false };

type Tree = Readonly<Record<string, unknown>>;

/**
 * Reads what the components would. Written apart from the operator's own checks, which are held against it.
 *
 * @see kubernetes `pod-security-admission/admission/api/validation`, `apiserver/pkg/apis/apiserver/validation`, `apiserver/pkg/apis/audit/validation`,
 * `cmd/kubelet/app/options`
 */
export function kubeRefusalsOf(text: string, isControlPlane: boolean): KubeRefusals {
  // Most configurations of workers say nothing of this, and to read one takes a millisecond.
  if (!isControlPlane && !text.includes("node-labels")) return nothing;
  const documents = loadAll(text).filter(isTree);
  const legacy = documents.find((document) => !("kind" in document)) ?? {};
  const ofKind = (kind: string): readonly Tree[] => documents.filter((document) => document["kind"] === kind);
  const apiServer = treeAt(legacy, "cluster", "apiServer");
  const plugins = [...listAt(apiServer, "admissionControl"), ...ofKind("KubeAdmissionControlConfig")].filter(isTree);
  const authorizers = [...listAt(apiServer, "authorizationConfig"), ...ofKind("KubeAuthorizerConfig")].filter(isTree);
  const policy = treeAt(ofKind("KubeAuditPolicyConfig")[0] ?? {}, "configuration") ?? treeAt(apiServer, "auditPolicy");
  return {
    apiServer: exemptTwice(plugins) ?? authorizerTwice(authorizers) ?? unknownAuditLevel(policy),
    kubelet: labelsOfKubelet([treeAt(legacy, "machine", "kubelet"), ofKind("KubeletConfig")[0]]).some(isForeignLabel),
  };
}

function exemptTwice(plugins: readonly Tree[]): string | undefined {
  for (const plugin of plugins) {
    if (plugin["name"] !== "PodSecurity") continue;
    const exemptions = treeAt(plugin, "configuration", "exemptions");
    for (const list of ["namespaces", "runtimeClasses", "usernames"]) {
      const [index, value] = firstRepeated(listAt(exemptions, list).map(String)) ?? [];
      if (index !== undefined)
        return `failed to initialize admission plugin "PodSecurity": PodSecurity invalid: exemptions.${list}[${index}]: Duplicate value: "${value ?? ""}"`;
    }
  }
  return undefined;
}

function authorizerTwice(authorizers: readonly Tree[]): string | undefined {
  for (const key of ["type", "name"]) {
    const [index, value] = firstRepeated(authorizers.map((one) => textOf(one[key])).map((one) => (one === "Webhook" ? "" : one))) ?? [];
    if (index !== undefined) return `authorizers[${index}].${key}: Duplicate value: "${value ?? ""}"`;
  }
  return undefined;
}

function unknownAuditLevel(policy: Tree | undefined): string | undefined {
  if (policy === undefined || Object.keys(policy).length === 0) return undefined;
  const rules = listAt(policy, "rules");
  if (rules.length === 0) return "loading audit policy file: loaded illegal policy with 0 rules";
  const index = rules.findIndex(
    (rule) => !["None", "Metadata", "Request", "RequestResponse"].includes(textOf(isTree(rule) ? rule["level"] : undefined)),
  );
  return index < 0 ? undefined : `loading audit policy file: rules[${index}].level: Unsupported value`;
}

function labelsOfKubelet(kubelets: readonly (Tree | undefined)[]): readonly string[] {
  return kubelets.flatMap((kubelet) => {
    const value = treeAt(kubelet, "extraArgs")?.["node-labels"];
    const texts = Array.isArray(value) ? value.map(String) : [typeof value === "string" ? value : ""];
    return texts.flatMap((text) => text.split(",")).map((pair) => pair.split("=")[0] ?? "");
  });
}

/** A label of Kubernetes that no kubelet may set on its Node by itself. */
export function isForeignLabel(label: string): boolean {
  const domain = label.includes("/") ? (label.split("/")[0] ?? "") : "";
  const isIn = (...parents: readonly string[]): boolean => parents.some((parent) => domain === parent || domain.endsWith(`.${parent}`));
  if (!isIn("kubernetes.io", "k8s.io") || isIn("kubelet.kubernetes.io", "node.kubernetes.io")) return false;
  return !/^(?:kubernetes\.io\/(?:hostname|os|arch)|beta\.kubernetes\.io\/(?:instance-type|os|arch)|(?:topology|failure-domain\.beta)\.kubernetes\.io\/(?:zone|region))$/.test(
    label,
  );
}

function firstRepeated(texts: readonly string[]): readonly [number, string] | undefined {
  const index = texts.findIndex((text, at) => text !== "" && texts.indexOf(text) < at);
  return index < 0 ? undefined : [index, texts[index] ?? ""];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function treeAt(tree: Tree | undefined, ...path: readonly string[]): Tree | undefined {
  let value: unknown = tree;
  for (const step of path) value = isTree(value) ? value[step] : undefined;
  return isTree(value) ? value : undefined;
}

function listAt(tree: Tree | undefined, key: string): readonly unknown[] {
  const value = tree?.[key];
  return Array.isArray(value) ? value : [];
}

import type { ConfigMap, ConfigValue } from "../../document/value.ts";
import { listAt, mapAt, mapsAt, textAt } from "../access.ts";
import { clusterOf, documentOf, isControlPlane, labelOf, type HazardFinding, type HazardInput } from "./hazard.ts";

/** A free-form part of the config that a component of Kubernetes reads, with its place. */
interface Part {
  readonly document: string;
  readonly path: string;
  readonly members: ConfigMap;
}

const cure = "patches append to lists: leave one out";

/** What kube-apiserver or kube-scheduler refuses to start with. Talos does not look into these parts. */
export function componentHazards(input: HazardInput): readonly HazardFinding[] {
  if (!isControlPlane(input)) return [];
  return [...exemptions(input), ...authorizers(input), ...auditRules(input), ...schedulerProfiles(input)];
}

/** @see kubernetes `staging/src/k8s.io/pod-security-admission/admission/api/validation` */
function exemptions(input: HazardInput): readonly HazardFinding[] {
  return admissionPlugins(input).flatMap(({ document, path, members }) =>
    ["namespaces", "usernames", "runtimeClasses"].flatMap((list) =>
      repeated(listAt(members, "exemptions", list).map(plainText)).map(({ index, text }): HazardFinding => ({
        code: "POD_SECURITY_EXEMPTION_TWICE",
        document,
        path: `${path}.exemptions.${list}[${index}]`,
        message: `kube-apiserver does not start with ${text} twice; ${cure}`,
      })),
    ),
  );
}

/** Configurations of the admission plugin PodSecurity. */
function admissionPlugins(input: HazardInput): readonly Part[] {
  const legacy = mapsAt(clusterOf(input), "apiServer", "admissionControl").map((plugin, index) => ({
    document: "v1alpha1",
    name: textAt(plugin, "name"),
    path: `cluster.apiServer.admissionControl[${index}].configuration`,
    members: mapAt(plugin, "configuration"),
  }));
  const own = input.documents
    .filter(({ shape }) => shape.kind === "KubeAdmissionControlConfig")
    .map((found) => ({
      document: labelOf(found),
      name: textAt(found.members, "name"),
      path: "configuration",
      members: mapAt(found.members, "configuration"),
    }));
  return [...legacy, ...own].flatMap(({ name, members, ...place }) =>
    name === "PodSecurity" && members !== undefined ? [{ ...place, members }] : [],
  );
}

/** @see kubernetes `staging/src/k8s.io/apiserver/pkg/apis/apiserver/validation`: webhooks alone may be several */
function authorizers(input: HazardInput): readonly HazardFinding[] {
  const given = mapsAt(clusterOf(input), "apiServer", "authorizationConfig").map((members, index) => ({
    document: "v1alpha1",
    path: `cluster.apiServer.authorizationConfig[${index}].`,
    members,
  }));
  const own = input.documents
    .filter(({ shape }) => shape.kind === "KubeAuthorizerConfig")
    .map((found) => ({ document: labelOf(found), path: "", members: found.members }));
  const all = [...given, ...own];
  return (["type", "name"] as const).flatMap((key) =>
    repeated(all.map(({ members }) => textAt(members, key)))
      .filter(({ text }) => text !== "Webhook")
      .map(({ index, text }): HazardFinding => ({
        code: "AUTHORIZER_TWICE",
        document: all[index]?.document ?? "",
        path: `${all[index]?.path ?? ""}${key}`,
        message: `kube-apiserver does not start with two authorizers of ${key} ${text}; ${cure}`,
      })),
  );
}

const auditLevels: ReadonlySet<string> = new Set(["None", "Metadata", "Request", "RequestResponse"]);
const auditStages: ReadonlySet<string> = new Set(["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"]);

/** @see kubernetes `staging/src/k8s.io/apiserver/pkg/apis/audit/validation` */
function auditRules(input: HazardInput): readonly HazardFinding[] {
  const own = mapAt(documentOf(input, "KubeAuditPolicyConfig"), "configuration");
  const legacy = mapAt(clusterOf(input), "apiServer", "auditPolicy");
  const policy = own ?? legacy;
  if (policy === undefined) return [];
  const [document, base] = own === undefined ? ["v1alpha1", "cluster.apiServer.auditPolicy"] : ["KubeAuditPolicyConfig", "configuration"];
  const finding = (path: string, message: string): HazardFinding => ({
    code: "AUDIT_POLICY_INVALID",
    document,
    path: `${base}.${path}`,
    message,
  });
  const rules = mapsAt(policy, "rules");
  if (rules.length === 0 && policy.size > 0)
    return [finding("rules", "kube-apiserver does not start with an audit policy without rules; write at least one")];
  return rules.flatMap((rule, index) => {
    const level = textAt(rule, "level");
    const unknown = listAt(rule, "omitStages")
      .map(plainText)
      .find((stage) => !auditStages.has(stage));
    return [
      ...(auditLevels.has(level)
        ? []
        : [
            finding(
              `rules[${index}].level`,
              `${level === "" ? "a rule without a level" : `the level ${level}`} stops kube-apiserver from starting; write ${[...auditLevels].join(", ")}`,
            ),
          ]),
      ...(unknown === undefined
        ? []
        : [
            finding(
              `rules[${index}].omitStages`,
              `the stage ${unknown} stops kube-apiserver from starting; write ${[...auditStages].join(", ")}`,
            ),
          ]),
    ];
  });
}

/** @see kubernetes `pkg/scheduler/apis/config/validation` */
function schedulerProfiles(input: HazardInput): readonly HazardFinding[] {
  const own = mapAt(documentOf(input, "KubeSchedulerConfig"), "config");
  const config = own ?? mapAt(clusterOf(input), "scheduler", "config");
  const [document, base] = own === undefined ? ["v1alpha1", "cluster.scheduler.config"] : ["KubeSchedulerConfig", "config"];
  const names = mapsAt(config, "profiles").map((profile) => textAt(profile, "schedulerName") || "default-scheduler");
  return repeated(names).map(({ index, text }) => ({
    code: "SCHEDULER_PROFILE_TWICE",
    document,
    path: `${base}.profiles[${index}].schedulerName`,
    message: `kube-scheduler does not start with two profiles ${text}; ${cure}`,
  }));
}

/** Every text that stood before in the list, with its index. Empty texts do not count. */
function repeated(texts: readonly string[]): readonly { readonly index: number; readonly text: string }[] {
  return texts.flatMap((text, index) => (text !== "" && texts.indexOf(text) < index ? [{ index, text }] : []));
}

function plainText(value: ConfigValue): string {
  return typeof value === "string" ? value : "";
}

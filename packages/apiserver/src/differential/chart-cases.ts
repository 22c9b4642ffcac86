import type { JsonObject } from "../json.ts";
import type { DifferentialCase, Resource, Step } from "./run-case.ts";

const kind = (apiVersion: string, name: string, plural: string): Resource => ({ apiVersion, kind: name, plural, namespaced: false });
const apiService = kind("apiregistration.k8s.io/v1", "APIService", "apiservices");
const validating = kind("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations");
const mutating = kind("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations");
const flow = kind("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "flowschemas");
const level = kind("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "prioritylevelconfigurations");

const said = (body: JsonObject): Step => ({ do: "create", body, query: { dryRun: "All" }, verdictOnly: true });
const tried = (body: JsonObject): Step => ({ do: "create", body, query: { dryRun: "All" } });
const patched = (body: JsonObject): Step => ({ do: "merge", body });

const group = "metrics.example.com";
const api = (spec: JsonObject, name = `v1.${group}`): JsonObject => ({
  metadata: { name },
  spec: { group, version: "v1", groupPriorityMinimum: 100, versionPriority: 100, ...spec },
});
const service = { name: "s", namespace: "n" };
const aggregated = (spec: JsonObject = {}): JsonObject => api({ service, ...spec });

const hook = (change: JsonObject = {}): JsonObject => ({
  name: "a.b.c",
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  clientConfig: { service },
  rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
  ...change,
});
const hooks = (...webhooks: JsonObject[]): JsonObject => ({ webhooks });
const rule = (change: JsonObject): JsonObject =>
  hooks(hook({ rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], ...change }] }));

const schema = (spec: JsonObject = {}): JsonObject => ({ spec: { priorityLevelConfiguration: { name: "workload-low" }, ...spec } });
const all = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"] };
const everyone = { kind: "Group", group: { name: "system:authenticated" } };
const limited = (part: JsonObject = {}): JsonObject => ({
  spec: { type: "Limited", limited: { limitResponse: { type: "Reject" }, ...part } },
});

/** Kinds that charts bring and that extend or steer the server: here they are kept, with the genuine rules, and do nothing. */
export const chartCases: readonly DifferentialCase[] = [
  {
    name: "APIService",
    resource: apiService,
    steps: [
      tried(aggregated({ insecureSkipTLSVerify: true })),
      tried(aggregated({ caBundle: "YQ==" })),
      said(aggregated({ caBundle: "YQ==", insecureSkipTLSVerify: true })),
      said(aggregated({ service: { name: "s" } })),
      said(aggregated({ service: { namespace: "n" } })),
      said(aggregated({ service: { ...service, port: 70_000 } })),
      said(aggregated({ groupPriorityMinimum: 0 })),
      said(aggregated({ groupPriorityMinimum: 20_001 })),
      said(aggregated({ versionPriority: 1001 })),
      said(api({ service, version: "V1" }, `V1.${group}`)),
      said(api({ service, group: "", version: "v2" }, "v2.")),
      said(api({ service }, "other")),
      said(api({ caBundle: "YWJj" })),
      said(api({ insecureSkipTLSVerify: true })),
      said(api({ group: "Bad_Group" }, "v1.Bad_Group")),
    ],
  },
  {
    name: "webhooks that validate",
    resource: validating,
    steps: [
      { do: "create", body: hooks(hook()) },
      patched({ metadata: { labels: { a: "b" } } }),
      patched({ webhooks: [hook({ timeoutSeconds: 3, matchPolicy: "Exact" })] }),
      { do: "apply", manager: "other", body: hooks({ name: "a.b.c", failurePolicy: "Ignore" }) },
      { do: "replace", body: hooks() },
      { do: "table" },
    ],
  },
  {
    name: "webhooks that change",
    resource: mutating,
    steps: [{ do: "create", body: hooks(hook(), hook({ name: "d.e.f" })) }, { do: "table" }],
  },
  {
    name: "webhooks that are refused",
    resource: mutating,
    steps: [
      said(hooks(hook({ name: "a.b" }))),
      said(hooks(hook({ name: "A.b.c" }))),
      said(hooks(hook({ name: "" }))),
      said(hooks(hook(), hook())),
      said(hooks(hook({ sideEffects: null }))),
      said(hooks(hook({ sideEffects: "Some" }))),
      said(hooks(hook({ admissionReviewVersions: [] }))),
      said(hooks(hook({ admissionReviewVersions: ["v2"] }))),
      said(hooks(hook({ admissionReviewVersions: ["v1", "v1"] }))),
      said(hooks(hook({ timeoutSeconds: 31 }))),
      said(hooks(hook({ failurePolicy: "Maybe", matchPolicy: "Some", reinvocationPolicy: "Often" }))),
      said(hooks(hook({ clientConfig: {} }))),
      said(hooks(hook({ clientConfig: { service, url: "https://a.b" } }))),
      said(hooks(hook({ clientConfig: { service: { ...service, port: -1 } } }))),
      said(hooks(hook({ clientConfig: { url: "http://a.b/c" } }))),
      said(hooks(hook({ clientConfig: { url: "https://a.b/c?d=e#f" } }))),
      said(rule({ operations: ["*", "CREATE"] })),
      said(rule({ operations: ["READ"] })),
      said(rule({ apiGroups: [] })),
      said(rule({ apiVersions: ["*", "v1"] })),
      said(rule({ resources: [] })),
      said(rule({ resources: ["*/*", "pods"] })),
      said(rule({ scope: "Everywhere" })),
      said(hooks(hook({ matchConditions: [{ name: "a", expression: "object.kind == 'Pod'" }] }))),
      said(hooks(hook({ matchConditions: [{ name: "a", expression: "1 +" }] }))),
    ],
  },
  {
    name: "flows",
    resource: flow,
    steps: [
      tried(schema()),
      tried(schema({ matchingPrecedence: 500, distinguisherMethod: { type: "ByUser" } })),
      said(schema({ matchingPrecedence: 10_001 })),
      said(schema({ matchingPrecedence: -1 })),
      said(schema({ matchingPrecedence: 1 })),
      said({ spec: { priorityLevelConfiguration: { name: "" } } }),
      said(schema({ rules: [{ subjects: [everyone], resourceRules: [all] }] })),
      said(schema({ rules: [{ subjects: [everyone] }] })),
      said(schema({ rules: [{ subjects: [], resourceRules: [all] }] })),
    ],
  },
  {
    name: "levels of priority",
    resource: level,
    steps: [
      tried(limited()),
      tried(limited({ limitResponse: { type: "Queue", queuing: {} } })),
      said({ spec: { type: "Limited" } }),
      said({ spec: { type: "Exempt" } }),
      said({ spec: { type: "Other" } }),
      said({ spec: { type: "Limited", exempt: {}, limited: { limitResponse: { type: "Reject" } } } }),
    ],
  },
];

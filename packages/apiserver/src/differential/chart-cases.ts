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
const schema = (spec: JsonObject = {}): JsonObject => ({ spec: { priorityLevelConfiguration: { name: "workload-low" }, ...spec } });
const all = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"] };
const everyone = { kind: "Group", group: { name: "system:authenticated" } };
const limited = (part: JsonObject = {}): JsonObject => ({
  spec: { type: "Limited", limited: { limitResponse: { type: "Reject" }, ...part } },
});

/** Kinds that charts bring and that extend or steer the server: here they are kept, with the genuine defaults, and do nothing. */
export const chartCases: readonly DifferentialCase[] = [
  {
    name: "APIService",
    resource: apiService,
    steps: [tried(aggregated({ insecureSkipTLSVerify: true })), tried(aggregated({ caBundle: "YQ==" }))],
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
    name: "flows",
    resource: flow,
    steps: [
      tried(schema()),
      tried(schema({ matchingPrecedence: 500, distinguisherMethod: { type: "ByUser" } })),
      said(schema({ rules: [{ subjects: [everyone], resourceRules: [all] }] })),
    ],
  },
  {
    name: "levels of priority",
    resource: level,
    steps: [tried(limited()), tried(limited({ limitResponse: { type: "Queue", queuing: {} } }))],
  },
];

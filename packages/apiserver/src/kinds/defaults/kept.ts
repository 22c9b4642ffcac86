import type { JsonObject } from "../../json.ts";
import { objectAt } from "../../request/json.ts";
import type { WriteFacts } from "../kind.ts";
import { each, fill, inside } from "./fill.ts";

// Defaults of kinds that are kept and do not act (`../warnings.ts`).

/** Fills in what a LimitRange may leave out: the default is the maximum, and what is asked for by default is the default, else the minimum. */
export function defaultLimitRange(range: JsonObject): JsonObject {
  return inside(range, "spec", (spec) =>
    each(spec, "limits", (item) => {
      if (item["type"] !== "Container") return item;
      const limit = fill(objectAt(item, "default"), objectAt(item, "max"));
      const request = fill(fill(objectAt(item, "defaultRequest"), limit), objectAt(item, "min"));
      const given = (amounts: JsonObject, field: string): JsonObject => (Object.keys(amounts).length === 0 ? {} : { [field]: amounts });
      return { ...item, ...given(limit, "default"), ...given(request, "defaultRequest") };
    }),
  );
}

/** Fills in what the webhooks of a configuration leave out. */
export function defaultWebhooks(configuration: JsonObject): JsonObject {
  const isMutating = configuration["kind"] === "MutatingWebhookConfiguration";
  return each(configuration, "webhooks", (hook) => {
    const filled = fill(hook, {
      failurePolicy: "Fail",
      matchPolicy: "Equivalent",
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
      ...(isMutating ? { reinvocationPolicy: "Never" } : {}),
    });
    const scoped = each(filled, "rules", (rule) => fill(rule, { scope: "*" }));
    return inside(scoped, "clientConfig", (client) => inside(client, "service", (service) => fill(service, { port: 443 })));
  });
}

/** Fills in what an APIService leaves out. */
export function defaultApiService(api: JsonObject): JsonObject {
  return inside(api, "spec", (spec) => inside(spec, "service", (service) => fill(service, { port: 443 })));
}

/** A new APIService without Service is one of the server's own, which are always there. */
export function beginApiService(api: JsonObject, old: JsonObject | undefined, { now }: WriteFacts): JsonObject {
  if (old !== undefined) return api;
  if (objectAt(api, "spec")["service"] !== undefined) return { ...api, status: {} };
  const message = "Local APIServices are always available";
  return { ...api, status: { conditions: [{ type: "Available", status: "True", reason: "Local", message, lastTransitionTime: now }] } };
}

/** Fills in what a FlowSchema leaves out. */
export function defaultFlowSchema(schema: JsonObject): JsonObject {
  return inside(schema, "spec", (spec) => fill(spec, { matchingPrecedence: 1000 }));
}

/** Fills in what a PriorityLevelConfiguration leaves out. */
export function defaultPriorityLevel(level: JsonObject): JsonObject {
  const limited = (part: JsonObject): JsonObject =>
    inside(fill(part, { nominalConcurrencyShares: 30, lendablePercent: 0 }), "limitResponse", (response) =>
      inside(response, "queuing", (queuing) => fill(queuing, { handSize: 8, queues: 64, queueLengthLimit: 50 })),
    );
  const exempt = (part: JsonObject): JsonObject => fill(part, { nominalConcurrencyShares: 0, lendablePercent: 0 });
  return inside(level, "spec", (spec) => inside(inside(spec, "limited", limited), "exempt", exempt));
}

/** A new object of flow control has no state yet. */
export function beginFlow(object: JsonObject, old: JsonObject | undefined): JsonObject {
  return old === undefined ? { ...object, status: {} } : object;
}

const withRuleDefaults = (constraints: JsonObject): JsonObject => {
  const filled = fill(constraints, { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} });
  const scoped = (rule: JsonObject): JsonObject => fill(rule, { scope: "*" });
  return each(each(filled, "resourceRules", scoped), "excludeResourceRules", scoped);
};

/** Fills in what a ValidatingAdmissionPolicy leaves out. */
export function defaultPolicy(policy: JsonObject): JsonObject {
  const filled = fill(policy, { status: {} });
  return inside(filled, "spec", (spec) => inside(fill(spec, { failurePolicy: "Fail" }), "matchConstraints", withRuleDefaults));
}

/** Fills in what a ValidatingAdmissionPolicyBinding leaves out. */
export function defaultPolicyBinding(binding: JsonObject): JsonObject {
  return inside(binding, "spec", (spec) => inside(spec, "matchResources", withRuleDefaults));
}

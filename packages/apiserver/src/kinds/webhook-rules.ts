import { checkExpression } from "../admission/policy/expressions.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt, stringsAt } from "../request/json.ts";
import { refuseSubdomain } from "../request/names.ts";
import type { FieldError } from "../schema/index.ts";
import { each, fill } from "./defaults/fill.ts";
import { refusePort } from "./extension-rules.ts";
import type { WriteFacts } from "./kind.ts";
import { duplicate, invalidValue, required, unsupported } from "./rule-errors.ts";

// Configurations of admission webhooks are kept as they are written, and no webhook is ever called.

/** Told to those who bring one, who would otherwise rely on it. */
const notCalled = "the embedded API keeps configurations of admission webhooks and calls none of them";

/** Fills in what a webhook leaves out. */
export function prepareWebhooks(configuration: JsonObject): JsonObject {
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
    const client = objectAt(filled, "clientConfig");
    const service = client["service"] === undefined ? {} : { service: fill(objectAt(client, "service"), { port: 443 }) };
    const scoped = each(filled, "rules", (rule) => fill(rule, { scope: "*" }));
    return filled["clientConfig"] === undefined ? scoped : { ...scoped, clientConfig: { ...client, ...service } };
  });
}

/** A new configuration is told to act on nothing. */
export function beginWebhooks(configuration: JsonObject, old: JsonObject | undefined, { warn }: WriteFacts): JsonObject {
  if (old === undefined && objectsAt(configuration, "webhooks").length > 0) warn(notCalled);
  return configuration;
}

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const reviews = ["v1", "v1beta1"];
const sideEffects = ["None", "NoneOnDryRun"];

/** What a ValidatingWebhookConfiguration or MutatingWebhookConfiguration may not say. */
export function validateWebhooks(configuration: JsonObject): readonly FieldError[] {
  const hooks = objectsAt(configuration, "webhooks");
  return hooks.flatMap((hook, index) => {
    const name = stringAt(hook, "name") ?? "";
    const isTwice = name !== "" && hooks.findIndex((other) => other["name"] === name) < index;
    return [...validateWebhook(hook, `webhooks[${index}]`), ...(isTwice ? [duplicate(`webhooks[${index}].name`, name)] : [])];
  });
}

function validateWebhook(hook: JsonObject, at: string): readonly FieldError[] {
  const name = stringAt(hook, "name") ?? "";
  const named = refuseSubdomain(name).join(",");
  const seconds = hook["timeoutSeconds"];
  const oneOf = (field: string, supported: readonly string[]): readonly FieldError[] => {
    const value = stringAt(hook, field);
    return value === undefined || supported.includes(value) ? [] : [unsupported(`${at}.${field}`, value, supported)];
  };
  return [
    ...(name === ""
      ? [required(`${at}.name`)]
      : named !== ""
        ? [invalidValue(`${at}.name`, name, named)]
        : name.split(".").length < 3
          ? [invalidValue(`${at}.name`, name, "should be a domain with at least three segments separated by dots")]
          : []),
    ...objectsAt(hook, "rules").flatMap((rule, index) => validateRule(rule, `${at}.rules[${index}]`)),
    ...oneOf("failurePolicy", ["Fail", "Ignore"]),
    ...oneOf("matchPolicy", ["Equivalent", "Exact"]),
    ...oneOf("reinvocationPolicy", ["IfNeeded", "Never"]),
    ...(hook["sideEffects"] === undefined ? [required(`${at}.sideEffects`, `must specify one of ${sideEffects.join(", ")}`)] : []),
    ...oneOf("sideEffects", sideEffects),
    ...(typeof seconds === "number" && (seconds > 30 || seconds < 1)
      ? [invalidValue(`${at}.timeoutSeconds`, seconds, "the timeout value must be between 1 and 30 seconds")]
      : []),
    ...validateClient(objectAt(hook, "clientConfig"), `${at}.clientConfig`),
    ...objectsAt(hook, "matchConditions").flatMap((condition, index) => validateCondition(condition, `${at}.matchConditions[${index}]`)),
    ...validateReviews(stringsAt(hook, "admissionReviewVersions"), `${at}.admissionReviewVersions`),
  ];
}

function validateReviews(versions: readonly string[], at: string): readonly FieldError[] {
  if (versions.length === 0) return [required(at, `must specify one of ${reviews.join(", ")}`)];
  const twice = versions.flatMap((version, index) =>
    versions.indexOf(version) < index ? [invalidValue(`${at}[${index}]`, version, "duplicate version")] : [],
  );
  return versions.some((version) => reviews.includes(version))
    ? twice
    : [...twice, invalidValue(at, versions, `must include at least one of ${reviews.join(", ")}`)];
}

function validateRule(rule: JsonObject, at: string): readonly FieldError[] {
  const alone = (field: string, what: string): readonly FieldError[] => {
    const values = stringsAt(rule, field);
    if (values.length === 0) return [required(`${at}.${field}`)];
    return values.length > 1 && values.includes("*")
      ? [invalidValue(`${at}.${field}`, values, `if '*' is present, must not specify other ${what}`)]
      : [];
  };
  const resources = stringsAt(rule, "resources");
  const scope = stringAt(rule, "scope") ?? "*";
  const scopes = ["*", "Cluster", "Namespaced"];
  return [
    ...alone("operations", "operations"),
    ...stringsAt(rule, "operations").flatMap((operation, index) =>
      operations.includes(operation) ? [] : [unsupported(`${at}.operations[${index}]`, operation, operations)],
    ),
    ...alone("apiGroups", "API groups"),
    ...alone("apiVersions", "API versions"),
    ...(resources.length === 0 ? [required(`${at}.resources`)] : []),
    ...(resources.length > 1 && resources.includes("*/*")
      ? [invalidValue(`${at}.resources`, resources, "if '*/*' is present, must not specify other resources")]
      : []),
    ...(scopes.includes(scope) ? [] : [unsupported(`${at}.scope`, scope, scopes)]),
  ];
}

const wantedUrl = "; desired format: https://host[/path]";

function validateClient(client: JsonObject, at: string): readonly FieldError[] {
  const url = stringAt(client, "url");
  if ((url === undefined) === (client["service"] === undefined)) return [required(at, "exactly one of url or service is required")];
  if (url !== undefined) return validateUrl(url, `${at}.url`);
  const service = objectAt(client, "service");
  return [
    ...(stringAt(service, "name") ? [] : [required(`${at}.service.name`)]),
    ...(stringAt(service, "namespace") ? [] : [required(`${at}.service.namespace`)]),
    ...refusePort(service["port"], `${at}.service.port`),
  ];
}

function validateUrl(text: string, at: string): readonly FieldError[] {
  if (!URL.canParse(text)) return [required(at, `url must be a valid URL${wantedUrl}`)];
  const url = new URL(text);
  const scheme = url.protocol.slice(0, -1);
  return [
    ...(scheme === "https" ? [] : [invalidValue(at, scheme, `'https' is the only allowed URL scheme${wantedUrl}`)]),
    ...(url.username === "" && url.password === "" ? [] : [invalidValue(at, url.username, "user information is not permitted in the URL")]),
    ...(url.hash === "" ? [] : [invalidValue(at, url.hash.slice(1), "fragments are not permitted in the URL")]),
    ...(url.search === "" ? [] : [invalidValue(at, url.search.slice(1), "query parameters are not permitted in the URL")]),
  ];
}

function validateCondition(condition: JsonObject, at: string): readonly FieldError[] {
  const expression = (stringAt(condition, "expression") ?? "").trim();
  const nameless = stringAt(condition, "name") ? [] : [required(`${at}.name`)];
  if (expression === "") return [...nameless, required(`${at}.expression`)];
  const verdict = checkExpression(expression);
  if (!verdict.ok) return [...nameless, invalidValue(`${at}.expression`, expression, `compilation failed: ERROR: <input>: ${verdict.why}`)];
  return verdict.type === "bool" || verdict.type === "dyn"
    ? nameless
    : [...nameless, invalidValue(`${at}.expression`, expression, "must evaluate to bool")];
}

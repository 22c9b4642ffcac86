import type { Logger } from "@talos-operator/ports";
import type { Authorize } from "../../auth/authorize.ts";
import { explainEvaluation } from "../../cel/explain.ts";
import { objectBudget } from "../../cel/cost/limits.ts";
import type { MeteredProgram } from "../../cel/cost/meter.ts";
import { toCel } from "../../cel/values.ts";
import type { JsonObject } from "../../json.ts";
import { keyOf } from "../../kinds/kind.ts";
import type { KindRegistry } from "../../kinds/registry.ts";
import { metadataOf, objectAt, objectsAt, stringAt, stringsAt } from "../../request/json.ts";
import { matchesLabelSelector } from "../../request/label-selector-object.ts";
import type { ApiUser } from "../../request/request.ts";
import { forbidden, StatusError } from "../../request/status.ts";
import type { ObjectState } from "../../store/state.ts";
import { Authorizer } from "./authorizer.ts";
import { checkExpression, compileExpression } from "./expressions.ts";
import { matchesResources, type AdmissionRequest } from "./match.ts";

/** Where policies and their bindings are stored. */
const policyGroup = "admissionregistration.k8s.io";

/** Who asks, and with which options. */
export interface Asking {
  readonly user: ApiUser;
  readonly dryRun: boolean;
  /** Texts of `Warning` headers, filled by bindings that warn. */
  readonly warnings: string[];
}

interface Named {
  readonly name: string;
  readonly program: MeteredProgram;
}

interface Validation {
  readonly expression: string;
  readonly program: MeteredProgram;
  readonly messageProgram: MeteredProgram | undefined;
  readonly message: string;
  readonly reason: string;
}

interface Policy {
  readonly name: string;
  readonly spec: JsonObject;
  readonly isStrict: boolean;
  readonly bindings: readonly { readonly name: string; readonly spec: JsonObject }[];
  readonly variables: readonly Named[];
  readonly conditions: readonly Named[];
  readonly validations: readonly Validation[];
  readonly annotations: readonly Named[];
}

interface Parts {
  readonly state: ObjectState;
  readonly kinds: KindRegistry;
  readonly authorize: Authorize;
  readonly log: Logger | undefined;
}

/** What a policy says of one request through one binding, with one parameter. */
interface Finding {
  readonly message: string;
  readonly reason: string;
}

const codes: Readonly<Record<string, number>> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413, Invalid: 422 };

/**
 * Asks the ValidatingAdmissionPolicies in the store about every write. A policy acts through its bindings alone; what a binding audits goes
 * into `auditAnnotations`.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
export class PolicyGate {
  /** What policies want in the audit record of the request under way. Whoever begins a request empties it. */
  readonly auditAnnotations = new Map<string, string>();
  readonly #parts: Parts;
  #policies: readonly Policy[] | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    const forget = (): void => {
      this.#policies = undefined;
    };
    parts.state.subscribe(`${policyGroup}/validatingadmissionpolicies`, forget);
    parts.state.subscribe(`${policyGroup}/validatingadmissionpolicybindings`, forget);
  }

  /** @throws 401, 403, 413 or 422 when a policy denies the request */
  admit(request: AdmissionRequest, asking: Asking): void {
    // Nobody may lock himself out of changing policies.
    if (request.group === policyGroup) return;
    this.#policies ??= this.#load();
    for (const policy of this.#policies) this.#ask(policy, request, asking);
  }

  #load(): readonly Policy[] {
    const stored = (plural: string): readonly JsonObject[] =>
      this.#parts.state.list(`${policyGroup}/${plural}`).map((entry) => entry.object);
    const bindings = stored("validatingadmissionpolicybindings");
    return stored("validatingadmissionpolicies").map((object) => {
      const name = nameOf(object);
      const spec = objectAt(object, "spec");
      const program = (holder: JsonObject, field: string): MeteredProgram => programOf(stringAt(holder, field) ?? "");
      const named = (list: string, key: string, field: string): readonly Named[] =>
        objectsAt(spec, list).map((item) => ({ name: stringAt(item, key) ?? "", program: program(item, field) }));
      return {
        name,
        spec,
        isStrict: stringAt(spec, "failurePolicy") !== "Ignore",
        bindings: bindings
          .map((binding) => ({ name: nameOf(binding), spec: objectAt(binding, "spec") }))
          .filter((binding) => stringAt(binding.spec, "policyName") === name),
        variables: named("variables", "name", "expression"),
        conditions: named("matchConditions", "name", "expression"),
        annotations: named("auditAnnotations", "key", "valueExpression"),
        validations: objectsAt(spec, "validations").map((validation) => ({
          expression: (stringAt(validation, "expression") ?? "").trim(),
          program: program(validation, "expression"),
          messageProgram: stringAt(validation, "messageExpression") ? program(validation, "messageExpression") : undefined,
          message: (stringAt(validation, "message") ?? "").trim(),
          reason: stringAt(validation, "reason") ?? "Invalid",
        })),
      };
    });
  }

  #ask(policy: Policy, request: AdmissionRequest, asking: Asking): void {
    if (policy.bindings.length === 0) return;
    const namespace = request.isNamespaced ? this.#parts.state.get("/namespaces", keyOf("", request.namespace))?.object : undefined;
    const ownLabels = request.group === "" && request.plural === "namespaces" ? (request.object ?? request.oldObject) : namespace;
    const labels = ownLabels === undefined ? undefined : objectAt(metadataOf(ownLabels), "labels");
    if (!matchesResources(objectAt(policy.spec, "matchConstraints"), request, labels)) return;
    for (const binding of policy.bindings) {
      if (!matchesResources(objectAt(binding.spec, "matchResources"), request, labels)) continue;
      const params = this.#paramsOf(policy, binding.spec, request);
      if (typeof params === "string") {
        if (policy.isStrict)
          throw denial(request, policy.name, binding.name, { message: `failed to configure binding: ${params}`, reason: "Invalid" });
        continue;
      }
      for (const param of params) {
        const findings = this.#evaluate(policy, { request, asking, namespace, param });
        for (const finding of findings) this.#act(policy, binding, finding, request, asking);
      }
    }
  }

  #act(policy: Policy, binding: Policy["bindings"][number], finding: Finding, request: AdmissionRequest, asking: Asking): void {
    const actions = stringsAt(binding.spec, "validationActions");
    if (actions.includes("Warn")) {
      asking.warnings.push(
        `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${finding.message}`,
      );
    }
    if (actions.includes("Audit")) {
      const failure = { message: finding.message, policy: policy.name, binding: binding.name, validationActions: actions };
      this.auditAnnotations.set("validation.policy.admission.k8s.io/validation_failure", JSON.stringify([failure]));
    }
    if (actions.includes("Deny")) throw denial(request, policy.name, binding.name, finding);
  }

  /** The parameters to evaluate with, or why there are none. */
  #paramsOf(policy: Policy, binding: JsonObject, request: AdmissionRequest): readonly (JsonObject | undefined)[] | string {
    const paramKind = objectAt(policy.spec, "paramKind");
    const ref = binding["paramRef"];
    if (policy.spec["paramKind"] === undefined || ref === undefined) return [undefined];
    const kind = this.#parts.kinds.findByKind(stringAt(paramKind, "apiVersion") ?? "", stringAt(paramKind, "kind") ?? "");
    if (kind === undefined)
      return `failed to find resource referenced by paramKind: '${stringAt(paramKind, "apiVersion")}, Kind=${stringAt(paramKind, "kind")}'`;
    const namespace = kind.namespaced ? stringAt(ref, "namespace") || request.namespace : "";
    if (kind.namespaced && namespace === "")
      return "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources";
    const name = stringAt(ref, "name") ?? "";
    const found =
      name === ""
        ? this.#parts.state
            .list(kind.resource, `${namespace}/`)
            .map((entry) => entry.object)
            .filter((object) => matchesLabelSelector(objectAt(ref, "selector"), objectAt(metadataOf(object), "labels")))
        : [this.#parts.state.get(kind.resource, keyOf(namespace, name))?.object].filter((object) => object !== undefined);
    if (found.length > 0) return found;
    return stringAt(ref, "parameterNotFoundAction") === "Allow"
      ? []
      : "no params found for policy binding with `Deny` parameterNotFoundAction";
  }

  #evaluate(policy: Policy, about: About): readonly Finding[] {
    const scope = scopeOf(policy, about, this.#parts.authorize);
    const run = new Run(scope);
    for (const { name, program } of policy.conditions) {
      const outcome = run.value(program);
      if (outcome.ok && outcome.value !== true) return [];
      if (!outcome.ok) {
        const why = `failed to evaluate matchCondition "${name}": ${outcome.why}`;
        return policy.isStrict ? [{ message: why, reason: "Invalid" }] : [];
      }
    }
    const findings: Finding[] = [];
    for (const validation of policy.validations) {
      const outcome = run.value(validation.program);
      if (outcome.ok && outcome.value === true) continue;
      if (!outcome.ok) {
        if (policy.isStrict)
          findings.push({
            message: run.isSpent ? outcome.why : `expression '${validation.expression}' resulted in error: ${outcome.why}`,
            reason: "Invalid",
          });
        if (run.isSpent) break;
        continue;
      }
      const own = validation.messageProgram === undefined ? undefined : run.value(validation.messageProgram);
      const text = own?.ok === true && typeof own.value === "string" && !own.value.includes("\n") ? own.value.trim() : "";
      findings.push({ message: text || validation.message || `failed expression: ${validation.expression}`, reason: validation.reason });
    }
    for (const { name, program } of policy.annotations) {
      const outcome = run.value(program);
      if (outcome.ok && typeof outcome.value === "string" && outcome.value !== "")
        this.auditAnnotations.set(`${policy.name}/${name}`, outcome.value);
      else if (!outcome.ok && policy.isStrict) findings.push({ message: outcome.why, reason: "Invalid" });
    }
    return findings;
  }
}

interface About {
  readonly request: AdmissionRequest;
  readonly asking: Asking;
  readonly namespace: JsonObject | undefined;
  readonly param: JsonObject | undefined;
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };

/** The evaluations of one policy for one request: they share a budget. */
class Run {
  readonly #scope: Record<string, unknown>;
  #left = objectBudget;
  constructor(scope: Record<string, unknown>) {
    this.#scope = scope;
  }
  get isSpent(): boolean {
    return this.#left < 0;
  }
  value(program: MeteredProgram): Outcome {
    const outcome = program(this.#scope);
    this.#left -= outcome.cost;
    if (this.isSpent || outcome.kind === "too dear") {
      this.#left = -1;
      return { ok: false, why: "validation failed due to running out of cost budget, no further validation rules will be run" };
    }
    return outcome.kind === "value" ? { ok: true, value: outcome.value } : { ok: false, why: explainEvaluation(outcome.error) };
  }
}

function scopeOf(policy: Policy, { request, asking, namespace, param }: About, authorize: Authorize): Record<string, unknown> {
  const kind = { group: request.group, version: request.version, kind: request.kind };
  const resource = { group: request.group, version: request.version, resource: request.plural };
  const { name, groups, uid, extra } = asking.user;
  const asked = { group: request.group, version: request.version, resource: request.plural, path: "", ...placeOf(request) };
  const variables = Object.create(null) as Record<string, unknown>;
  const scope: Record<string, unknown> = {
    object: toCel(request.object, undefined),
    oldObject: toCel(request.oldObject, undefined),
    params: toCel(param, undefined),
    namespaceObject: toCel(namespace, undefined),
    request: toCel(
      {
        kind,
        requestKind: kind,
        resource,
        requestResource: resource,
        subResource: request.subresource,
        requestSubResource: request.subresource,
        name: request.name,
        namespace: request.namespace,
        operation: request.operation,
        dryRun: asking.dryRun,
        userInfo: { username: name, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) },
      },
      undefined,
    ),
    authorizer: new Authorizer(authorize, asking.user, asked),
    variables,
  };
  for (const variable of policy.variables) {
    let known: Outcome | undefined;
    Object.defineProperty(variables, variable.name, {
      enumerable: true,
      get: () => {
        known ??= new Run(scope).value(variable.program);
        if (!known.ok) throw new Error(`composited variable "${variable.name}" fails to evaluate: ${known.why}`);
        return known.value;
      },
    });
  }
  return scope;
}

function placeOf({ subresource, namespace, name }: AdmissionRequest): { subresource: string; namespace: string; name: string } {
  return { subresource, namespace, name };
}

function nameOf(object: JsonObject): string {
  return stringAt(metadataOf(object), "name") ?? "";
}

/** What was stored by a version that knew more functions fails when it is asked, not when it is read. */
function programOf(expression: string): MeteredProgram {
  const verdict = checkExpression(expression);
  return verdict.ok
    ? compileExpression(expression)
    : () => ({ kind: "error", error: new Error(`compilation failed: ${verdict.why}`), cost: 0 });
}

function denial(request: AdmissionRequest, policy: string, binding: string, { message, reason }: Finding): StatusError {
  const why = `ValidatingAdmissionPolicy '${policy}' with binding '${binding}' denied request: ${message}`;
  const refusal = forbidden({ group: request.group, plural: request.plural }, request.name, why);
  return new StatusError(codes[reason] ?? 422, reason, refusal.message, { ...refusal.details, causes: [{ message: why }] });
}

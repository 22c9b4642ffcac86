import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import { refuseSubdomain } from "../request/names.ts";
import type { FieldError } from "../schema/index.ts";
import { fill, inside } from "./defaults/fill.ts";
import type { WriteFacts } from "./kind.ts";
import { forbiddenValue, invalidValue, required, unsupported } from "./rule-errors.ts";

// Flow control is kept as it is written; requests are answered in the order in which they come.

/** Told to those who bring a FlowSchema or PriorityLevelConfiguration. */
const notQueued = "the embedded API keeps flow control and does not act on it";

/** A new object of flow control has no state yet. */
export function beginFlow(object: JsonObject, old: JsonObject | undefined, { warn }: WriteFacts): JsonObject {
  if (old !== undefined) return object;
  warn(notQueued);
  return { ...object, status: {} };
}

/** Fills in what a FlowSchema leaves out. */
export function prepareFlowSchema(schema: JsonObject): JsonObject {
  return inside(schema, "spec", (spec) =>
    spec["matchingPrecedence"] === 0 ? { ...spec, matchingPrecedence: 1000 } : fill(spec, { matchingPrecedence: 1000 }),
  );
}

/** Fills in what a PriorityLevelConfiguration leaves out. */
export function preparePriorityLevel(level: JsonObject): JsonObject {
  const limited = (part: JsonObject): JsonObject =>
    inside(fill(part, { nominalConcurrencyShares: 30, lendablePercent: 0 }), "limitResponse", (response) =>
      inside(response, "queuing", (queuing) => fill(queuing, { handSize: 8, queues: 64, queueLengthLimit: 50 })),
    );
  const exempt = (part: JsonObject): JsonObject => fill(part, { nominalConcurrencyShares: 0, lendablePercent: 0 });
  return inside(level, "spec", (spec) => inside(inside(spec, "limited", limited), "exempt", exempt));
}

const highestPrecedence = 10_000;
const methods = ["ByNamespace", "ByUser"];
const subjectKinds = ["Group", "ServiceAccount", "User"];

/** What a FlowSchema may not say. */
export function validateFlowSchema(schema: JsonObject): readonly FieldError[] {
  const spec = objectAt(schema, "spec");
  const precedence = spec["matchingPrecedence"];
  const at = "spec.matchingPrecedence";
  const level = stringAt(objectAt(spec, "priorityLevelConfiguration"), "name") ?? "";
  const method = stringAt(objectAt(spec, "distinguisherMethod"), "type");
  return [
    ...(typeof precedence === "number" && precedence <= 0 ? [invalidValue(at, precedence, "must be a positive value")] : []),
    ...(typeof precedence === "number" && precedence > highestPrecedence
      ? [invalidValue(at, precedence, `must not be greater than ${highestPrecedence}`)]
      : []),
    ...(precedence === 1 && metadataOf(schema)["name"] !== "exempt"
      ? [invalidValue(at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")]
      : []),
    ...(method === undefined || methods.includes(method) ? [] : [unsupported("spec.distinguisherMethod.type", method, methods)]),
    ...(level === ""
      ? [required("spec.priorityLevelConfiguration.name", "must reference a priority level")]
      : refuseSubdomain(level).map((why) => invalidValue("spec.priorityLevelConfiguration.name", level, why))),
    ...objectsAt(spec, "rules").flatMap((rule, index) => validateRule(rule, `spec.rules[${index}]`)),
  ];
}

function validateRule(rule: JsonObject, at: string): readonly FieldError[] {
  const subjects = objectsAt(rule, "subjects");
  const isEmpty = objectsAt(rule, "resourceRules").length === 0 && objectsAt(rule, "nonResourceRules").length === 0;
  return [
    ...(subjects.length === 0 ? [required(`${at}.subjects`, "subjects must contain at least one value")] : []),
    ...subjects.flatMap((subject, index) => {
      const kind = stringAt(subject, "kind") ?? "";
      return subjectKinds.includes(kind) ? [] : [unsupported(`${at}.subjects[${index}].kind`, kind, subjectKinds)];
    }),
    ...(isEmpty ? [required(at, "at least one of resourceRules and nonResourceRules has to be non-empty")] : []),
  ];
}

/** What a PriorityLevelConfiguration may not say. */
export function validatePriorityLevel(level: JsonObject): readonly FieldError[] {
  const spec = objectAt(level, "spec");
  const type = stringAt(spec, "type") ?? "";
  const isMisnamed = (metadataOf(level)["name"] === "exempt") !== (type === "Exempt");
  return [
    ...(isMisnamed ? [invalidValue("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'")] : []),
    ...validateKind(spec, type),
  ];
}

function validateKind(spec: JsonObject, type: string): readonly FieldError[] {
  switch (type) {
    case "":
      return [required("spec.type")];
    case "Exempt":
      return spec["limited"] === undefined ? [] : [forbiddenValue("spec.limited", "must be nil if the type is not Limited")];
    case "Limited":
      return [
        ...(spec["exempt"] === undefined ? [] : [forbiddenValue("spec.exempt", "must be nil if the type is Limited")]),
        ...(spec["limited"] === undefined ? [required("spec.limited", "must not be empty when type is Limited")] : []),
      ];
    default:
      return [unsupported("spec.type", type, ["Exempt", "Limited"])];
  }
}

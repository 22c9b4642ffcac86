import { equalJson, isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt, stringsAt } from "../request/json.ts";
import { checkVersionParts, compileCrd } from "../schema/index.ts";
import type { FieldError } from "../schema/index.ts";

/** Where CRDs are stored. */
export const crdResource = "apiextensions.k8s.io/customresourcedefinitions";

/** Fills in the names that a CRD may leave out, and the first status. */
export function prepareCrd(crd: JsonObject, old: JsonObject | undefined): JsonObject {
  const spec = objectAt(crd, "spec");
  const names = objectAt(spec, "names");
  const kind = stringAt(names, "kind") ?? "";
  const filled: JsonObject = {
    ...spec,
    conversion: isObject(spec["conversion"]) ? spec["conversion"] : { strategy: "None" },
    names: {
      ...names,
      listKind: stringAt(names, "listKind") || `${kind}List`,
      singular: stringAt(names, "singular") || kind.toLowerCase(),
    },
  };
  if (old !== undefined) {
    const status = objectAt(crd, "status");
    const storedVersions = [...new Set([...stringsAt(status, "storedVersions"), ...storageVersions(spec)])];
    return { ...crd, spec: filled, status: { ...status, storedVersions } };
  }
  return {
    ...crd,
    spec: filled,
    status: { acceptedNames: { kind: "", plural: "" }, conditions: [], storedVersions: storageVersions(spec) },
  };
}

/** Why a CRD cannot be served, with field paths. */
export function validateCrd(crd: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const spec = objectAt(crd, "spec");
  const wanted = `${stringAt(objectAt(spec, "names"), "plural") ?? ""}.${stringAt(spec, "group") ?? ""}`;
  const name = stringAt(metadataOf(crd), "name") ?? "";
  if (name !== wanted && old === undefined) {
    const misnamed: FieldError = {
      reason: "FieldValueInvalid",
      field: "metadata.name",
      message: `Invalid value: ${JSON.stringify(name)}: must be spec.names.plural+"."+spec.group`,
    };
    const outcome = compileCrd(crd);
    return [misnamed, ...(outcome.ok ? [] : outcome.errors.filter(({ field }) => field !== "metadata.name"))];
  }
  if (stringAt(objectAt(spec, "conversion"), "strategy") === "Webhook") {
    return [
      {
        reason: "FieldValueNotSupported",
        field: "spec.conversion.strategy",
        message: 'Unsupported value: "Webhook": supported values: "None"',
      },
    ];
  }
  if (old !== undefined && changesOfIdentity(crd, old).some(({ field }) => field === "spec.group" || field === "spec.names.plural"))
    return changesOfIdentity(crd, old);
  if (spec["preserveUnknownFields"] === true && objectAt(old, "spec")["preserveUnknownFields"] !== true) {
    const why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    return [{ reason: "FieldValueInvalid", field: "spec.preserveUnknownFields", message: `Invalid value: true: ${why}` }];
  }
  const unapproved = old === undefined ? problemOfApproval(crd, stringAt(spec, "group") ?? "") : undefined;
  if (unapproved !== undefined) return [unapproved];
  const before = old === undefined ? undefined : schemasOf(old);
  // What was accepted once stays, as long as its schema does.
  const outcome = compileCrd(crd, (version) => !equalJson(before?.get(version), schemasOf(crd).get(version)));
  if (old === undefined) return outcome.ok ? checkVersionParts(spec) : outcome.errors;
  // Which versions were stored is known by now, and not read off those that are to be.
  const errors = outcome.ok ? checkVersionParts(spec) : outcome.errors.filter(({ field }) => field !== "status.storedVersions");
  return [...changesOfIdentity(crd, old), ...errors];
}

const approval = "api-approved.kubernetes.io";

/** Groups of the Kubernetes project are for kinds that it approved, or that say that it did not. */
function problemOfApproval(crd: JsonObject, group: string): FieldError | undefined {
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return undefined;
  const given = stringAt(objectAt(metadataOf(crd), "annotations"), approval) ?? "";
  const field = `metadata.annotations[${approval}]`;
  const why = `protected groups must have approval annotation ${JSON.stringify(approval)}, see https://github.com/kubernetes/enhancements/pull/1111`;
  if (given === "") return { reason: "FieldValueRequired", field, message: `Required value: ${why}` };
  if (given.startsWith("unapproved") || (URL.canParse(given) && new URL(given).host !== "")) return undefined;
  const detail = `protected groups must have approval annotation ${JSON.stringify(approval)} with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`;
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${JSON.stringify(given)}: ${detail}` };
}

function schemasOf(crd: JsonObject): ReadonlyMap<unknown, unknown> {
  return new Map(objectsAt(objectAt(crd, "spec"), "versions").map((version) => [version["name"], version["schema"]]));
}

/** Objects may be stored under these already: group and plural never change, scope and kind not once the kind was served. */
function changesOfIdentity(crd: JsonObject, old: JsonObject): readonly FieldError[] {
  const [after, before] = [objectAt(crd, "spec"), objectAt(old, "spec")];
  const wasServed = objectsAt(old["status"], "conditions").some(({ type, status }) => type === "Established" && status === "True");
  const errors: FieldError[] = [];
  const compare = (field: string, now: unknown, then: unknown): void => {
    if (now !== then)
      errors.push({ reason: "FieldValueInvalid", field, message: `Invalid value: ${JSON.stringify(now)}: field is immutable` });
  };
  if (wasServed) {
    compare("spec.scope", after["scope"], before["scope"]);
    compare("spec.names.kind", objectAt(after, "names")["kind"], objectAt(before, "names")["kind"]);
  }
  const versions = objectsAt(after, "versions").map(({ name }) => name);
  for (const [index, stored] of stringsAt(crd["status"], "storedVersions").entries()) {
    if (versions.includes(stored)) continue;
    errors.push({
      reason: "FieldValueInvalid",
      field: `status.storedVersions[${index}]`,
      message: `Invalid value: ${JSON.stringify(stored)}: missing from spec.versions; ${stored} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${stored} and removes ${stored} from status.storedVersions`,
    });
  }
  compare("spec.group", after["group"], before["group"]);
  compare("spec.names.plural", objectAt(after, "names")["plural"], objectAt(before, "names")["plural"]);
  return errors;
}

/** The first one only: a second one is a mistake for validation to find. */
export function storageVersions(spec: JsonObject): readonly string[] {
  return objectsAt(spec, "versions")
    .filter((version) => version["storage"] === true)
    .slice(0, 1)
    .map((version) => stringAt(version, "name") ?? "");
}

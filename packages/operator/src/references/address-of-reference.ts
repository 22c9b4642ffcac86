import { parseHost, quote } from "@talos-operator/api";
import type { ObjectReference } from "@talos-operator/api";
import { findByJsonPath, JsonPathError, parseJsonPath } from "./json-path.ts";
import type { JsonPath } from "./json-path.ts";
import type { AddressProblem } from "../model/machine.ts";

/** What a reference gave. */
export type Resolution =
  { readonly kind: "address"; readonly address: string } | { readonly kind: "unresolved"; readonly problem: AddressProblem };

/** A reference that can be followed. */
export interface UsableReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: JsonPath;
  /** The path as written. */
  readonly fieldPath: string;
}

/**
 * Checks a reference before anything is read: `apiVersion`, `kind`, `name` and `fieldPath` are needed, the namespace is by default that of the referring object.
 *
 * Secrets are refused: an address is never one, and a reference must not be a way to learn what is in them.
 *
 * @param namespace of the object that refers
 */
export function usableReference(reference: ObjectReference, namespace: string): UsableReference | AddressProblem {
  const { apiVersion = "", kind = "", name = "", fieldPath = "" } = reference;
  const missing = Object.entries({ apiVersion, kind, name, fieldPath })
    .filter(([, value]) => value === "")
    .map(([field]) => field);
  if (missing.length > 0)
    return invalid(`machineRef names no ${missing.join(", no ")}`, `Write ${missing.join(", ")}; fieldPath is the JSONPath to the address`);
  if (!/^([a-z0-9.-]{1,253}\/)?v[a-z0-9]{1,62}$/.test(apiVersion))
    return invalid(`machineRef.apiVersion ${quote(apiVersion)} is no group and version`, "Write it as v1 or vitistack.io/v1alpha1");
  if (!/^[A-Za-z][A-Za-z0-9]{0,62}$/.test(kind)) return invalid(`machineRef.kind ${quote(kind)} is no kind`, "Write it as Machine");
  const place = reference.namespace === undefined || reference.namespace === "" ? namespace : reference.namespace;
  for (const [field, value] of [
    ["name", name],
    ["namespace", place],
  ] as const)
    if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(value))
      return invalid(`machineRef.${field} ${quote(value)} is no name of an object`, "Correct it");
  if (apiVersion === "v1" && kind === "Secret")
    return invalid("machineRef leads to a Secret, which is never read for an address", "Refer to the object that describes the machine");
  try {
    return { apiVersion, kind, namespace: place, name, fieldPath, path: parseJsonPath(fieldPath) };
  } catch (thrown) {
    if (!(thrown instanceof JsonPathError)) throw thrown;
    return invalid(
      `machineRef.fieldPath ${quote(fieldPath)} cannot be read: ${thrown.message}`,
      "Write a JSONPath to one value, such as .status.networkInterfaces[0].ipAddresses[0]",
    );
  }
}

/**
 * The same, where references may not lead everywhere. Whoever may write a pool could otherwise learn, by what its conditions say, which objects are in
 * namespaces that are closed to him, and have the operator send a configuration to an address that is found there.
 *
 * @param allowed namespaces beside that of the object that refers; `undefined` = all
 */
export function allowedReference(
  reference: ObjectReference,
  namespace: string,
  allowed: readonly string[] | undefined,
): UsableReference | AddressProblem {
  const checked = usableReference(reference, namespace);
  if (!("path" in checked) || checked.namespace === namespace || allowed === undefined || allowed.includes(checked.namespace))
    return checked;
  return {
    reason: "ReferenceForbidden",
    message: `machineRef leads to namespace ${checked.namespace}, which this operator does not read for machines. Refer to an object in ${namespace}, or have the namespace added to --machine-ref-namespaces.`,
  };
}

/** The address in a referenced object: exactly one value, a text, an IP address. */
export function addressIn(object: unknown, { path, fieldPath, kind, name }: UsableReference): Resolution {
  const where = `${kind}/${name} at ${quote(fieldPath)}`;
  // An address that is not assigned yet is absent, null or empty.
  const found = findByJsonPath(path, object).filter((value) => value !== null && value !== "");
  const [value] = found;
  if (value === undefined) return unresolved("AddressMissing", `${where} has no address yet`, "It is read again when that object changes");
  if (found.length > 1)
    return unresolved(
      "AddressAmbiguous",
      `${where} has ${found.length >= 1_000 ? "1000 or more" : found.length} values`,
      "Correct machineRef.fieldPath so that it leads to one, for example with [0]",
    );
  const host = typeof value === "string" ? parseHost(value) : undefined;
  if (host === undefined || !("kind" in host) || host.kind !== "ip")
    return unresolved(
      "AddressNotUsable",
      `${where} has a value that is no IP address (${typeof value === "string" ? `a text of ${value.length} characters` : Array.isArray(value) ? "a list" : typeof value})`,
      "Correct machineRef.fieldPath",
    );
  return { kind: "address", address: host.text };
}

/** A resolution that failed. */
export function unresolved(reason: AddressProblem["reason"], what: string, remedy: string): Resolution {
  return { kind: "unresolved", problem: { reason, message: `${what}. ${remedy}.` } };
}

function invalid(what: string, remedy: string): AddressProblem {
  return { reason: "ReferenceInvalid", message: `${what}. ${remedy}.` };
}

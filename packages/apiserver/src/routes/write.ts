import { metadataWarnings, validateMetadata } from "../admission/metadata.ts";
import { admitIntoKind, admitIntoNamespace } from "../admission/namespace-lifecycle.ts";
import { admitBySecurity } from "../admission/pod-security/admit.ts";
import { refuseEscalation } from "../auth/escalation.ts";
import { rbacGroup } from "../auth/rbac.ts";
import { trackUpdate, withoutManagedFields } from "../apply/index.ts";
import { cloneJson, equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { crdResource } from "../kinds/custom.ts";
import { keyOf, toServedVersion, toStoredVersion, writtenUnder } from "../kinds/kind.ts";
import type { WriteFacts } from "../kinds/kind.ts";
import { warningsOf } from "../kinds/warnings.ts";
import { metadataOf, objectAt, objectsAt, stringAt, stringsAt, without, withMetadata } from "../request/json.ts";
import { alreadyExists, badRequest, conflict, invalid, StatusError } from "../request/status.ts";
import { warningsOfFormats } from "../schema/index.ts";
import type { FieldError } from "../schema/index.ts";
import { admitSigning, admitSubject } from "./signing.ts";
import { createNameSuffix, createUid, timestampOf } from "./context.ts";
import type { ApiContext, ResourceCall } from "./context.ts";
import type { WriteOptions } from "./options.ts";

/** Whether field ownership is still to be worked out (create, update, patch) or was by server-side apply. */
export type Ownership = "track" | "done";

const maxObjectBytes = 1.5 * 1024 * 1024;

/**
 * The second half of every create: from a decoded, pruned object in the served version to a stored one.
 *
 * @returns the object as stored, in the served version
 * @throws 400, 403, 404, 409, 422
 */
export function finishCreate(
  context: ApiContext,
  call: ResourceCall,
  sent: JsonObject,
  options: WriteOptions,
  ownership: Ownership,
): JsonObject {
  const { kind, version } = call;
  const now = timestampOf(context.clock.now());
  const sentMeta = metadataOf(sent);
  if ((stringAt(sentMeta, "resourceVersion") ?? "") !== "") {
    throw new StatusError(500, "", "resourceVersion should not be set on objects to be created");
  }
  const namespace = namespaceOf(call, sentMeta);
  const name = nameForCreate(context, call, sentMeta, namespace);
  let object = withMetadata(sent, {
    name: name === "" ? undefined : name,
    namespace: kind.namespaced ? namespace : undefined,
    uid: createUid(context.random),
    creationTimestamp: now,
    generation: kind.strategy.hasGeneration ? 1 : undefined,
    resourceVersion: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    selfLink: undefined,
  });
  if (version.subresources.status && kind.strategy.keepsStatusOnCreate !== true) {
    object = without(object, "status");
  }
  // An applied null is a mistake for validation to find; a null in any other body is an absent field.
  version.applyDefaults(object, { keepNulls: ownership === "done" });
  const facts = factsOf(context, call, now);
  object = shape(call, object, undefined, facts);
  if (ownership === "track") {
    object = trackUpdate({
      kind: version,
      manager: options.manager,
      subresource: "",
      apiVersion: version.apiVersion,
      now: new Date(context.clock.now()),
      live: undefined,
      updated: object,
    });
  }
  object = kind.strategy.begin?.(object, undefined, facts) ?? object;
  admitIntoKind(context.state, kind, name);
  admitIntoNamespace(context.state, kind, namespace, name);
  admitPermissions(context, call, object, undefined);
  refuseInvalid(call, object, undefined, facts);
  admitBySecurity(context.state, { kind, subresource: "", namespace, object, live: undefined });
  admitSubject(context, call, object, name);
  const key = keyOf(namespace, name);
  if (context.state.get(kind.resource, key) !== undefined) {
    throw alreadyExists(kind, name);
  }
  if (options.dryRun) {
    return asIfStored(call, object);
  }
  const stored = context.state.put(kind.resource, key, toStoredVersion(kind, object), (written) => writtenUnder(kind, version, written));
  context.log?.debug(
    { resource: kind.resource, namespace, name, resourceVersion: metadataOf(stored)["resourceVersion"] },
    "Object created",
  );
  return toServedVersion(kind, version, stored);
}

/**
 * The second half of every update, patch and apply to something that exists.
 *
 * @param live the stored object in the served version
 * @param next what the client wants, decoded and pruned
 * @returns the object as stored, in the served version; the live one when nothing changed
 * @throws 400, 403, 409, 422
 */
export function finishUpdate(
  context: ApiContext,
  call: ResourceCall,
  live: JsonObject,
  next: JsonObject,
  options: WriteOptions,
  ownership: Ownership,
): JsonObject {
  const { kind, version, subresource } = call;
  const now = timestampOf(context.clock.now());
  refuseStale(call, live, next);
  const facts = factsOf(context, call, now);
  let object = restrictToSubresource(call, live, keepServerMetadata(live, next), facts);
  // An applied null is a mistake for validation to find; a null in any other body is an absent field.
  version.applyDefaults(object, { keepNulls: ownership === "done" });
  object = shape(call, object, live, facts);
  if (ownership === "track") {
    object = trackUpdate({
      kind: version,
      manager: options.manager,
      subresource,
      apiVersion: version.apiVersion,
      now: new Date(context.clock.now()),
      live,
      updated: object,
    });
  }
  if (subresource !== "status") object = kind.strategy.begin?.(object, live, facts) ?? object;
  object = withGeneration(call, live, object);
  admitPermissions(context, call, object, live);
  refuseInvalid(call, object, live, facts);
  admitBySecurity(context.state, { kind, subresource, namespace: call.namespace, object, live });
  admitSigning(context, call, object, live);
  const key = keyOf(call.namespace, call.name);
  const isFinished = isReadyToGo(object);
  if (options.dryRun) {
    return asIfStored(call, object);
  }
  if (isFinished && subresource !== "status") {
    return toServedVersion(kind, version, context.state.remove(kind.resource, key, toStoredVersion(kind, object)));
  }
  if (isUnchanged(live, object)) {
    return live;
  }
  const stored = context.state.put(kind.resource, key, toStoredVersion(kind, object), (written) => writtenUnder(kind, version, written));
  context.log?.debug(
    { resource: kind.resource, namespace: call.namespace, name: call.name, resourceVersion: metadataOf(stored)["resourceVersion"] },
    "Object updated",
  );
  return toServedVersion(kind, version, stored);
}

/** A kind that is stored in another form may come back from there with more. */
function asIfStored({ kind, version }: ResourceCall, object: JsonObject): JsonObject {
  return kind.strategy.toStored === undefined ? object : toServedVersion(kind, version, toStoredVersion(kind, object));
}

function admitPermissions(context: ApiContext, call: ResourceCall, object: JsonObject, live: JsonObject | undefined): void {
  if (call.kind.group !== rbacGroup || !context.decidesByRbac) return;
  const { namespace, kind, request } = call;
  refuseEscalation(context.rbac, context.authorize, { user: request.user, plural: kind.plural, namespace, object, live });
}

/** True when an object that is being deleted waits for nobody any more. */
export function isReadyToGo(object: JsonObject): boolean {
  const metadata = metadataOf(object);
  if (metadata["deletionTimestamp"] === undefined || stringsAt(metadata, "finalizers").length > 0) {
    return false;
  }
  const isNamespace = object["kind"] === "Namespace" && object["apiVersion"] === "v1";
  return !isNamespace || stringsAt(object["spec"], "finalizers").length === 0;
}

function namespaceOf(call: ResourceCall, metadata: JsonObject): string {
  const sent = stringAt(metadata, "namespace") ?? "";
  if (!call.kind.namespaced) {
    if (sent !== "") {
      throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
    }
    return "";
  }
  if (sent !== "" && sent !== call.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return call.namespace;
}

function nameForCreate(context: ApiContext, call: ResourceCall, metadata: JsonObject, namespace: string): string {
  const name = stringAt(metadata, "name") ?? "";
  if (name !== "") {
    if (call.name !== "" && call.name !== name) {
      throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.name})`);
    }
    return name;
  }
  const prefix = stringAt(metadata, "generateName") ?? "";
  if (prefix === "") {
    return call.name;
  }
  // 63 - 5: the generated name stays a label even when the prefix is too long for one.
  for (let attempt = 0; attempt < 8; attempt++) {
    const candidate = `${prefix.slice(0, 58)}${createNameSuffix(context.random)}`;
    if (context.state.get(call.kind.resource, keyOf(namespace, candidate)) === undefined) {
      return candidate;
    }
  }
  throw alreadyExists(call.kind, prefix);
}

function refuseStale(call: ResourceCall, live: JsonObject, next: JsonObject): void {
  const liveMeta = metadataOf(live);
  const nextMeta = metadataOf(next);
  const name = stringAt(nextMeta, "name") ?? "";
  if (name !== "" && name !== call.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.name})`);
  }
  const namespace = stringAt(nextMeta, "namespace") ?? "";
  if (namespace !== "" && namespace !== call.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const uid = stringAt(nextMeta, "uid") ?? "";
  if (uid !== "" && uid !== liveMeta["uid"]) {
    throw conflict(
      call.kind,
      call.name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${String(liveMeta["uid"])}`,
    );
  }
  const wanted = stringAt(nextMeta, "resourceVersion") ?? "";
  if (wanted === "" || wanted === "0") {
    if (!call.kind.strategy.allowsUnconditionalUpdate) {
      throw invalid(call.kind.group, call.kind.plural, call.name, [
        { reason: "FieldValueInvalid", field: "metadata.resourceVersion", message: "Invalid value: 0: must be specified for an update" },
      ]);
    }
    return;
  }
  if (wanted !== liveMeta["resourceVersion"]) {
    throw conflict(call.kind, call.name);
  }
}

// These belong to the server; what a client sends for them does not count.
function keepServerMetadata(live: JsonObject, next: JsonObject): JsonObject {
  const before = metadataOf(live);
  return withMetadata(next, {
    name: before["name"],
    namespace: before["namespace"],
    uid: before["uid"],
    creationTimestamp: before["creationTimestamp"],
    generation: before["generation"],
    deletionTimestamp: before["deletionTimestamp"],
    deletionGracePeriodSeconds: before["deletionGracePeriodSeconds"],
    resourceVersion: before["resourceVersion"],
    generateName: before["generateName"],
    selfLink: undefined,
  });
}

function restrictToSubresource(call: ResourceCall, live: JsonObject, next: JsonObject, facts: WriteFacts): JsonObject {
  const part = call.kind.strategy.parts?.[call.subresource];
  // Copied, because defaulting works in place and the stored object must stay as it is.
  if (part !== undefined) return cloneJson(part.restrict(withoutManagedFields(live), next, facts));
  if (call.subresource === "status") {
    const status = next["status"] === undefined ? {} : { status: next["status"] };
    const managedFields = metadataOf(next)["managedFields"];
    // Copied, because defaulting works in place and the stored object must stay as it is.
    const rest = cloneJson(withoutManagedFields(without(live, "status")));
    return call.kind.strategy.statusKeepsMetadata
      ? { ...withMetadata(rest, { managedFields }), ...status }
      : { ...rest, metadata: next["metadata"], ...status };
  }
  if (!call.version.subresources.status) {
    return { ...next };
  }
  return { ...without(next, "status"), ...(live["status"] === undefined ? {} : { status: cloneJson(live["status"]) }) };
}

function factsOf(context: ApiContext, call: ResourceCall, now: string): WriteFacts {
  const stored: WriteFacts["stored"] = (resource, namespace) =>
    context.state.list(resource, namespace === undefined ? "" : `${namespace}/`).map((entry) => entry.object);
  return { now, user: call.request.user, stored, readCertificateRequest: context.readCertificateRequest };
}

function shape(call: ResourceCall, object: JsonObject, live: JsonObject | undefined, facts: WriteFacts): JsonObject {
  const prepare = call.kind.strategy.prepare;
  if (prepare === undefined || call.subresource === "status") {
    return object;
  }
  return prepare(object, live, facts);
}

function withGeneration(call: ResourceCall, live: JsonObject, object: JsonObject): JsonObject {
  const { strategy } = call.kind;
  if (!strategy.hasGeneration || strategy.keepsGeneration === true || call.subresource === "status") {
    return object;
  }
  const ignored = call.version.subresources.status || !call.kind.custom ? ["metadata", "status", "apiVersion"] : ["metadata", "apiVersion"];
  const generation = Number(metadataOf(live)["generation"] ?? 1);
  const isAnnotated =
    strategy.generationCountsAnnotations === true &&
    !equalJson(objectAt(metadataOf(live), "annotations"), objectAt(metadataOf(object), "annotations"));
  return !isAnnotated && equalJson(without(live, ...ignored), without(object, ...ignored))
    ? object
    : withMetadata(object, { generation: generation + 1 });
}

const mildReasons: ReadonlySet<string> = new Set(["FieldValueRequired", "FieldValueNotSupported"]);

function refuseInvalid(call: ResourceCall, object: JsonObject, live: JsonObject | undefined, facts: WriteFacts): void {
  const subresource = call.subresource === "status" ? "status" : "";
  const part = call.kind.strategy.parts?.[call.subresource];
  const validated = call.version.validate(object, live, { subresource });
  let errors = [...validateMetadata(call.kind, object, live), ...validated.errors];
  // Rules may look at an object from which something is missing or whose words are unknown, not at one whose values have wrong types.
  if (validated.errors.every((error) => mildReasons.has(error.reason)) && subresource === "") {
    // A part has rules of its own about what may become of the live one.
    errors = mergeErrors(errors, call.kind.strategy.validate?.(object, part === undefined ? live : undefined, facts) ?? []);
    if (part !== undefined && live !== undefined) errors.push(...part.validate(object, live));
  }
  errors.push(...refuseCounts(call, object, subresource));
  if (errors.length === 0 && subresource === "status") errors.push(...(call.kind.strategy.validateStatus?.(object, live ?? object) ?? []));
  if (errors.length > 0) {
    throw invalid(call.kind.group, call.version.names.kind, stringAt(metadataOf(object), "name") ?? "", errors);
  }
  call.warnings.push(...metadataWarnings(call.kind, object, live), ...validated.warnings);
  if (!call.kind.custom && subresource === "") call.warnings.push(...warningsOf(call.kind.resource, object, live));
  if (call.kind.resource === crdResource && subresource === "") call.warnings.push(...warningsOfFormats(objectAt(object, "spec")));
  if (isLargerThan(object, maxObjectBytes)) {
    throw new StatusError(413, "RequestEntityTooLarge", `Request entity too large: an object may hold ${maxObjectBytes} bytes; split it`);
  }
}

/** What the scale of a custom kind counts are numbers of pods, whatever its schema says. */
function refuseCounts({ kind, version }: ResourceCall, object: JsonObject, subresource: "" | "status"): readonly FieldError[] {
  const { scale } = version.subresources;
  if (!kind.custom || scale === undefined) return [];
  const paths = [...(subresource === "" ? [scale.specReplicasPath] : []), scale.statusReplicasPath];
  return paths.flatMap((path): FieldError[] => {
    const count = path
      .split(".")
      .slice(1)
      .reduce<unknown>((value, name) => objectAt({ value }, "value")[name], object);
    if (typeof count !== "number") return [];
    const why =
      count < 0 ? "should be a non-negative integer" : count > 2_147_483_647 ? "should be less than or equal to 2147483647" : undefined;
    return why === undefined ? [] : [{ reason: "FieldValueInvalid", field: path, message: `Invalid value: ${count}: ${why}` }];
  });
}

/** Of one thing that schema and rule find wrong the rule says more; of two things wrong with a field the schema's comes first, and counts. */
function mergeErrors(ofSchema: readonly FieldError[], ofRules: readonly FieldError[]): FieldError[] {
  // Rules about taints speak of another place, as those of kube-apiserver do.
  const placeOf = (error: FieldError): string => error.field.replace(/^metadata\.taints/, "spec.taints");
  const repeats = (error: FieldError, rule: FieldError): boolean =>
    (error.field === placeOf(rule) && (error.reason === rule.reason || error.field !== rule.field)) ||
    // A rule about a list speaks of the whole of it.
    (error.reason === "FieldValueNotSupported" && error.field.replace(/\[\d+\]$/, "") === rule.field && error.field !== rule.field);
  const left = ofSchema.filter((error) => !ofRules.some((rule) => repeats(error, rule)));
  const known = new Set(left.map((error) => error.field));
  return [...left, ...ofRules.filter((rule) => !known.has(rule.field))];
}

/** Adds up texts only, and stops as soon as it knows: cheap enough for every write. */
function isLargerThan(value: unknown, limitBytes: number): boolean {
  let left = limitBytes;
  const pending: unknown[] = [value];
  while (pending.length > 0 && left >= 0) {
    const item = pending.pop();
    if (typeof item === "string") {
      left -= item.length;
    } else if (typeof item === "object" && item !== null) {
      for (const [key, child] of Object.entries(item)) {
        left -= key.length + 4;
        pending.push(child);
      }
    }
  }
  return left < 0;
}

/** Equal but for the times in managedFields: such a write is answered and not stored. */
function isUnchanged(live: JsonObject, next: JsonObject): boolean {
  const timeless = (object: JsonObject): unknown => objectsAt(metadataOf(object), "managedFields").map((entry) => without(entry, "time"));
  return (
    equalJson(without(live, "metadata"), without(next, "metadata")) &&
    equalJson(without(objectAt(live, "metadata"), "managedFields"), without(objectAt(next, "metadata"), "managedFields")) &&
    equalJson(timeless(live), timeless(next))
  );
}

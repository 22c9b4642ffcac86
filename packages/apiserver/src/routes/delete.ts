import { admitNamespaceDeletion } from "../admission/namespace-lifecycle.ts";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { keyOf, toServedVersion } from "../kinds/kind.ts";
import { systemPriorities } from "../kinds/priorities.ts";
import { metadataOf, objectAt, objectsAt, stringAt, stringsAt, withMetadata } from "../request/json.ts";
import { parseCount } from "../request/parse-count.ts";
import { isYes } from "../request/query-flag.ts";
import { badRequest, conflict, forbidden, invalid, notFound } from "../request/status.ts";
import { timestampOf } from "./context.ts";
import type { ApiContext, ResourceCall } from "./context.ts";

/** How dependents are treated. */
export type PropagationPolicy = "Background" | "Foreground" | "Orphan";

/** What a DELETE asks for. */
export interface DeleteOptions {
  readonly policy: PropagationPolicy | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly dryRun: boolean;
}

/** Name of the finalizer with which a CRD waits until its objects are gone. */
export const crdCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/**
 * Options from the body, else from the query.
 *
 * @throws 400 or 422 for what does not exist
 */
export function parseDeleteOptions(call: ResourceCall): DeleteOptions {
  const { body, query } = call.request;
  if (body !== undefined && body !== null && body !== "" && !isObject(body)) {
    throw badRequest("the body of a DELETE must be a DeleteOptions object");
  }
  const given = isObject(body) ? body : {};
  parseCount(query["gracePeriodSeconds"] ?? "");
  const policy = stringAt(given, "propagationPolicy") ?? query["propagationPolicy"];
  const orphan = given["orphanDependents"] ?? (query["orphanDependents"] === undefined ? undefined : isYes(query["orphanDependents"]));
  if (policy !== undefined && orphan !== undefined && orphan !== null) {
    throw invalid("meta.k8s.io", "DeleteOptions", "", [
      {
        reason: "FieldValueInvalid",
        field: "propagationPolicy",
        message: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
      },
    ]);
  }
  if (policy !== undefined && policy !== "Background" && policy !== "Foreground" && policy !== "Orphan") {
    throw invalid("meta.k8s.io", "DeleteOptions", "", [
      {
        reason: "FieldValueNotSupported",
        field: "propagationPolicy",
        message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`,
      },
    ]);
  }
  const dryRun = stringsAt(given, "dryRun").length > 0 ? stringsAt(given, "dryRun") : query["dryRun"] ? [query["dryRun"]] : [];
  if (dryRun.some((value) => value !== "All")) {
    throw invalid("meta.k8s.io", "DeleteOptions", "", [
      {
        reason: "FieldValueNotSupported",
        field: "dryRun",
        message: `Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`,
      },
    ]);
  }
  const preconditions = objectAt(given, "preconditions");
  return {
    policy: policy ?? (orphan === true ? "Orphan" : undefined),
    uid: stringAt(preconditions, "uid"),
    resourceVersion: stringAt(preconditions, "resourceVersion"),
    dryRun: dryRun.length > 0,
  };
}

/** DELETE of one object: gone at once, or marked and left to its finalizers. */
export function deleteRoute(context: ApiContext, call: ResourceCall): { readonly status: number; readonly body: JsonObject } {
  const options = parseDeleteOptions(call);
  const outcome = deleteObject(context, call, options);
  const { kind, version } = call;
  if (!outcome.removed || kind.strategy.answersDeletedObject) {
    // 202 only for those who say it in the oldest way; answering it always would break old clients, as kube-apiserver remarks.
    const asksToWait = isObject(call.request.body) && call.request.body["orphanDependents"] === false;
    return { status: !outcome.removed && asksToWait ? 202 : 200, body: toServedVersion(kind, version, outcome.object) };
  }
  return {
    status: 200,
    body: {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: {
        name: call.name,
        ...(kind.group === "" ? {} : { group: kind.group }),
        kind: kind.plural,
        uid: metadataOf(outcome.object)["uid"],
      },
    },
  };
}

/**
 * Deletes the object a call names, in its stored form.
 *
 * @returns the last state, and whether it is gone
 * @throws 403, 404, 409
 */
export function deleteObject(
  context: ApiContext,
  call: Pick<ResourceCall, "kind" | "namespace" | "name">,
  options: DeleteOptions,
): { readonly removed: boolean; readonly object: JsonObject } {
  const { kind, namespace, name } = call;
  const key = keyOf(namespace, name);
  const entry = context.state.get(kind.resource, key);
  if (entry === undefined) {
    throw notFound(kind, name);
  }
  admitNamespaceDeletion(kind, name);
  if (kind.resource === "scheduling.k8s.io/priorityclasses" && systemPriorities[name] !== undefined)
    throw forbidden(kind, name, "this is a system priority class and cannot be deleted");
  const live = entry.object;
  const metadata = metadataOf(live);
  if (options.uid !== undefined && options.uid !== metadata["uid"]) {
    throw conflict(
      { group: kind.group, plural: kind.names.kind },
      name,
      `the UID in the precondition (${options.uid}) does not match the UID in record (${String(metadata["uid"])}). The object might have been deleted and then recreated`,
    );
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== metadata["resourceVersion"]) {
    throw conflict(
      { group: kind.group, plural: kind.names.kind },
      name,
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${String(metadata["resourceVersion"])}). The object might have been modified`,
    );
  }
  const finalizers = finalizersFor(kind.resource, metadata, options.policy);
  const waits = finalizers.length > 0 || kind.resource === "/namespaces";
  const marked = metadata["deletionTimestamp"] !== undefined;
  const now = timestampOf(context.clock.now());
  let object = withMetadata(live, { finalizers: finalizers.length === 0 ? undefined : finalizers });
  if (!marked) {
    object = withMetadata(object, {
      deletionTimestamp: now,
      ...(kind.resource === "/namespaces" ? {} : { deletionGracePeriodSeconds: 0 }),
      ...(typeof metadata["generation"] === "number" && waits ? { generation: metadata["generation"] + 1 } : {}),
    });
    if (kind.resource === "/namespaces") {
      object = { ...object, status: { ...objectAt(object, "status"), phase: "Terminating" } };
    }
    if (kind.resource === "apiextensions.k8s.io/customresourcedefinitions") object = withTerminating(object, now);
  }
  if (options.dryRun) {
    return { removed: !waits, object: waits ? object : live };
  }
  if (!waits) {
    return { removed: true, object: context.state.remove(kind.resource, key, live) };
  }
  const isSame = marked && finalizers.join("\n") === stringsAt(metadata, "finalizers").join("\n");
  return { removed: false, object: isSame ? live : context.state.put(kind.resource, key, object) };
}

/** A definition that goes says that its objects go first. */
function withTerminating(crd: JsonObject, now: string): JsonObject {
  const status = objectAt(crd, "status");
  const condition = {
    type: "Terminating",
    status: "True",
    reason: "InstanceDeletionInProgress",
    message: "CustomResource deletion is in progress",
    lastTransitionTime: now,
  };
  return { ...crd, status: { ...status, conditions: [...objectsAt(status, "conditions"), condition] } };
}

/** The policy of a DELETE is kept as a finalizer that garbage collection removes when it has done its part. */
function finalizersFor(resource: string, metadata: JsonObject, policy: PropagationPolicy | undefined): readonly string[] {
  const finalizers = stringsAt(metadata, "finalizers");
  if (resource === "apiextensions.k8s.io/customresourcedefinitions" && !finalizers.includes(crdCleanupFinalizer)) {
    return [...finalizers, crdCleanupFinalizer];
  }
  const others = policy === undefined ? finalizers : finalizers.filter((name) => name !== "foregroundDeletion" && name !== "orphan");
  switch (policy) {
    case "Foreground":
      return [...others, "foregroundDeletion"];
    case "Orphan":
      return [...others, "orphan"];
    case "Background":
    case undefined:
      return others;
  }
}

import type { JsonObject } from "../json.ts";
import { toServedVersion } from "../kinds/kind.ts";
import { isSelectable, refuseSelector, selectableFieldsOf } from "../kinds/selectable.ts";
import { metadataOf, objectAt } from "../request/json.ts";
import { parseFieldSelector, parseLabelSelector } from "../request/selectors.ts";
import { badRequest, expired, invalid, StatusError, tooLargeResourceVersion } from "../request/status.ts";
import { parseContinueToken, printContinueToken } from "../store/continue-token.ts";
import type { ApiContext, ResourceCall } from "./context.ts";

/** One page of a list: objects in the served version and the list's metadata. */
export interface ListPage {
  readonly items: readonly JsonObject[];
  readonly metadata: JsonObject;
}

/** Decides by labels, fields and name whether an object (served version) belongs to the call. */
export function matcherOf(call: ResourceCall): (object: JsonObject) => boolean {
  const { labelSelector = "", fieldSelector = "" } = call.request.query;
  const byLabel = labelSelector === "" ? undefined : parseLabelSelector(labelSelector);
  const byField =
    fieldSelector === ""
      ? undefined
      : parseFieldSelector(
          fieldSelector,
          (field) => isSelectable(call.kind, field),
          (field) => refuseSelector(call.kind, field),
        );
  return (object) =>
    (call.name === "" || metadataOf(object)["name"] === call.name) &&
    (byLabel === undefined || byLabel(objectAt(metadataOf(object), "labels"))) &&
    (byField === undefined || byField(selectableFieldsOf(call.kind, object)));
}

/** Keys of the call's namespace begin with this; all keys when the list spans namespaces. */
export function keyPrefixOf(call: ResourceCall): string {
  return call.kind.namespaced ? (call.namespace === "" ? "" : `${call.namespace}/`) : "/";
}

/** The revision in a query parameter. @throws 400 */
export function parseResourceVersion(text: string): number {
  if (!/^\d{1,15}$/.test(text)) {
    throw badRequest(`resourceVersion: Invalid value: ${JSON.stringify(text.slice(0, 100))}: must be a non-negative number`);
  }
  return Number(text);
}

/**
 * GET of a collection.
 *
 * @throws 400, 410 when the wanted revision is compacted away, 422 for parameters that do not go together, 504 for a revision of the future
 */
export function listPage(context: ApiContext, call: ResourceCall): ListPage {
  const { query } = call.request;
  const limit = query["limit"] === undefined || query["limit"] === "" ? 0 : Number(query["limit"]);
  if (!Number.isInteger(limit) || limit < 0) {
    throw badRequest(`limit: Invalid value: ${JSON.stringify(query["limit"])}: must be a non-negative number`);
  }
  const { revision, after } = snapshotOf(context, query);
  const matches = matcherOf(call);
  const items: JsonObject[] = [];
  let last = "";
  let remaining = 0;
  const entries = context.state.listAt(call.kind.resource, keyPrefixOf(call), revision);
  for (const entry of entries) {
    if (entry.key <= after) {
      continue;
    }
    const object = toServedVersion(call.kind, call.version, entry.object);
    if (!matches(object)) {
      continue;
    }
    if (limit > 0 && items.length === limit) {
      remaining++;
      continue;
    }
    items.push(object);
    last = entry.key;
  }
  const isFiltered = (query["labelSelector"] ?? "") !== "" || (query["fieldSelector"] ?? "") !== "";
  return {
    items,
    metadata: {
      resourceVersion: String(revision),
      ...(remaining > 0
        ? { continue: printContinueToken({ revision, after: last }), ...(isFiltered ? {} : { remainingItemCount: remaining }) }
        : {}),
    },
  };
}

function snapshotOf(context: ApiContext, query: Readonly<Record<string, string>>): { readonly revision: number; readonly after: string } {
  const { state } = context;
  const wanted = query["resourceVersion"] ?? "";
  const match = query["resourceVersionMatch"] ?? "";
  const token = query["continue"] ?? "";
  if (token !== "") {
    if (wanted !== "" && wanted !== "0") {
      throw badRequest("specifying resource version is not allowed when using continue");
    }
    const { revision, after } = parseContinueToken(token);
    if (revision === -1) {
      return { revision: state.revision, after };
    }
    if (revision < state.compactedRevision) {
      const inconsistent = printContinueToken({ revision: -1, after });
      throw new ContinueExpired(inconsistent);
    }
    return { revision, after };
  }
  if (match !== "" && match !== "Exact" && match !== "NotOlderThan") {
    refuseMatch(`Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`, "FieldValueNotSupported");
  }
  if (match !== "" && wanted === "") {
    refuseMatch("Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided", "FieldValueForbidden");
  }
  if (match === "Exact" && wanted === "0") {
    refuseMatch('Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"', "FieldValueForbidden");
  }
  const revision = wanted === "" ? 0 : parseResourceVersion(wanted);
  if (revision > state.revision) {
    throw tooLargeResourceVersion(revision, state.revision);
  }
  if (match === "Exact" || (match === "" && revision > 0 && (query["limit"] ?? "") !== "" && query["limit"] !== "0")) {
    if (revision < state.compactedRevision) {
      throw expired("The resourceVersion for the provided list is too old.");
    }
    return { revision, after: "" };
  }
  return { revision: state.revision, after: "" };
}

function refuseMatch(message: string, reason: string): never {
  throw invalid("meta.k8s.io", "ListOptions", "", [{ reason, field: "resourceVersionMatch", message }]);
}

/** 410 of a page whose snapshot is gone; carries a token with which the rest can still be read, from the newest state. */
class ContinueExpired extends StatusError {
  readonly #token: string;

  constructor(token: string) {
    super(
      410,
      "Expired",
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    );
    this.#token = token;
  }

  override toStatus(): JsonObject {
    return { ...super.toStatus(), metadata: { continue: this.#token } };
  }
}

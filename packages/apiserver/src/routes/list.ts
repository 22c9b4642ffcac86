import type { JsonObject } from "../json.ts";
import { parseCount } from "../request/parse-count.ts";
import { toServedVersion } from "../kinds/kind.ts";
import { isSelectable, refuseSelector, selectableFieldsOf } from "../kinds/selectable.ts";
import { metadataOf, objectAt } from "../request/json.ts";
import { quoteGo } from "../go-print.ts";
import { parseFieldSelector } from "../request/field-selector.ts";
import { parseLabelSelector } from "../request/label-selector.ts";
import { badRequest, expired, invalid, StatusError, tooLargeResourceVersion } from "../request/status.ts";
import type { StatusCause } from "../request/status.ts";
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
    const shown = quoteGo(text.slice(0, 100));
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: invalid syntax`,
    );
  }
  return Number(text);
}

/** @throws 400 for what is no revision, 504 for one that does not exist yet */
export function refuseFuture(context: ApiContext, wanted: string): void {
  const revision = wanted === "" ? 0 : parseResourceVersion(wanted);
  if (revision > context.state.revision) throw tooLargeResourceVersion(revision, context.state.revision);
}

/** The size of a page; 0 = everything, as for a negative one. @throws 400 */
/**
 * GET of a collection.
 *
 * @throws 400, 410 when the wanted revision is compacted away, 422 for parameters that do not go together, 504 for a revision of the future
 */
export function listPage(context: ApiContext, call: ResourceCall): ListPage {
  const { query } = call.request;
  const limit = parseCount(query["limit"] ?? "");
  parseCount(query["timeoutSeconds"] ?? "");
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
  refuseListOptions(query);
  if (token !== "") {
    const { revision, after } = parseContinueToken(token);
    if (wanted !== "" && wanted !== "0") {
      throw badRequest("specifying resource version is not allowed when using continue");
    }
    if (revision < 0) {
      return { revision: state.revision, after };
    }
    if (revision < state.compactedRevision) {
      const inconsistent = printContinueToken({ revision: -1, after });
      throw new ContinueExpired(inconsistent);
    }
    refuseFuture(context, String(revision));
    return { revision, after };
  }
  refuseFuture(context, wanted);
  const revision = Number(wanted);
  if (match === "Exact" || (match === "" && revision > 0 && (query["limit"] ?? "") !== "" && query["limit"] !== "0")) {
    if (revision < state.compactedRevision) {
      throw expired("The resourceVersion for the provided list is too old.");
    }
    return { revision, after: "" };
  }
  return { revision: state.revision, after: "" };
}

/** @throws 422 for options of a list that do not go together, all of them at once */
function refuseListOptions(query: Readonly<Record<string, string>>): void {
  const match = query["resourceVersionMatch"] ?? "";
  const wanted = query["resourceVersion"] ?? "";
  const causes: StatusCause[] = [];
  const forbid = (field: string, why: string): void => {
    causes.push({ reason: "FieldValueForbidden", field, message: `Forbidden: ${why}` });
  };
  if (match !== "") {
    const field = "resourceVersionMatch";
    if (wanted === "") forbid(field, "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if ((query["continue"] ?? "") !== "") forbid(field, "resourceVersionMatch is forbidden when continue is provided");
    if (match !== "Exact" && match !== "NotOlderThan") {
      const message = `Unsupported value: ${quoteGo(match)}: supported values: "Exact", "NotOlderThan", ""`;
      causes.push({ reason: "FieldValueNotSupported", field, message });
    }
    if (match === "Exact" && wanted === "0") forbid(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (query["sendInitialEvents"] !== undefined) forbid("sendInitialEvents", "sendInitialEvents is forbidden for list");
  if (causes.length > 0) throw invalid("meta.k8s.io", "ListOptions", "", causes);
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

import type { TokenSpec } from "../auth/service-account-tokens.ts";
import { serverAudience } from "../auth/tokens.ts";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { keyOf } from "../kinds/kind.ts";
import { metadataOf, objectAt, stringAt, stringsAt } from "../request/json.ts";
import { badRequest, invalid, notFound, StatusError } from "../request/status.ts";
import type { ApiContext, ResourceCall } from "./context.ts";
import { createUid, timestampOf } from "./context.ts";
import { parseWriteOptions } from "./options.ts";
import { readLive } from "./resource-routes.ts";

const shortestSeconds = 600;
const longestSeconds = 2 ** 32;

/**
 * POST of `/serviceaccounts/<name>/token`: a token for the account.
 *
 * @throws 404 for an account or bound object that is not there, 409 for a bound object that is another by now, 422 for a time out of range
 */
export function tokenRequestRoute(context: ApiContext, call: ResourceCall): JsonObject {
  const { body } = call.request;
  if (!isObject(body) || body["kind"] !== "TokenRequest") {
    throw badRequest("the request body must hold one TokenRequest of authentication.k8s.io/v1");
  }
  const options = parseWriteOptions(call.request, "CreateOptions");
  const account = metadataOf(readLive(context, { ...call, subresource: "" }));
  const spec = objectAt(body, "spec");
  const asked = stringsAt(spec, "audiences");
  const audiences = asked.length === 0 ? [serverAudience] : asked;
  const lifetimeSeconds = typeof spec["expirationSeconds"] === "number" ? spec["expirationSeconds"] : 3600;
  if (lifetimeSeconds < shortestSeconds || lifetimeSeconds > longestSeconds) {
    const why =
      lifetimeSeconds < shortestSeconds
        ? "may not specify a duration less than 10 minutes"
        : "may not specify a duration larger than 2^32 seconds";
    throw invalid("authentication.k8s.io", "TokenRequest", "", [
      { reason: "FieldValueInvalid", field: "spec.expirationSeconds", message: `Invalid value: ${lifetimeSeconds}: ${why}` },
    ]);
  }
  const reference = isObject(spec["boundObjectRef"]) ? spec["boundObjectRef"] : undefined;
  const bound = reference === undefined ? undefined : findBound(context, call, reference);
  const tokenSpec: TokenSpec = {
    namespace: call.namespace,
    name: call.name,
    uid: String(account["uid"]),
    audiences,
    lifetimeSeconds,
    ...(bound === undefined ? {} : { bound }),
  };
  const { token, expiresAt } = options.dryRun
    ? { token: "", expiresAt: context.clock.now() + lifetimeSeconds * 1000 }
    : context.accountTokens.issue(tokenSpec, createUid(context.random));
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name: call.name, namespace: call.namespace, uid: account["uid"], creationTimestamp: timestampOf(context.clock.now()) },
    spec: { audiences, expirationSeconds: lifetimeSeconds, boundObjectRef: reference ?? null },
    status: { token, expirationTimestamp: timestampOf(expiresAt) },
  };
}

const boundPlurals = { Pod: "pods", Secret: "secrets", Node: "nodes" } as const;

function findBound(context: ApiContext, call: ResourceCall, reference: JsonObject): NonNullable<TokenSpec["bound"]> {
  const kind = stringAt(reference, "kind") ?? "";
  if (kind !== "Pod" && kind !== "Secret" && kind !== "Node") {
    throw badRequest(`cannot bind token to object of type ${kind}`);
  }
  const name = stringAt(reference, "name") ?? "";
  const plural = boundPlurals[kind];
  const entry = context.state.get(`/${plural}`, keyOf(kind === "Node" ? "" : call.namespace, name));
  if (entry === undefined) throw notFound({ group: "", plural }, name);
  const uid = String(metadataOf(entry.object)["uid"]);
  const wanted = stringAt(reference, "uid") ?? "";
  if (wanted !== "" && wanted !== uid) {
    throw new StatusError(
      409,
      "Conflict",
      `Operation cannot be fulfilled on ${kind} "${name}": the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`,
      { name, kind },
    );
  }
  if (kind === "Pod" && stringAt(objectAt(entry.object, "spec"), "serviceAccountName") !== call.name) {
    throw badRequest(`cannot bind token for serviceaccount "${call.name}" to pod running with different serviceaccount name.`);
  }
  return { kind, name, uid };
}

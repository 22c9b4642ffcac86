import type { JsonObject } from "../../json.ts";
import { toServedVersion } from "../../kinds/kind.ts";
import { metadataOf, stringAt } from "../../request/json.ts";
import type { ApiContext, ResourceCall } from "../../routes/context.ts";
import { toScale } from "../../routes/scale.ts";
import type { AdmissionRequest } from "./match.ts";

/** A write as it would be stored. */
export interface Admitted {
  readonly operation: AdmissionRequest["operation"];
  /** In the served version; `undefined` when something is deleted. */
  readonly object: JsonObject | undefined;
  /** In the served version; `undefined` when something is created. */
  readonly live: JsonObject | undefined;
  readonly dryRun: boolean;
}

/**
 * Asks the policies in the store about a write that passed every other check.
 *
 * @throws 401, 403, 413 or 422 when one denies it
 */
export function admitByPolicy(context: ApiContext, call: ResourceCall, { operation, object, live, dryRun }: Admitted): void {
  const { kind, version, request } = call;
  if (!kind.persistent) return;
  // Those who write to `/scale` write a Scale.
  const shown = (whole: JsonObject | undefined): JsonObject | undefined =>
    whole !== undefined && call.subresource === "scale" ? toScale(call, whole) : whole;
  context.policies.admit(
    {
      operation,
      group: kind.group,
      version: version.version,
      kind: version.names.kind,
      plural: kind.plural,
      subresource: call.subresource,
      isNamespaced: kind.namespaced,
      namespace: kind.namespaced ? call.namespace : kind.resource === "/namespaces" ? nameOf(object ?? live) : "",
      name: nameOf(object ?? live) || call.name,
      object: shown(object),
      oldObject: shown(live),
    },
    { user: request.user, dryRun, warnings: call.warnings },
  );
}

/** Asks about a deletion; `stored` is what would go. */
export function admitDeletion(context: ApiContext, call: ResourceCall, stored: JsonObject, dryRun: boolean): void {
  const live = toServedVersion(call.kind, call.version, stored);
  admitByPolicy(context, { ...call, subresource: "" }, { operation: "DELETE", object: undefined, live, dryRun });
}

function nameOf(object: JsonObject | undefined): string {
  return stringAt(metadataOf(object ?? {}), "name") ?? "";
}

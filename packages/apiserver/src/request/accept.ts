import { notAcceptable } from "./status.ts";

/** The form in which an answer is wanted. */
export type AnswerForm =
  | { readonly kind: "plain" }
  | { readonly kind: "table"; readonly version: "v1" | "v1beta1" }
  | { readonly kind: "metadata"; readonly version: "v1" | "v1beta1" }
  | { readonly kind: "aggregated"; readonly version: "v2" | "v2beta1" };

/**
 * Chooses from an Accept header. We speak JSON only: clients that prefer protobuf name JSON as their second choice.
 *
 * @param isDiscovery aggregated discovery is offered, Tables are not
 * @throws 406 when nothing in the header can be served
 */
export function chooseForm(accept: string | undefined, isDiscovery = false): AnswerForm {
  if (accept === undefined || accept.trim() === "") {
    return { kind: "plain" };
  }
  for (const candidate of accept.split(",")) {
    const [type = "", ...parameters] = candidate.split(";").map((part) => part.trim());
    if (type !== "application/json" && type !== "*/*" && type !== "application/*" && type !== "text/plain") {
      continue;
    }
    const given = new Map(parameters.map((parameter) => parameter.split("=", 2) as [string, string]));
    const as = given.get("as");
    if (as === undefined) {
      return { kind: "plain" };
    }
    const form = isDiscovery ? aggregatedForm(as, given) : partialForm(as, given);
    if (form !== undefined) {
      return form;
    }
  }
  throw notAcceptable(["application/json", "application/json;stream=watch"]);
}

function partialForm(as: string, given: ReadonlyMap<string, string>): AnswerForm | undefined {
  const version = given.get("v") ?? "v1";
  if (given.get("g") !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) {
    return undefined;
  }
  if (as === "Table") {
    return { kind: "table", version };
  }
  return as === "PartialObjectMetadata" || as === "PartialObjectMetadataList" ? { kind: "metadata", version } : undefined;
}

function aggregatedForm(as: string, given: ReadonlyMap<string, string>): AnswerForm | undefined {
  const version = given.get("v");
  const isKnown = as === "APIGroupDiscoveryList" && given.get("g") === "apidiscovery.k8s.io";
  return isKnown && (version === "v2" || version === "v2beta1") ? { kind: "aggregated", version } : undefined;
}

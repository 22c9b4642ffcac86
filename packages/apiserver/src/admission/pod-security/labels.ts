import type { JsonObject } from "../../json.ts";
import { metadataOf, objectAt, stringAt } from "../../request/json.ts";
import { invalidValue } from "../../kinds/rule-errors.ts";
import type { FieldError } from "../../schema/index.ts";
import { securityLevels } from "./profiles.ts";
import type { SecurityLevel, SecurityPolicy } from "./profiles.ts";

const enforce = "pod-security.kubernetes.io/enforce";
const enforceVersion = "pod-security.kubernetes.io/enforce-version";

/** A version `v1.x` whose x is no number that a computer counts with says nothing. */
const largestMinor = 2 ** 63;

function minorOf(version: string | undefined): number | "latest" | undefined {
  if (version === "latest") return "latest";
  const minor = Number(/^v1\.(0|[1-9]\d*)$/.exec(version ?? "")?.[1] ?? Number.NaN);
  return minor < largestMinor ? minor : undefined;
}

function isLevel(text: string | undefined): text is SecurityLevel {
  return securityLevels.some((level) => level === text);
}

/** What a namespace enforces. Words that nobody knows, which only the status subresource lets in, are taken for the strictest. */
export function enforcedPolicy(namespace: JsonObject): SecurityPolicy {
  const labels = objectAt(metadataOf(namespace), "labels");
  const level = stringAt(labels, enforce);
  return {
    level: level === undefined ? "privileged" : isLevel(level) ? level : "restricted",
    minor: minorOf(stringAt(labels, enforceVersion)) ?? "latest",
  };
}

/** What is wrong with the labels of a namespace; what they say of `audit` and `warn` is kept and does nothing. */
export function refusePolicyLabels(namespace: JsonObject): readonly FieldError[] {
  const labels = objectAt(metadataOf(namespace), "labels");
  const [level, version] = [stringAt(labels, enforce), stringAt(labels, enforceVersion)];
  return [
    ...(level === undefined || isLevel(level)
      ? []
      : [invalidValue(`metadata.labels[${enforce}]`, level, `must be one of ${securityLevels.join(", ")}`)]),
    ...(version === undefined || minorOf(version) !== undefined
      ? []
      : [invalidValue(`metadata.labels[${enforceVersion}]`, version, 'must be "latest" or "v1.x"')]),
  ];
}

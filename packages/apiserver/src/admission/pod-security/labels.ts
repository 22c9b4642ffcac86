import type { JsonObject } from "../../json.ts";
import { metadataOf, objectAt, stringAt } from "../../request/json.ts";
import { invalidValue } from "../../kinds/rule-errors.ts";
import type { FieldError } from "../../schema/index.ts";
import { securityLevels } from "./profiles.ts";
import type { SecurityLevel, SecurityPolicy } from "./profiles.ts";

const prefix = "pod-security.kubernetes.io/";

/** What a namespace says of its pods. `audit` is valid or not; there is no audit log that it could change. */
export interface NamespacePolicies {
  readonly enforce: SecurityPolicy;
  readonly warn: SecurityPolicy;
}

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

/** What its labels say. Words that nobody knows, which only the status subresource lets in, are taken for the strictest where something would be refused. */
export function policiesOf(namespace: JsonObject): NamespacePolicies {
  const labels = objectAt(metadataOf(namespace), "labels");
  const says = (name: string): string | undefined => stringAt(labels, `${prefix}${name}`);
  const [level, warned] = [says("enforce"), says("warn")];
  const enforce: SecurityPolicy = {
    level: level === undefined ? "privileged" : isLevel(level) ? level : "restricted",
    minor: minorOf(says("enforce-version")) ?? "latest",
  };
  // Who enforces something is warned of it, too, in templates for example: unless the namespace says otherwise.
  const follows = warned === undefined && level !== undefined;
  const version = says("warn-version");
  return {
    enforce,
    warn: {
      level: follows ? enforce.level : isLevel(warned) ? warned : "privileged",
      minor: version === undefined && follows ? enforce.minor : (minorOf(version) ?? "latest"),
    },
  };
}

/** What is wrong with the labels of a namespace. */
export function refusePolicyLabels(namespace: JsonObject): readonly FieldError[] {
  const labels = objectAt(metadataOf(namespace), "labels");
  return ["enforce", "audit", "warn"].flatMap((mode) => {
    const [level, version] = [stringAt(labels, `${prefix}${mode}`), stringAt(labels, `${prefix}${mode}-version`)];
    const at = (name: string): string => `metadata.labels[${prefix}${name}]`;
    return [
      ...(level === undefined || isLevel(level) ? [] : [invalidValue(at(mode), level, `must be one of ${securityLevels.join(", ")}`)]),
      ...(version === undefined || minorOf(version) !== undefined
        ? []
        : [invalidValue(at(`${mode}-version`), version, 'must be "latest" or "v1.x"')]),
    ];
  });
}

import { isObject } from "../json.ts";
import { printAge } from "./age.ts";
import { age, name, none } from "./cell-texts.ts";
import type { CellWriter } from "./cell-texts.ts";
import { at, listAt, textAt } from "./read-fields.ts";

const isTrue = (value: unknown): boolean => value === true;

function quotaTexts(quota: unknown): readonly [requests: string, limits: string] {
  const hard = at(quota, "status", "hard");
  const names = Object.keys(isObject(hard) ? hard : {}).sort();
  const text = (resource: string): string =>
    `${resource}: ${textAt("0", quota, "status", "used", resource)}/${textAt("0", quota, "status", "hard", resource)}`;
  const isLimit = (resource: string): boolean => resource.startsWith("limits.");
  return [
    names
      .filter((resource) => !isLimit(resource))
      .map(text)
      .join(", "),
    names.filter(isLimit).map(text).join(", "),
  ];
}

function requestState(request: unknown): string {
  const has = (type: string): boolean => listAt(request, "status", "conditions").some((condition) => at(condition, "type") === type);
  const decided = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  return `${decided}${has("Failed") ? ",Failed" : ""}${textAt("", request, "status", "certificate") === "" ? "" : ",Issued"}`;
}

function requestedDuration(request: unknown): string {
  const seconds = at(request, "spec", "expirationSeconds");
  return typeof seconds === "number" ? printAge(seconds) : none;
}

function audiences(driver: unknown): string {
  const tokens = at(driver, "spec", "tokenRequests");
  return Array.isArray(tokens) ? tokens.map((token) => textAt("", token, "audience")).join(",") : "<unset>";
}

const createdAt: CellWriter = (object) => [name(object), textAt("", object, "metadata", "creationTimestamp")];

/** Cells of quotas, limits, certificate requests and what storage drivers keep. */
export const storageCells: Readonly<Record<string, CellWriter>> = {
  ResourceQuota: (o, now) => [name(o), ...quotaTexts(o), age(o, now)],
  LimitRange: createdAt,
  CSIStorageCapacity: createdAt,
  CertificateSigningRequest: (o, now) => [
    name(o),
    age(o, now),
    textAt(none, o, "spec", "signerName"),
    textAt("", o, "spec", "username"),
    requestedDuration(o),
    requestState(o),
  ],
  CSIDriver: (o, now) => [
    name(o),
    at(o, "spec", "attachRequired") !== false,
    isTrue(at(o, "spec", "podInfoOnMount")),
    isTrue(at(o, "spec", "storageCapacity")),
    audiences(o),
    isTrue(at(o, "spec", "requiresRepublish")),
    listAt(o, "spec", "volumeLifecycleModes").map(String).join(",") || none,
    age(o, now),
  ],
  CSINode: (o, now) => [name(o), listAt(o, "spec", "drivers").length, age(o, now)],
  VolumeAttachment: (o, now) => [
    name(o),
    textAt("", o, "spec", "attacher"),
    textAt("", o, "spec", "source", "persistentVolumeName"),
    textAt("", o, "spec", "nodeName"),
    isTrue(at(o, "status", "attached")),
    age(o, now),
  ],
  VolumeAttributesClass: (o, now) => [name(o), textAt("", o, "driverName"), age(o, now)],
};

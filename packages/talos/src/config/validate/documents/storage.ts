import type { ConfigMap } from "../../document/value.ts";
import { parseBytes } from "../../scalars/bytes.ts";
import { whyNotExpression } from "../cel/check.ts";
import { integerAt, isThere, textAt } from "../access.ts";
import type { Report } from "../report.ts";
import type { DocumentRule } from "./rule.ts";

const longestName = 63;
/** Names of arrays are written into their metadata. */
const longestArrayName = 32;

function checkName(members: ConfigMap, report: Report, longest = longestName): void {
  const name = textAt(members, "name");
  const length = Buffer.byteLength(name);
  report.errorIf(name === "", "name is required");
  report.errorIf(length < 1 || length > longest, `name must be between 1 and ${longest} characters long`);
  report.errorIf(/[^a-zA-Z0-9_-]/.test(name), "name can only contain ASCII letters, digits, hyphens and underscores");
}

function checkSelector(members: ConfigMap, report: Report): void {
  const match = textAt(members, "provisioning", "volumeSelector", "match");
  const refusal = match === "" ? "is required" : whyNotExpression(match, "volume", "bool");
  if (refusal !== undefined) report.error(`provisioning.volumeSelector.match${match === "" ? " " : ": "}${refusal}`);
}

const volumeGroup: DocumentRule = (members, report) => {
  checkName(members, report);
  checkSelector(members, report);
};

const array: DocumentRule = (members, report) => {
  checkName(members, report, longestArrayName);
  checkSelector(members, report);
};

const logicalVolume: DocumentRule = (members, report) => {
  checkName(members, report);
  const type = textAt(members, "type") || "linear";
  if (isThere(members, "mirrors")) {
    if (type !== "raid1" && type !== "raid10") report.error(`mirrors is only valid for raid1/raid10, not ${type}`);
    else report.errorIf(integerAt(members, "mirrors") < 1n, "mirrors must be at least 1");
  }
  if (isThere(members, "stripes")) {
    if (type !== "raid0" && type !== "raid10") report.error(`stripes is only valid for raid0/raid10, not ${type}`);
    else report.errorIf(integerAt(members, "stripes") < 2n, "stripes must be at least 2");
  }
  report.errorIf(textAt(members, "provisioning", "volumeGroup") === "", "provisioning.volumeGroup is required");
  const most = textAt(members, "provisioning", "maxSize");
  const least = textAt(members, "provisioning", "minSize");
  report.errorIf(most === "", "provisioning.maxSize is required");
  report.errorIf(most.startsWith("-"), "provisioning.maxSize must not be negative");
  report.errorIf(
    least !== "" && !most.endsWith("%") && bytesOf(least) > bytesOf(most),
    "provisioning.minSize must not exceed provisioning.maxSize",
  );
};

function bytesOf(text: string): number {
  const parsed = text === "" ? undefined : parseBytes(text.replace(/^-/, ""));
  return parsed !== undefined && "bytes" in parsed ? parsed.bytes : 0;
}

/** LVM and RAID. */
export const storageRules: Readonly<Record<string, DocumentRule>> = {
  LVMLogicalVolumeConfig: logicalVolume,
  LVMVolumeGroupConfig: volumeGroup,
  RAIDArrayConfig: array,
};

import type { ConfigMap } from "../../document/value.ts";
import { parseBytes } from "../../scalars/bytes.ts";
import { formatDuration, tryParseDuration } from "../../scalars/duration.ts";
import { whyNotExpression } from "../cel/check.ts";
import { integerAt, isOn, isThere, listAt, mapAt, mapsAt, textAt } from "../access.ts";
import type { Report } from "../report.ts";
import type { RuleSet } from "../rule-set.ts";
import { quoted, quotedList } from "../text/quote.ts";
import type { DocumentRule } from "./rule.ts";

/** A partition label has 36 characters, two of which say what the volume is. */
const longestName = 34;
const systemVolumes = ["STATE", "EPHEMERAL", "IMAGECACHE"];
/** Volumes that are directories unless they are provisioned; since 1.14. */
const promotableVolumes = ["ETCD", "CRI", "KUBELET", "LOG"];
const shortestScrubNanoseconds = 10_000_000_000n;

function checkName(members: ConfigMap, report: Report, isBounded = true): void {
  const name = textAt(members, "name");
  const length = Buffer.byteLength(name);
  report.errorIf(name === "", "name is required");
  report.errorIf(isBounded && (length < 1 || length > longestName), `name must be between 1 and ${longestName} characters long`);
  report.errorIf(/[^a-zA-Z0-9-]/.test(name), "name can only contain lowercase and uppercase ASCII letters, digits, and hyphens");
}

/** A size that may be negative or a share of the disk; `undefined` where none is given. */
interface Size {
  readonly bytes: number;
  readonly isNegative: boolean;
  readonly isShare: boolean;
}

function sizeAt(members: ConfigMap | undefined, field: string): Size | undefined {
  const text = textAt(members, field);
  if (text === "") return undefined;
  const parsed = parseBytes(text.replace(/^-/, ""));
  return { bytes: "bytes" in parsed ? parsed.bytes : 0, isNegative: text.startsWith("-"), isShare: text.endsWith("%") };
}

function checkProvisioning(members: ConfigMap, isRequired: boolean, hasSize: boolean, report: Report): void {
  const provisioning = mapAt(members, "provisioning");
  const match = textAt(provisioning, "diskSelector", "match");
  if (match === "") {
    report.errorIf(isRequired, "disk selector is required");
  } else {
    const refusal = whyNotExpression(match, "disk", "bool");
    if (refusal !== undefined) report.error(`disk selector is invalid: ${refusal}`);
  }
  const least = sizeAt(provisioning, "minSize");
  const most = sizeAt(provisioning, "maxSize");
  if (!hasSize) {
    const isSized = least !== undefined || most !== undefined || isThere(provisioning, "grow");
    report.errorIf(isSized, "min size, max size and grow are not supported");
    return;
  }
  if (least !== undefined && most !== undefined && !most.isShare && !most.isNegative)
    report.errorIf(least.bytes > most.bytes, "min size is greater than max size");
  else report.errorIf(isRequired && least === undefined && most === undefined, "min size or max size is required");
  report.errorIf(least?.isNegative === true, "min size cannot be negative");
}

function hasProvisioning(members: ConfigMap): boolean {
  const provisioning = mapAt(members, "provisioning");
  return (
    ["grow", "minSize", "maxSize"].some((field) => isThere(provisioning, field) && textAt(provisioning, field) !== "") ||
    isThere(provisioning, "grow") ||
    textAt(provisioning, "diskSelector", "match") !== ""
  );
}

function hasEncryption(members: ConfigMap): boolean {
  return !["", "none"].includes(textAt(members, "encryption", "provider")) || listAt(members, "encryption", "keys").length > 0;
}

function checkEncryption(members: ConfigMap, report: Report): void {
  if (!hasEncryption(members)) return;
  const provider = textAt(members, "encryption", "provider") || "none";
  report.errorIf(provider !== "luks2", `unsupported encryption provider: ${provider}`);
  const keys = mapsAt(members, "encryption", "keys");
  report.errorIf(keys.length === 0, "encryption keys are required");
  const slots = new Set<bigint>();
  for (const key of keys) {
    const slot = integerAt(key, "slot");
    report.errorIf(slots.has(slot), `duplicate key slot ${slot}`);
    slots.add(slot);
    report.errorIf(
      !["static", "nodeID", "kms", "tpm"].some((kind) => isThere(key, kind)),
      `at least one encryption key type must be specified for slot ${slot}`,
    );
    for (const register of listAt(key, "tpm", "options", "pcrs")) {
      const number = typeof register === "bigint" ? register : 0n;
      report.errorIf(number < 0n || number > 23n, `TPM PCR ${number} is out of range (0-23)`);
    }
  }
}

function checkSchedules(members: ConfigMap, { generation }: RuleSet, report: Report): void {
  if (generation === "1.13") return;
  report.errorIf((tryParseDuration(textAt(members, "trim", "interval")) ?? 0n) < 0n, "trim interval cannot be negative");
  const scrub = tryParseDuration(textAt(members, "scrub", "interval")) ?? 0n;
  report.errorIf(
    scrub !== 0n && scrub < shortestScrubNanoseconds,
    `scrub interval: minimum value is ${formatDuration(shortestScrubNanoseconds)}`,
  );
}

function checkFilesystem(members: ConfigMap, { generation }: RuleSet, report: Report): void {
  const type = textAt(members, "filesystem", "type") || "none";
  const known = ["none", "xfs", "ext4", ...(generation === "1.13" ? [] : ["btrfs"])];
  if (!known.includes(type)) return report.error(`unsupported filesystem type: ${type}`);
  const isXfs = type === "none" || type === "xfs";
  if (isOn(members, "filesystem", "projectQuotaSupport") && !isXfs) {
    report.error("project quota support is only available for xfs filesystem");
  } else {
    report.errorIf(isThere(members, "filesystem", "xfs") && !isXfs, "xfs options are only available for xfs filesystem");
  }
}

/** Since 1.14 a directory may be mounted insecurely. */
function checkDirectoryMount(members: ConfigMap, { generation }: RuleSet, report: Report): void {
  const keepsTimes = isThere(members, "mount", "disableAccessTime");
  if (generation === "1.14") report.errorIf(keepsTimes, "mount.disableAccessTime is invalid for volumeType directory");
  else report.errorIf(keepsTimes || isThere(members, "mount", "secure"), "mount spec is invalid for volumeType directory");
}

const userVolume: DocumentRule = (members, report, rules) => {
  checkName(members, report);
  const type = textAt(members, "volumeType") || "partition";
  switch (type) {
    case "directory": {
      const parts: readonly (readonly [string, boolean])[] = [
        ["provisioning", hasProvisioning(members)],
        ["encryption", hasEncryption(members)],
        [
          "filesystem",
          !["", "none"].includes(textAt(members, "filesystem", "type")) || isThere(members, "filesystem", "projectQuotaSupport"),
        ],
      ];
      for (const [part, isSet] of parts) report.errorIf(isSet, `${part} spec is invalid for volumeType directory`);
      checkDirectoryMount(members, rules, report);
      break;
    }
    case "disk":
    case "partition":
      checkProvisioning(members, true, type === "partition", report);
      checkFilesystem(members, rules, report);
      checkEncryption(members, report);
      break;
    default:
      report.error(`unsupported volume type ${quoted(type)}`);
  }
  checkSchedules(members, rules, report);
};

const partitionVolume: DocumentRule = (members, report) => {
  checkName(members, report);
  checkProvisioning(members, true, true, report);
  checkEncryption(members, report);
};

const existingVolume: DocumentRule = (members, report, rules) => {
  checkName(members, report, false);
  const match = textAt(members, "discovery", "volumeSelector", "match");
  const refusal = match === "" ? undefined : whyNotExpression(match, "volume", "bool");
  if (match === "") report.error("volume selector is required");
  if (refusal !== undefined) report.error(`volume selector is invalid: ${refusal}`);
  checkSchedules(members, rules, report);
};

const externalVolume: DocumentRule = (members, report) => {
  checkName(members, report);
  const type = textAt(members, "filesystemType") || "none";
  if (type !== "virtiofs") return report.error(`invalid filesystem type: ${type}`);
  const virtiofs = mapAt(members, "mount", "virtiofs");
  if (virtiofs === undefined) report.error("virtiofs mount spec is required");
  else report.errorIf(textAt(virtiofs, "tag") === "", "virtiofs tag is required");
};

const systemVolume: DocumentRule = (members, report, rules) => {
  const name = textAt(members, "name");
  const known = [...systemVolumes, ...(rules.generation === "1.13" ? [] : promotableVolumes)];
  if (!known.includes(name)) return report.error(`only ${quotedList(known)} volumes are supported`);
  if (name === "STATE") {
    report.errorIf(hasProvisioning(members), `provisioning config is not allowed for the "STATE" volume`);
    for (const key of mapsAt(members, "encryption", "keys")) {
      report.errorIf(isOn(key, "lockToState"), `state-locked key is not allowed for the "STATE" volume`);
    }
  }
  if (rules.generation === "1.14") checkMount(name, members, report);
  checkProvisioning(members, false, true, report);
  checkEncryption(members, report);
  checkSchedules(members, rules, report);
};

function checkMount(name: string, members: ConfigMap, report: Report): void {
  const isMounted = isThere(members, "mount", "secure") || isThere(members, "mount", "disableAccessTime");
  if (name === "STATE" || name === "IMAGECACHE") {
    report.errorIf(isMounted, `mount config is not allowed for the "${name}" volume`);
  }
  if (name === "IMAGECACHE") {
    report.errorIf(
      textAt(members, "filesystem", "xfs", "minAllocationGroupSize") !== "",
      `filesystem config is not allowed for the "${name}" volume`,
    );
  }
  if (promotableVolumes.includes(name)) {
    report.errorIf(
      isMounted && !hasProvisioning(members),
      `mount config for the "${name}" volume is only supported when it is provisioned onto a dedicated partition`,
    );
  }
}

const zswap: DocumentRule = (members, report) => {
  const percent = integerAt(members, "maxPoolPercent");
  report.errorIf(percent < 0n || percent > 100n, "maxPoolPercent must be between 0 and 100");
};

const trimSchedule: DocumentRule = (members, report) =>
  report.errorIf((tryParseDuration(textAt(members, "interval")) ?? 0n) < 0n, "interval cannot be negative");

const scrubSchedule: DocumentRule = (members, report) => {
  const interval = tryParseDuration(textAt(members, "interval")) ?? 0n;
  report.errorIf(
    interval !== 0n && interval < shortestScrubNanoseconds,
    `scrub interval: minimum value is ${formatDuration(shortestScrubNanoseconds)}`,
  );
};

/** Volumes and what is done to their file systems. */
export const volumeRules: Readonly<Record<string, DocumentRule>> = {
  ExistingVolumeConfig: existingVolume,
  ExternalVolumeConfig: externalVolume,
  FilesystemScrubConfig: scrubSchedule,
  FilesystemTrimConfig: trimSchedule,
  RawVolumeConfig: partitionVolume,
  SwapVolumeConfig: partitionVolume,
  UserVolumeConfig: userVolume,
  VolumeConfig: systemVolume,
  ZswapConfig: zswap,
};

import { tryParseDuration } from "../../scalars/duration.ts";
import { whyNotExpression } from "../cel/check.ts";
import { mapAt, mapsAt, listAt, textAt } from "../access.ts";
import { sortedByBytes } from "../../yaml/key-order.ts";
import { splitHostPort } from "../text/address.ts";
import { quoted } from "../text/quote.ts";
import { parseUrl, portOf } from "../text/url.ts";
import type { DocumentRule } from "./rule.ts";

const shortestWatchdogNanoseconds = 10_000_000_000n;

const environment: DocumentRule = (members, report) => {
  for (const name of sortedByBytes(mapAt(members, "variables") ?? new Map()).keys()) {
    report.errorIf(!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name), `invalid environment variable name: ${quoted(name)}`);
  }
};

const eventSink: DocumentRule = (members, report) => {
  const parts = splitHostPort(textAt(members, "endpoint"));
  if ("refusal" in parts) report.error(`event sink endpoint: ${parts.refusal}`);
};

const kmsgLog: DocumentRule = (members, report) => {
  if (textAt(members, "name") === "") return report.error("name is required");
  const parsed = textAt(members, "url") === "" ? undefined : parseUrl(textAt(members, "url"));
  if (parsed === undefined || "refusal" in parsed) return report.error("url is required");
  if (!["tcp", "udp"].includes(parsed.url.scheme)) return report.error("url scheme must be tcp:// or udp://");
  if (!["", "/"].includes(parsed.url.path)) return report.error("url path must be empty");
  report.errorIf(portOf(parsed.url) === "", "url port is required");
};

const sideroLink: DocumentRule = (members, report) => {
  const parsed = textAt(members, "apiUrl") === "" ? undefined : parseUrl(textAt(members, "apiUrl"));
  if (parsed === undefined || "refusal" in parsed) return report.error("apiUrl is required");
  if (!["https", "grpc"].includes(parsed.url.scheme)) return report.error("apiUrl scheme must be https:// or grpc://");
  report.errorIf(!["", "/"].includes(parsed.url.path), "apiUrl path must be empty");
};

const outOfMemory: DocumentRule = (members, report) => {
  for (const [field, title, type] of [
    ["triggerExpression", "OOM trigger expression", "bool"],
    ["cgroupRankingExpression", "OOM cgroup scoring expression", "double"],
  ] as const) {
    const expression = textAt(members, field);
    const refusal = expression === "" ? undefined : whyNotExpression(expression, field, type);
    if (refusal !== undefined) report.error(`${title} is invalid: ${refusal}`);
  }
  report.errorIf((tryParseDuration(textAt(members, "sampleInterval")) ?? 0n) < 0n, "OOM sample interval must be longer than 0");
};

const watchdog: DocumentRule = (members, report) => {
  if (textAt(members, "device") === "") return report.error("watchdog device: empty value");
  const timeout = tryParseDuration(textAt(members, "timeout")) ?? 0n;
  report.errorIf(timeout !== 0n && timeout < shortestWatchdogNanoseconds, "watchdog timeout: minimum value is 10s");
};

const extensionService: DocumentRule = (members, report) => {
  const name = textAt(members, "name");
  if (name === "") return report.error("name is required");
  const files = mapsAt(members, "configFiles");
  if (files.length === 0 && listAt(members, "environment").length === 0)
    return report.error(`no config files found for extension ${quoted(name)}`);
  for (const file of files) {
    if (textAt(file, "content") === "") return report.error(`extension content is required for extension ${quoted(name)}`);
    if (textAt(file, "mountPath") === "") return report.error(`extension mount path is required for extension ${quoted(name)}`);
  }
};

function parameters(kind: "sysctl" | "sysfs"): DocumentRule {
  return (members, report) => report.errorIf(mapAt(members, "params")?.has("") === true, `${kind} key cannot be empty`);
}

/** Files and folders of /etc that Talos writes itself. */
const ownFiles = ["resolv.conf", "hosts", "machine-id", "extensions.yaml", "localtime", "os-release", "xattr.conf"];
const ownFolders = [
  "apparmor.d",
  "apparmor",
  "ca-certificates",
  "cni",
  "cri",
  "iscsi",
  "kubernetes",
  "lvm",
  "nvme",
  "pki",
  "selinux",
  "ssl",
];

const etcFile: DocumentRule = (members, report) => {
  const name = textAt(members, "name");
  if (name === "") return report.error("user etc file name cannot be empty");
  if (!isLocalPath(name) || name.startsWith(".")) return report.error(`user etc file ${quoted(name)} must be a local path`);
  report.errorIf(
    ownFiles.includes(name) || ownFolders.some((folder) => name === folder || name.startsWith(`${folder}/`)),
    `user etc file ${quoted(name)} is managed by Talos`,
  );
};

/** A path that never leaves the folder it starts in. */
function isLocalPath(path: string): boolean {
  let depth = 0;
  for (const step of path.split("/")) {
    if (step === "..") depth--;
    else if (step !== "" && step !== ".") depth++;
    if (depth < 0) return false;
  }
  return !path.startsWith("/");
}

const unattendedInstall: DocumentRule = (members, report) => {
  if (textAt(members, "installer", "image") === "") {
    report.warning("installer.image is not set, if Talos is not booted from asset built by Image Factory, installation will fail");
  }
  const match = textAt(members, "provisioning", "diskSelector", "match");
  const refusal = match === "" ? undefined : whyNotExpression(match, "disk", "bool");
  if (match === "") report.error("provisioning.diskSelector.match is required");
  if (refusal !== undefined) report.error(`provisioning.diskSelector.match: ${refusal}`);
};

/** The machine itself: kernel, logs, services, files, install. */
export const runtimeRules: Readonly<Record<string, DocumentRule>> = {
  EnvironmentConfig: environment,
  EtcFileConfig: etcFile,
  EventSinkConfig: eventSink,
  ExtensionServiceConfig: extensionService,
  KernelModuleConfig: (members, report) => report.errorIf(textAt(members, "name") === "", "name is required"),
  KmsgLogConfig: kmsgLog,
  OOMConfig: outOfMemory,
  SideroLinkConfig: sideroLink,
  SysctlConfig: parameters("sysctl"),
  SysfsConfig: parameters("sysfs"),
  UnattendedInstallConfig: unattendedInstall,
  WatchdogTimerConfig: watchdog,
};

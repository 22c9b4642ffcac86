import type { ConfigMap } from "../../document/value.ts";
import { parseBytes } from "../../scalars/bytes.ts";
import { integerAt, isThere, mapAt, mapsAt, textAt, textsAt } from "../access.ts";
import type { Report } from "../report.ts";
import { isImageReference } from "../text/image-reference.ts";
import { quoted } from "../text/quote.ts";
import type { DocumentRule } from "./rule.ts";

const longestName = 63;
const mountOptions = ["ro", "rw", "noexec", "nosuid", "nodev", "noatime", "rbind", "rshared"];
const networkConditions = ["addresses", "connectivity", "hostname", "etcfiles"];

/** A container that Talos runs beside Kubernetes. */
export const container: DocumentRule = (members, report) => {
  const name = textAt(members, "name");
  const image = textAt(members, "image");
  if (name === "") report.error("name is required");
  else if (Buffer.byteLength(name) > longestName) report.error(`name ${quoted(name)} must be ${longestName} characters or fewer`);
  else
    report.errorIf(!/^[a-z0-9-]+$/.test(name), `name ${quoted(name)}: name can only contain lowercase ASCII letters, digits and hyphens`);
  report.errorIf(image === "", "image is required");
  if (image !== "" && !isImageReference(image)) {
    report.error(`invalid image reference ${quoted(image)}: could not parse reference: ${image}`);
  } else if (image !== "" && !/@sha256:[0-9a-f]{64}$/.test(image)) {
    report.warning(`container ${quoted(name)}: image ${quoted(image)} is not digest-pinned, the running image may change on restart`);
  }
  textsAt(members, "environment").forEach((variable, index) => {
    report.errorIf(!variable.includes("="), `environment[${index}]: ${quoted(variable)} must be in KEY=value form`);
  });
  checkMounts(members, report);
  checkSecurity(mapAt(members, "security"), report);
  const mode = textAt(members, "network", "mode");
  report.errorIf(!["", "none", "host"].includes(mode), `unsupported network mode ${quoted(mode)}, expected none or host`);
  checkLimits(members, report);
  checkDependencies(mapAt(members, "dependsOn"), name, report);
  for (const field of ["uid", "gid"]) {
    const number = integerAt(members, "runAs", field);
    report.errorIf(number < 0n, `runAs.${field} must be non-negative, got ${number}`);
  }
};

function checkMounts(members: ConfigMap, report: Report): void {
  const destinations = new Set<string>();
  mapsAt(members, "mounts").forEach((mount, index) => {
    const where = `mounts[${index}]`;
    const kinds = ["userVolume", "tmpfs", "hostPath"].filter((kind) => isThere(mount, kind));
    const [kind] = kinds;
    if (kind === undefined || kinds.length !== 1) return report.error(`${where}: exactly one of userVolume, tmpfs or hostPath must be set`);
    const source = mapAt(mount, kind);
    const wrong = [
      ...(kind === "userVolume" && textAt(source, "name") === "" ? ["userVolume.name is required"] : []),
      ...(kind === "hostPath" ? whyNotAbsolute("hostPath.source", textAt(source, "source")) : []),
      ...whyNotAbsolute(`${kind}.destination`, textAt(source, "destination")),
      ...whyNotOptions(textsAt(source, "options")),
    ];
    if (wrong.length > 0) return report.error(`${where}: ${wrong.join("\n")}`);
    const destination = textAt(source, "destination");
    report.errorIf(destinations.has(destination), `${where}: duplicate destination ${quoted(destination)}`);
    destinations.add(destination);
  });
}

function whyNotAbsolute(field: string, path: string): readonly string[] {
  if (path === "") return [`${field} is required`];
  return path.startsWith("/") ? [] : [`${field} ${quoted(path)} must be an absolute path`];
}

function whyNotOptions(options: readonly string[]): readonly string[] {
  return [
    ...options.filter((option) => !mountOptions.includes(option)).map((option) => `unsupported mount option ${quoted(option)}`),
    ...(options.includes("ro") && options.includes("rw") ? ["mount options ro and rw are mutually exclusive"] : []),
  ];
}

function checkSecurity(security: ConfigMap | undefined, report: Report): void {
  const profile = textAt(security, "profile");
  report.errorIf(
    !["", "restricted", "privileged"].includes(profile),
    `unsupported security profile ${quoted(profile)}, expected restricted or privileged`,
  );
  const added = textsAt(security, "capabilities", "add");
  const dropped = textsAt(security, "capabilities", "drop");
  for (const name of added) {
    if (name === "ALL") report.error("capabilities.add does not accept ALL, use profile: privileged instead");
    else report.error(...whyNotCapability("capabilities.add", name));
  }
  report.error(...dropped.filter((name) => name !== "ALL").flatMap((name) => whyNotCapability("capabilities.drop", name)));
  for (const name of added) report.errorIf(dropped.includes(name), `capability ${quoted(name)} appears in both add and drop`);
}

function whyNotCapability(field: string, name: string): readonly string[] {
  if (name === "") return [`${field}: capability name must not be empty`];
  if (name.startsWith("CAP_")) return [`${field}: capability ${quoted(name)} must be given without the CAP_ prefix`];
  if (name.toUpperCase() !== name) return [`${field}: capability ${quoted(name)} must be upper case`];
  return /^[A-Z_]+$/.test(name) ? [] : [`${field}: capability ${quoted(name)} may only contain upper case letters and underscores`];
}

function checkLimits(members: ConfigMap, report: Report): void {
  const memory = textAt(members, "resources", "limits", "memory");
  const parsed = memory === "" ? undefined : parseBytes(memory);
  if (parsed !== undefined && "refusal" in parsed) report.error(`limits.memory ${quoted(memory)} is not a valid size: ${parsed.refusal}`);
  const cpu = textAt(members, "resources", "limits", "cpu");
  const refusal = cpu === "" ? undefined : whyNotMillicores(cpu);
  if (refusal !== undefined) report.error(`limits.cpu ${quoted(cpu)} ${refusal}`);
}

/** Whole thousandths of a core: a number of cores is refused, because it is easily mistaken. */
function whyNotMillicores(cpu: string): string | undefined {
  if (!cpu.endsWith("m")) return "must be expressed in millicores, e.g. 1500m";
  const number = cpu.slice(0, -1);
  const refusal = /^\d+$/.test(number) ? (BigInt(number) >> 64n === 0n ? undefined : "value out of range") : "invalid syntax";
  if (refusal !== undefined) return `is not a valid millicore quantity: strconv.ParseUint: parsing ${quoted(number)}: ${refusal}`;
  return BigInt(number) === 0n ? "must be greater than zero" : undefined;
}

function checkDependencies(dependsOn: ConfigMap | undefined, name: string, report: Report): void {
  for (const path of textsAt(dependsOn, "paths")) report.error(...whyNotAbsolute("dependsOn.paths entry", path));
  for (const condition of textsAt(dependsOn, "networks")) {
    report.errorIf(!networkConditions.includes(condition), `unsupported dependsOn.networks condition ${quoted(condition)}`);
  }
  for (const other of textsAt(dependsOn, "containers")) {
    if (other === "") report.error("dependsOn.containers entry must not be empty");
    else report.errorIf(other === name, `container ${quoted(name)} cannot depend on itself`);
  }
}

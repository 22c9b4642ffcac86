import type { ConfigMap } from "../../document/value.ts";
import { integerAt, isOn, isThere, listAt, mapAt, mapsAt, textAt } from "../access.ts";
import type { Report } from "../report.ts";
import type { RuleSet } from "../rule-set.ts";
import { quoted } from "../text/quote.ts";

/** What the machine is installed on, where it installs itself. */
export function checkInstall(machine: ConfigMap, { generation }: RuleSet, report: Report): void {
  const install = mapAt(machine, "install");
  if (install === undefined) {
    report.errorIf(generation === "1.13", 'install instructions are required in "metal" mode');
    return;
  }
  const selector = mapAt(install, "diskSelector");
  const refusal = selector === undefined ? undefined : whyNotSelector(selector);
  if (refusal !== undefined) report.error(`install disk selector is invalid: ${refusal}`);
  report.errorIf(
    textAt(install, "disk") === "" && (selector === undefined || refusal !== undefined),
    "either install disk or diskSelector should be defined",
  );
  report.errorIf(
    listAt(install, "extraKernelArgs").length > 0 && isOn(install, "grubUseUKICmdline"),
    "install.extraKernelArgs and install.grubUseUKICmdline can't be used together",
  );
}

function whyNotSelector(selector: ConfigMap): string | undefined {
  if (textAt(selector, "name") !== "") return "selector on name is not supported";
  const type = textAt(selector, "type");
  return ["", "nvme", "sd", "hdd", "ssd"].includes(type) ? undefined : `unsupported disk type ${quoted(type)}`;
}

/** Extensions that are installed from a list, as they were before images carried them. */
export function checkExtensions(machine: ConfigMap, report: Report): void {
  const seen = new Set<string>();
  for (const extension of mapsAt(machine, "install", "extensions")) {
    const image = textAt(extension, "image");
    report.errorIf(seen.has(image), `duplicate system extension ${quoted(image)}`);
    seen.add(image);
  }
  if (seen.size > 0)
    report.warning(
      ".machine.install.extensions is deprecated, please see https://docs.siderolabs.com/talos/latest/platform-specific-installations/boot-assets",
    );
}

/** Disks of the user. */
export function checkDisks(machine: ConfigMap, report: Report): void {
  listAt(machine, "disks").forEach((disk, position) => {
    if (!(disk instanceof Map)) return report.error(`machine.disks[${position}] is null`);
    const partitions = listAt(disk, "partitions");
    partitions.forEach((partition, index) => {
      const isWhole = !(partition instanceof Map) || ["", "0 B", "0"].includes(textAt(partition, "size"));
      report.errorIf(
        isWhole && index < partitions.length - 1,
        `partition for disk ${quoted(textAt(disk, "device"))} is set to occupy full disk, but it's not the last partition in the list`,
      );
    });
  });
}

/** Encryption of the system partitions. */
export function checkDiskEncryption(machine: ConfigMap, report: Report): void {
  for (const [section, label] of [
    ["ephemeral", "EPHEMERAL"],
    ["state", "STATE"],
  ] as const) {
    const encryption = mapAt(machine, "systemDiskEncryption", section);
    if (encryption === undefined) continue;
    const keys = mapsAt(encryption, "keys");
    report.errorIf(keys.length === 0, `partition "${label}": no encryption keys provided`);
    const slots = new Set<bigint>();
    for (const key of keys) {
      const slot = integerAt(key, "slot");
      report.errorIf(slots.has(slot), `partition "${label}": encryption key slot ${slot} is already in use`);
      slots.add(slot);
      report.errorIf(
        !["nodeID", "static", "kms", "tpm"].some((kind) => isThere(key, kind)),
        `partition "${label}": encryption key at slot ${slot} doesn't have the configuration parameters`,
      );
    }
  }
}

import type { ConfigMap } from "../../document/value.ts";
import { mapAt, textsAt } from "../access.ts";
import type { Report } from "../report.ts";
import { isSubnetOrAddress } from "../text/address.ts";
import { quoted } from "../text/quote.ts";

/** Settings of the kubelet that belong to Talos, in the order in which it looks for them. */
export const protectedKubeletFields: readonly string[] = [
  "apiVersion",
  "authentication",
  "authorization",
  "cgroupRoot",
  "kind",
  "kubeletCgroups",
  "port",
  "protectKernelDefaults",
  "resolvConf",
  "rotateCertificates",
  "systemCgroups",
  "staticPodPath",
  "seccompDefault",
];

/** The section `machine.kubelet`. */
export function checkKubelet(kubelet: ConfigMap | undefined, report: Report): void {
  for (const subnet of textsAt(kubelet, "nodeIP", "validSubnets").map((text) => text.replace(/^!/, ""))) {
    report.errorIf(!isSubnetOrAddress(subnet), `kubelet nodeIP subnet is not valid: ${quoted(subnet)}`);
  }
  const extra = mapAt(kubelet, "extraConfig");
  for (const field of protectedKubeletFields) {
    report.errorIf(extra?.has(field) === true, `kubelet configuration field ${quoted(field)} can't be overridden`);
  }
}

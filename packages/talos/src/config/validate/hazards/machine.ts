import type { ConfigMap } from "../../document/value.ts";
import { isThere, mapsAt, textAt, textsAt } from "../access.ts";
import { documentOf, type HazardFinding, type HazardInput } from "./hazard.ts";

/** Port of the Talos API on every machine. */
const talosApiPort = 50_000;

/** A machine that would forget everything when it restarts. */
export function installHazards(input: HazardInput): readonly HazardFinding[] {
  const { mode, v1alpha1 } = input;
  if (mode !== "metal" || v1alpha1 === undefined) return [];
  const unattended = documentOf(input, "UnattendedInstallConfig");
  const hasDisk =
    textAt(unattended, "provisioning", "diskSelector", "match") !== "" ||
    textAt(v1alpha1, "machine", "install", "disk") !== "" ||
    isThere(v1alpha1, "machine", "install", "diskSelector");
  if (hasDisk) return [];
  const message = "no disk is named to install to, so the machine forgets the cluster when it restarts; name a disk or a selector";
  const [document, path] =
    unattended === undefined ? ["v1alpha1", "machine.install"] : ["UnattendedInstallConfig", "provisioning.diskSelector"];
  return [{ code: "INSTALL_DISK_ABSENT", document, path, message }];
}

/** A firewall that shuts out whoever would change it. */
export function firewallHazards(input: HazardInput): readonly HazardFinding[] {
  if (textAt(documentOf(input, "NetworkDefaultActionConfig"), "ingress") !== "block") return [];
  const isOpen = input.documents.some(
    ({ shape, members }) =>
      shape.kind === "NetworkRuleConfig" &&
      textAt(members, "portSelector", "protocol") === "tcp" &&
      textsAt(members, "portSelector", "ports").some((range) => holdsPort(range, talosApiPort)) &&
      letsIn(members, input.reachedAt),
  );
  if (isOpen) return [];
  const message = `no rule opens port ${talosApiPort}, so nobody reaches the Talos API again; add a NetworkRuleConfig for it`;
  return [{ code: "TALOS_API_BLOCKED", document: "NetworkDefaultActionConfig", path: "ingress", message }];
}

/** Of the subnets themselves nobody but the network knows whether they hold whoever calls; those of the other family never do. */
function letsIn(rule: ConfigMap, reachedAt: string | undefined): boolean {
  const subnets = mapsAt(rule, "ingress").map((one) => textAt(one, "subnet"));
  return subnets.some((subnet) => reachedAt === undefined || subnet.includes(":") === reachedAt.includes(":"));
}

function holdsPort(range: string, port: number): boolean {
  const [low = "", high = low] = range.split("-");
  return Number(low) <= port && port <= Number(high);
}

import type { Finding, TalosControlPlaneSpec, TalosWorkerSpec } from "@talos-operator/api";
import type { ResolvedConfig } from "../references/config-references.ts";

/** True for a `configRef` that nobody read, as in objects that only hold the spec. */
export function isUnread({ configRef }: TalosControlPlaneSpec | TalosWorkerSpec, config: ResolvedConfig | undefined): boolean {
  return (configRef?.name ?? "") !== "" && config === undefined;
}

/** What is wrong with the whole config that `configRef` names; what the cluster's keys say to it is found out when there are any. */
export function baseProblems(
  spec: TalosControlPlaneSpec | TalosWorkerSpec,
  role: "controlplane" | "worker",
  config: ResolvedConfig | undefined,
): readonly Finding[] {
  if ((spec.configRef?.name ?? "") === "" || config === undefined || config.kind === "none") return [];
  const finding = (message: string, remedy: string, reason: Finding["reason"]): readonly Finding[] => [
    { field: "spec.configRef", message, remedy, reason },
  ];
  if (config.kind === "problem") return finding(config.message, config.remedy, config.reason);
  const { base } = config;
  if (base.machineType !== undefined && base.machineType !== role)
    return finding(
      `${base.source} holds the config of a ${base.machineType}, and this object needs that of a ${role}`,
      "Name the other one",
      "InvalidConfig",
    );
  if (
    "endpoint" in spec &&
    spec.endpoint !== undefined &&
    spec.endpoint !== "" &&
    base.endpoint !== undefined &&
    base.endpoint !== spec.endpoint
  )
    return finding(
      `${base.source} names another endpoint than spec.endpoint`,
      "Make them agree, or remove spec.endpoint",
      "ClusterMismatch",
    );
  if (role === "controlplane" && base.keys.length > 0 && base.fingerprint === undefined)
    return finding(
      `${base.source} holds some of a cluster's keys and not all of them (${base.keys.slice(0, 8).join(", ")})`,
      "Put all of them in, or take them all out: the operator fills in the cluster's own",
      "InvalidConfig",
    );
  return [];
}

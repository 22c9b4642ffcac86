import type { TalosControlPlaneSpec } from "@talos-operator/api";
import type { RenderInput } from "../config/render.ts";
import type { MachineSettings } from "../model/machine.ts";

/** What a config of a control plane of the cluster `demo` is made from, but for its secrets. */
export function renderInput(
  version: string,
  machineSpec: MachineSettings,
  over: Partial<TalosControlPlaneSpec> = {},
): Omit<RenderInput, "secrets"> {
  return {
    role: "controlplane",
    clusterName: "demo",
    endpoint: "https://10.0.0.100:6443",
    controlPlane: { mode: "metal", version, kubeVersion: "v1.35.4", ...over },
    machineSpec,
    version,
    readBy: undefined,
    platform: "metal",
    installDisk: "/dev/sda",
    addresses: ["10.0.0.1"],
  };
}

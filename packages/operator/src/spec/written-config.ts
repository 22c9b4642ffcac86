import type { ConfigBase } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";

/** The whole config of control planes that a person wrote, where `configRef` names one. */
export function writtenConfig({ machines, controlPlane }: Pick<Observed, "machines" | "controlPlane">): ConfigBase | undefined {
  const first = machines.find(
    ({ declared }) =>
      declared.owner.kind === "TalosControlPlane" && declared.owner.name === controlPlane.metadata.name && declared.isHandMade !== true,
  );
  return first?.declared.machineSpec.base;
}

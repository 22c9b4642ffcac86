import { required } from "../schema/field.ts";
import { versionField } from "./fields.ts";

/** `spec.version` of control planes and workers. */
export const talosVersionField = required(
  versionField("v1.13.9", {
    description:
      "Talos version of the machines. A later change upgrades those that run, one after the other; the condition UpgradePending says how far that is, or what is in the way. Default: v1.13.0.",
    default: "v1.13.0",
  }),
);

/** `spec.kubeVersion` of control planes and workers; `whose` says which one decides. */
export function kubeVersionField(description: string) {
  return required(versionField("v1.36.3", { description, default: "v1.35.0" }));
}

import { required, string } from "../schema/field.ts";
import { VERSION_PATTERN } from "./fields.ts";

/** `spec.version` of control planes and workers. */
export const talosVersionField = required(
  string({
    description:
      "Talos version of the machines. A later change upgrades those that run, one after the other; the condition UpgradePending says how far that is, or what is in the way. Default: v1.13.0.",
    default: "v1.13.0",
    pattern: VERSION_PATTERN,
  }),
);

/** `spec.kubeVersion` of control planes and workers; `whose` says which one decides. */
export function kubeVersionField(description: string) {
  return required(string({ description, default: "v1.35.0", pattern: VERSION_PATTERN }));
}

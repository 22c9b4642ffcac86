import type { ConfigChange } from "@talos-operator/talos";
import { STARTS_FROM_UKI } from "../looking/kernel-arguments.ts";
import type { SeenArguments } from "../model/config.ts";

/**
 * A change of kernel arguments by what starts the machine: GRUB gets them with an installation, which is an upgrade to what runs; a UKI has its own, and takes
 * none. Where they come from, and that there are none any more, can be written down on any machine.
 */
export function withLoader(change: ConfigChange, loader: SeenArguments["loader"]): ConfigChange {
  const [, field] = /^machine\.install\.(extraKernelArgs|grubUseUKICmdline)\b/.exec(change.path) ?? [];
  if (field === undefined) return change;
  const isNoMore = loader === "uki" && change.change === "removed";
  if (field === "grubUseUKICmdline" || loader === "grub" || isNoMore) return { ...change, effect: "live" };
  return {
    ...change,
    reason:
      loader === "uki"
        ? `it ${STARTS_FROM_UKI}`
        : "it does not report by which boot loader it was started, and only GRUB takes kernel arguments of the configuration",
  };
}

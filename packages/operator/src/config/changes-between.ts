import { classifyConfigEffects, describeMachineConfig, isConfigError } from "@talos-operator/talos";
import { isAboutInstallation } from "./compare.ts";
import type { ConfigComparison } from "./compare.ts";
import { differingName, guardOf } from "./guard-of.ts";
import { noSecrets } from "./no-secrets.ts";
import { renderMachineConfig } from "./render.ts";
import type { RenderInput } from "./render.ts";
import { withLoader } from "./with-loader.ts";
import { withoutBarred } from "./withheld.ts";
import type { KnownConfig } from "../model/config.ts";

/** What another spec would change on a machine that runs. */
export type ImaginedChange = Pick<KnownConfig, "changes" | "firstPart" | "hazards" | "hostname" | "withheld">;

/** What another spec changes in a machine's configuration, both rendered with words in place of keys; `undefined` when one of them cannot be rendered. */
export function changesBetween(
  before: Omit<RenderInput, "secrets">,
  after: Omit<RenderInput, "secrets"> & { readonly reachedAt: string },
  talosVersion: string,
): ImaginedChange | undefined {
  try {
    const render = (input: Omit<RenderInput, "secrets">): string => renderMachineConfig({ ...input, secrets: noSecrets });
    const [live, asked] = [render(before), render(after)];
    const compare = (desired: string): ConfigComparison => ({
      wanted: desired,
      // Nobody is asked what started the machine: the plan takes GRUB, and says so.
      changes: classifyConfigEffects(live, desired, talosVersion)
        .changes.filter((change) => !isAboutInstallation(change))
        .map((change) => withLoader(change, "grub")),
    });
    const { wanted, changes, withheld: parts } = withoutBarred(compare(asked), live, { version: talosVersion, compare });
    const withheld = parts.length === 0 ? {} : { withheld: parts };
    if (changes.length === 0) return { changes, ...withheld };
    const { platform, reachedAt } = after;
    return {
      changes,
      ...withheld,
      ...guardOf({ wanted, live, changes }, { platform, version: talosVersion, reachedAt, addresses: new Set() }).seen,
      ...differingName(describeMachineConfig(live).hostname, describeMachineConfig(wanted).hostname),
    };
  } catch (thrown) {
    if (isConfigError(thrown) || (thrown instanceof Error && thrown.name === "ConfigRefusal")) return undefined;
    throw thrown;
  }
}

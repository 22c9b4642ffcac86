import { classifyConfigEffects, describeMachineConfig, isConfigError } from "@talos-operator/talos";
import type { ConfigComparison } from "./compare.ts";
import { withoutBarredEncryption } from "./withheld.ts";
import { firstPartOf } from "./first-part.ts";
import { newHazards } from "./hazards.ts";
import { noSecrets } from "./no-secrets.ts";
import { renderMachineConfig } from "./render.ts";
import type { RenderInput } from "./render.ts";
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
      changes: classifyConfigEffects(live, desired, talosVersion).changes,
    });
    const { wanted, changes, withheld: parts } = withoutBarredEncryption(compare(asked), live, { version: talosVersion, compare });
    const withheld = parts.length === 0 ? {} : { withheld: parts };
    if (changes.length === 0) return { changes, ...withheld };
    const { platform } = after;
    const firstPart = firstPartOf({ wanted, live, changes }, { platform, version: talosVersion, addresses: new Set() });
    const hazards = newHazards(wanted, live, { platform, version: talosVersion, reachedAt: after.reachedAt });
    return {
      changes,
      ...withheld,
      ...(firstPart === undefined ? {} : { firstPart: firstPart.changes }),
      ...(hazards.length === 0 ? {} : { hazards }),
      ...hostnameDifference(live, wanted),
    };
  } catch (thrown) {
    if (isConfigError(thrown) || (thrown instanceof Error && thrown.name === "ConfigRefusal")) return undefined;
    throw thrown;
  }
}

function hostnameDifference(runs: string, asked: string): Pick<KnownConfig, "hostname"> {
  if (runs === asked) return {};
  const names = { runs: describeMachineConfig(runs).hostname ?? "", asked: describeMachineConfig(asked).hostname ?? "" };
  return names.runs === names.asked ? {} : { hostname: names };
}

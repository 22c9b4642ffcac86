import { classifyConfigEffects, describeMachineConfig, isConfigError } from "@talos-operator/talos";
import { noSecrets } from "./no-secrets.ts";
import { renderMachineConfig } from "./render.ts";
import type { RenderInput } from "./render.ts";
import type { KnownConfig } from "../model/config.ts";

/** What another spec changes in a machine's configuration, both rendered with words in place of keys; `undefined` when one of them cannot be rendered. */
export function changesBetween(
  before: Omit<RenderInput, "secrets">,
  after: Omit<RenderInput, "secrets">,
  talosVersion: string,
): Pick<KnownConfig, "changes" | "hostname"> | undefined {
  try {
    const [runs, asked] = [before, after].map((input) => renderMachineConfig({ ...input, secrets: noSecrets })) as [string, string];
    return { changes: classifyConfigEffects(runs, asked, talosVersion).changes, ...hostnameDifference(runs, asked) };
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

import { classifyConfigEffects, isConfigError } from "@talos-operator/talos";
import type { ConfigChange } from "@talos-operator/talos";
import { noSecrets } from "./no-secrets.ts";
import { renderMachineConfig } from "./render.ts";
import type { RenderInput } from "./render.ts";

/** What another spec changes in a machine's configuration, both rendered with words in place of keys; `undefined` when one of them cannot be rendered. */
export function changesBetween(
  before: Omit<RenderInput, "secrets">,
  after: Omit<RenderInput, "secrets">,
  talosVersion: string,
): readonly ConfigChange[] | undefined {
  try {
    const render = (input: Omit<RenderInput, "secrets">): string => renderMachineConfig({ ...input, secrets: noSecrets });
    return classifyConfigEffects(render(before), render(after), talosVersion).changes;
  } catch (thrown) {
    if (isConfigError(thrown) || (thrown instanceof Error && thrown.name === "ConfigRefusal")) return undefined;
    throw thrown;
  }
}

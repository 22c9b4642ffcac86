import { configWithoutChanges, contractFor, isConfigError, validateMachineConfig } from "@talos-operator/talos";
import type { ConfigChange } from "@talos-operator/talos";
import { compareConfigs, isInForceAtOnce, routeOf } from "./compare.ts";
import { modeOf } from "./hazards.ts";

/** What of a change is tried before the boot that brings the rest. */
export interface FirstPart {
  /** What is tried: the running configuration with it. Holds keys. */
  readonly text: string;
  readonly changes: readonly ConfigChange[];
}

/**
 * The part of a change that needs a boot which is in force at once, and can be tried and taken back: a boot with what shuts everybody out is never taken back.
 * `undefined` = there is none, or it makes no configuration by itself.
 */
export function firstPartOf(
  { wanted, live, changes }: { readonly wanted: string; readonly live: string; readonly changes: readonly ConfigChange[] },
  {
    platform,
    version,
    addresses,
  }: { readonly platform: string | undefined; readonly version: string; readonly addresses: ReadonlySet<string> },
): FirstPart | undefined {
  if (routeOf(changes) !== "reboot" || !changes.some(isInForceAtOnce)) return undefined;
  try {
    const contract = contractFor(version);
    const later = changes.filter((change) => !isInForceAtOnce(change));
    const text = configWithoutChanges(live, wanted, later, { contract });
    const part = compareConfigs({ desired: text, live, talosVersion: version, addresses });
    if (routeOf(part.changes) !== "guarded") return undefined;
    const { errors } = validateMachineConfig(part.wanted, { mode: modeOf(platform), contract });
    return errors.length > 0 ? undefined : { text: part.wanted, changes: part.changes };
  } catch (thrown) {
    if (isConfigError(thrown)) return undefined;
    throw thrown;
  }
}

import { barredEncryption, configWithoutChanges, contractFor, isConfigError } from "@talos-operator/talos";
import type { BarredEncryption } from "@talos-operator/talos";
import type { ConfigComparison } from "./compare.ts";

/** Encryption of a volume that is asked for and not sent: with it the machine would not get through its next boot. */
export type WithheldEncryption = Pick<BarredEncryption, "volume" | "why">;

/** A comparison without what is not sent. */
export interface SendableConfig extends ConfigComparison {
  readonly withheld: readonly WithheldEncryption[];
}

/**
 * What is left to send: encryption that no volume comes through stays as it runs, and the rest of the edit goes on. Where the part cannot be taken out, nothing of
 * the edit is sent.
 *
 * @param compare what a text would change on the running configuration
 */
export function withoutBarredEncryption(
  { wanted, changes }: ConfigComparison,
  live: string,
  { version, compare }: { readonly version: string; readonly compare: (desired: string) => ConfigComparison },
): SendableConfig {
  const barred = barredEncryption(live, wanted, changes);
  if (barred.length === 0) return { wanted, changes, withheld: [] };
  const withheld = barred.map(({ volume, why }) => ({ volume, why }));
  const out = barred.flatMap((one) => one.changes);
  try {
    const rest = compare(configWithoutChanges(live, wanted, out, { contract: contractFor(version) }));
    if (barredEncryption(live, rest.wanted, rest.changes).length === 0) return { ...rest, withheld };
  } catch (thrown) {
    if (!isConfigError(thrown)) throw thrown;
  }
  return { wanted, changes: changes.map((change) => (out.includes(change) ? { ...change, effect: "destroys-data" } : change)), withheld };
}

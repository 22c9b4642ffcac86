import { barredEncryption, configWithoutChanges, contractFor, isConfigError } from "@talos-operator/talos";
import type { ConfigChange } from "@talos-operator/talos";
import { routeOf } from "./compare.ts";
import type { ConfigComparison } from "./compare.ts";
import type { WithheldPart } from "../model/config.ts";

/** A comparison without what is not sent. */
export interface SendableConfig extends ConfigComparison {
  readonly withheld: readonly WithheldPart[];
}

/** A part that is not sent, and where it stands: the part of the config that must stay as it is. */
interface Barred {
  readonly part: WithheldPart;
  readonly changes: readonly ConfigChange[];
}

/**
 * What is left to send: what a running machine does not take, or does not come through, stays as it runs, and the rest of the edit goes on. Where the part cannot
 * be taken out, nothing of the edit is sent.
 *
 * @param compare what a text would change on the running configuration
 */
export function withoutBarred(
  { wanted, changes }: ConfigComparison,
  live: string,
  { version, compare }: { readonly version: string; readonly compare: (desired: string) => ConfigComparison },
): SendableConfig {
  const barred = barredIn(live, wanted, changes);
  if (barred.length === 0) return { wanted, changes, withheld: [] };
  const withheld = barred.map(({ part }) => part);
  const out = barred.flatMap((one) => one.changes);
  try {
    const rest = compare(configWithoutChanges(live, wanted, out, { contract: contractFor(version) }));
    if (barredIn(live, rest.wanted, rest.changes).length === 0) return { ...rest, withheld };
  } catch (thrown) {
    if (!isConfigError(thrown)) throw thrown;
  }
  const asNever = (change: ConfigChange): ConfigChange => (routeOf([change]) === "never" ? change : { ...change, effect: "destroys-data" });
  return { wanted, changes: changes.map((change) => (out.includes(change) ? asNever(change) : change)), withheld };
}

/** Encryption that no volume comes through, and what only an installation reads: with it the rest would wait for ever. */
function barredIn(live: string, wanted: string, changes: readonly ConfigChange[]): readonly Barred[] {
  const ofVolumes = barredEncryption(live, wanted, changes).map(({ volume, why, changes: own }): Barred => ({
    part: { volume, why },
    changes: own,
  }));
  const ofInstallation = Map.groupBy(
    changes.filter(({ effect }) => effect === "reinstall"),
    ({ reason }) => reason,
  );
  return [...ofVolumes, ...[...ofInstallation.values()].map((own): Barred => ({ part: { changes: own }, changes: own }))];
}

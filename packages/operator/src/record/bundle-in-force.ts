import type { SecretsBundle } from "@talos-operator/talos";
import { usableBundle } from "../secrets/bundle-store.ts";
import type { BundleStore } from "../secrets/bundle-store.ts";
import { seenBundle } from "../reconcilers/cluster-session.ts";
import type { ClusterSession } from "../reconcilers/cluster-session.ts";
import type { ClusterFacts } from "../model/record.ts";

/**
 * The bundle that the record names, read now or held for a moment since the last reading.
 *
 * @throws EffectError `KEYS_UNUSABLE`
 */
export function bundleInForce(
  session: ClusterSession,
  bundles: BundleStore,
  namespace: string | undefined,
  expected: ClusterFacts["bundle"],
): Promise<SecretsBundle> {
  return session.keysInHand.get(expected.fingerprint, async () => {
    const stored = await bundles.read({ namespace, name: expected.secretName });
    session.noteBundle(seenBundle(stored));
    return usableBundle(stored, expected);
  });
}

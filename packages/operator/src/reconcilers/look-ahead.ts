import type { Logger } from "@talos-operator/ports";
import { isLookAheadDue } from "../planning/upgrade-ahead.ts";
import { bundleInForce } from "../record/bundle-in-force.ts";
import type { BundleStore } from "../secrets/bundle-store.ts";
import type { Assessment } from "../model/assessment.ts";
import type { Cluster } from "./clusters.ts";

/** Asks beside the pass what would hold up the drains of an upgrade that has not begun: reading, in a dry run too. Nothing waits for it. */
export function lookAhead(assessed: Assessment, { key, session, facts }: Cluster, bundles: BundleStore, log: Logger): void {
  if (facts === undefined || !isLookAheadDue(assessed)) return;
  const addresses = (): readonly string[] => session.machines.runningControlPlanes().map(({ address }) => address);
  const authority = async () => (await bundleInForce(session, bundles, key.namespace, facts.bundle)).certs.k8s;
  session.workload?.lookAhead({ addresses, endpoint: facts.endpoint, authority }, log);
}

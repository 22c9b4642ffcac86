import type { Clock, Keys } from "@talos-operator/ports";
import type { SecretsBundle } from "@talos-operator/talos";
import type { ReaderCredentials } from "../looking/connections.ts";

/** Life of the certificates from now on: `os:admin` for one effect, `os:reader` for a cluster's looks, `os:etcd:backup` for a run that has a day at most. */
const LIFETIME_MS = { "os:etcd:backup": 25 * 3_600_000, "os:admin": 10 * 60_000, "os:reader": 12 * 3_600_000 } as const;

/**
 * How much earlier than now certificates begin: a machine whose clock is less than a day behind ours accepts them. It is their end that limits what a
 * lost one is worth.
 */
export const BACKDATE_MS = 25 * 3_600_000;

/** Mutual-TLS credentials with one role, signed by the cluster's Talos authority. Kept in memory only. */
export async function mintCredentials(
  bundle: SecretsBundle,
  role: "os:reader" | "os:admin" | "os:etcd:backup",
  keys: Keys,
  clock: Clock,
): Promise<ReaderCredentials> {
  const { certificate, key } = await keys.signCertificate(bundle.certs.os, {
    usage: "client",
    organizations: [role],
    notBefore: clock.now() - BACKDATE_MS,
    lifetimeMs: BACKDATE_MS + LIFETIME_MS[role],
  });
  return { kind: "mutual", ca: bundle.certs.os.certificate, certificate, key };
}

/** When reader credentials made now should be replaced: well before they end. */
export function readerRenewalAt(now: number): number {
  return now + LIFETIME_MS["os:reader"] / 2;
}

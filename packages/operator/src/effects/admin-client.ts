import type { Clock, Keys, TalosCredentials, TalosDialer } from "@talos-operator/ports";
import type { SecretsBundle } from "@talos-operator/talos";
import { createTalosClient } from "@talos-operator/talos/client";
import type { TalosClient } from "@talos-operator/talos/client";
import { mintCredentials } from "../secrets/credentials.ts";

/** What a connection with an `os:admin` certificate needs. */
export interface AdminPorts {
  readonly dialer: TalosDialer;
  readonly keys: Keys;
  readonly clock: Clock;
}

/**
 * Runs `use` on a connection to the machine itself, with an `os:admin` certificate of this bundle made for it. TLS proves whom it reaches.
 * The connection is closed afterwards; the certificate is forgotten.
 */
export async function withAdminClient<T>(
  address: string,
  bundle: SecretsBundle,
  { dialer, keys, clock }: AdminPorts,
  use: (client: TalosClient) => Promise<T>,
): Promise<T> {
  return withClient(address, await mintCredentials(bundle, "os:admin", keys, clock), dialer, use);
}

/** The same with a certificate that was made for several machines. */
export async function withClient<T>(
  address: string,
  credentials: TalosCredentials,
  dialer: TalosDialer,
  use: (client: TalosClient) => Promise<T>,
): Promise<T> {
  const client = createTalosClient(dialer.dial({ address }, credentials));
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

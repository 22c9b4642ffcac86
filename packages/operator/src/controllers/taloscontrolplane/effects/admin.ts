import { createTalosClient } from "@talos-operator/talos/client";
import type { TalosClient } from "@talos-operator/talos/client";
import { mintCredentials } from "../credentials.ts";
import type { Effects } from "../execute.ts";

/**
 * Runs `use` on a connection to the machine itself, with an `os:admin` certificate made for it. TLS proves whom the effect hits.
 * The connection is closed afterwards; the certificate is forgotten.
 */
export async function asAdmin<T>(address: string, effects: Effects, use: (client: TalosClient) => Promise<T>): Promise<T> {
  const credentials = await mintCredentials(await effects.bundle(), "os:admin", effects.keys, effects.clock);
  const client = createTalosClient(effects.dialer.dial({ address }, credentials));
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

import type { TalosClient } from "@talos-operator/talos/client";
import { withAdminClient } from "./admin-client.ts";
import type { Effects } from "./ports.ts";

/** Runs `use` on a connection of its own with an `os:admin` certificate of the bundle that the record names. */
export async function asAdmin<T>(address: string, effects: Effects, use: (client: TalosClient) => Promise<T>): Promise<T> {
  return withAdminClient(address, await effects.bundle(), effects, use);
}

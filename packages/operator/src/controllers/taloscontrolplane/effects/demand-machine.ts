import { resourceKinds } from "@talos-operator/talos/client";
import type { TalosClient } from "@talos-operator/talos/client";
import { EffectError } from "../../../errors.ts";
import { LOOK_TIMEOUT_MS } from "../../../looking/look-at.ts";

/**
 * Fails unless the machine on this connection is the one that was written down. A certificate of the cluster proves only that it is one of ours:
 * addresses can change hands.
 *
 * @param uuid SMBIOS UUID that was written down; empty, as in containers, demands nothing
 * @throws EffectError `PRECONDITION_GONE`
 */
export async function demandMachine(client: TalosClient, name: string, uuid: string, signal: AbortSignal): Promise<void> {
  if (uuid === "") return;
  const system = await client.resources.get(resourceKinds.systemInformation, undefined, { timeoutMs: LOOK_TIMEOUT_MS, signal });
  const shown = system?.spec.uuid;
  if (shown !== uuid)
    throw new EffectError(
      "PRECONDITION_GONE",
      `what answers at the address of ${name} has the UUID ${shown ?? "of nobody"}, and ${uuid} was written down`,
    );
}

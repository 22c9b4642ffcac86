import type { TalosClient } from "@talos-operator/talos/client";
import { EffectError } from "../../../errors.ts";
import { hardwareOf, LOOK_TIMEOUT_MS } from "../../../looking/look-at.ts";
import { machineFact } from "../record/facts.ts";
import type { ClusterFacts } from "../record/facts.ts";
import { identityOf } from "../membership/identity.ts";
import { compareIdentity } from "../membership/proven-look.ts";

/**
 * Fails unless the machine on this connection is the one that was written down. A certificate of the cluster proves only that it is one of ours:
 * addresses can change hands. Where several machines show one UUID, as clones do, a hardware address has to agree too.
 *
 * @param uuid SMBIOS UUID that was written down; empty, as in containers, demands nothing
 * @param facts the record, for telling whether the UUID is the machine's own
 * @throws EffectError `PRECONDITION_GONE`
 */
export async function demandMachine(
  client: TalosClient,
  name: string,
  uuid: string,
  signal: AbortSignal,
  facts: ClusterFacts,
): Promise<void> {
  if (uuid === "") return;
  const shown = await hardwareOf(client, { timeoutMs: LOOK_TIMEOUT_MS, signal });
  if (shown.uuid !== uuid)
    throw new EffectError(
      "PRECONDITION_GONE",
      `what answers at the address of ${name} has the UUID ${shown.uuid ?? "of nobody"}, and ${uuid} was written down`,
    );
  const fact = machineFact(facts, name);
  if (fact === undefined || identityOf(facts, fact) === "own" || compareIdentity(facts, fact, shown) === "same") return;
  throw new EffectError(
    "PRECONDITION_GONE",
    `what answers at the address of ${name} shows a UUID that others show too, and none of the hardware addresses that were written down`,
  );
}

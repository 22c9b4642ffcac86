import type { TalosClient } from "@talos-operator/talos/client";
import { EffectError } from "../errors.ts";
import { hardwareOf, LOOK_TIMEOUT_MS } from "../looking/look-at.ts";
import { machineFact } from "../record/facts.ts";
import { identityOf } from "../assess/identity.ts";
import { compareIdentity } from "../observe/proven-look.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { MachineName } from "../model/machine.ts";
import type { Check } from "./define.ts";
import type { Connected } from "./send-to-machine.ts";

/**
 * Fails unless the machine on this connection is the one that was written down. A certificate of the cluster proves only that it is one of ours:
 * addresses can change hands. Where several machines show one UUID, as clones do, a hardware address has to agree too.
 *
 * @param uuid SMBIOS UUID that was written down; where it is empty, as in containers and on small boards, hardware addresses decide that were written down
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
  const fact = machineFact(facts, name);
  if (uuid === "" && (fact?.macs ?? []).length === 0) return;
  const shown = await hardwareOf(client, { timeoutMs: LOOK_TIMEOUT_MS, signal });
  if (uuid !== "" && shown.uuid !== uuid)
    throw new EffectError(
      "PRECONDITION_GONE",
      `what answers at the address of ${name} has ${shown.uuid === undefined ? "no UUID" : `the UUID ${shown.uuid}`}, and ${uuid} was written down`,
    );
  if (fact === undefined || identityOf(facts, fact) === "own") return;
  const verdict = compareIdentity(facts, fact, shown);
  if (verdict === "same" || (uuid === "" && verdict === "unclear")) return;
  throw new EffectError(
    "PRECONDITION_GONE",
    uuid === ""
      ? `what answers at the address of ${name} shows none of the hardware addresses that were written down`
      : `what answers at the address of ${name} shows a UUID that is not unique, and none of the recorded hardware addresses`,
  );
}

/** What answers is the machine that was written down. */
export const sameMachine: Check<Connected<{ readonly machine: MachineName; readonly ifUuid: string }>> = ({ action, client, effects }) =>
  demandMachine(client, action.machine, action.ifUuid, effects.signal, effects.facts());

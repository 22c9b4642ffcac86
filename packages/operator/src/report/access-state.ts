import { conditionFor, kubeconfigSecretName, rfc3339, talosconfigSecretName } from "@talos-operator/api";
import type { ConditionInput, ReasonOf } from "@talos-operator/api";
import { factsOf } from "../record/facts.ts";
import { askedForKubeconfig } from "../effects/write-kubeconfig.ts";
import { accessOwner, isCloseToEnd } from "../procedures/access/rule.ts";
import type { Observed, Seen, SeenAccess } from "../model/observation.ts";
import type { Said } from "../model/plans.ts";

/** A renewal takes seconds. One that has not come about when so much is left has something in its way: half a month, of a shorter life a sixth. */
const LATE_MS = 15 * 24 * 3_600_000;

/** Why people are about to lose their way into the cluster, or have none; nothing is said while the access Secrets are in order. */
export function accessConditions(seen: Observed): readonly ConditionInput[] {
  if (factsOf(seen)?.bootstrapDone === undefined) return [];
  const owner = accessOwner(seen);
  const said = [
    hindrance(seen, "WriteKubeconfig", kubeconfigSecretName(owner), seen.kubeconfig),
    hindrance(seen, "WriteTalosconfig", talosconfigSecretName(owner), seen.talosconfig),
  ].filter((one) => one !== undefined);
  const [first] = said;
  if (first === undefined) return [];
  const message = said.map((one) => one.message).join(" ");
  return [conditionFor("AccessNotRenewed", first.reason, message, seen.controlPlane.metadata.generation)];
}

function hindrance(
  seen: Observed,
  effect: "WriteKubeconfig" | "WriteTalosconfig",
  secret: string,
  access: Seen<SeenAccess>,
): Said<ReasonOf<"AccessNotRenewed">> | undefined {
  if (access.kind === "unknown") return undefined;
  const value = access.kind === "present" ? access.value : undefined;
  if (value !== undefined && (!value.isOurs || !isCloseToEnd(value, seen.now))) return undefined;
  const state = stateOf(value, seen.now);
  if (value?.isImmutable === true)
    return {
      reason: "SecretImmutable",
      message: `The Secret ${secret} ${state}, and it is immutable: delete it, and it is made anew.`,
    };
  const sent = seen.sent.get(effect);
  if (sent?.outcome === "refused")
    return { reason: "WriteRefused", message: `The Secret ${secret} ${state}, and the API server refuses the new one: ${sent.detail}.` };
  const rejected =
    effect === "WriteKubeconfig"
      ? seen.machines.flatMap(({ declared }) => {
          const answer = seen.sent.get(askedForKubeconfig(declared.address));
          return answer?.outcome === "refused" ? [answer.detail] : [];
        })
      : [];
  if (rejected.length > 0)
    return { reason: "KubeconfigRejected", message: `The Secret ${secret} ${state}. ${rejected.join(" ")} Find out what runs there.` };
  if (value?.expiresAt === undefined) return undefined;
  const late = value.validFrom === undefined ? LATE_MS : Math.min(LATE_MS, (value.expiresAt - value.validFrom) / 6);
  if (value.expiresAt - seen.now >= late) return undefined;
  return { reason: "NotGiven", message: `The Secret ${secret} ${state}, and no control plane has given what replaces it.` };
}

function stateOf(value: SeenAccess | undefined, now: number): string {
  if (value === undefined) return "is not there";
  if (value.expiresAt === undefined) return "holds no certificate that can be read";
  if (value.validFrom !== undefined && value.validFrom > now) return `holds a certificate that begins at ${rfc3339(value.validFrom)}`;
  return `holds a certificate that ${value.expiresAt <= now ? "ended" : "ends"} at ${rfc3339(value.expiresAt)}`;
}

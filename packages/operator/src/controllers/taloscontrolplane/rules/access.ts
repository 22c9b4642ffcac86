import { kubeconfigSecretName, talosconfigSecretName } from "@talos-operator/api";
import { elapsedMs } from "../../../elapsed.ts";
import type { Action, Observed, Rule, Seen, SeenAccess } from "../model.ts";

/** Credentials are renewed when less than this is left of their year, and of a shorter life, as `adminKubeconfig.certLifetime` may ask for, when a third is. */
const RENEW_BEFORE_MS = 30 * 24 * 3_600_000;

/** After a renewal: what a machine gives may be no better than what it replaces. */
const RENEW_AGAIN_MS = 60_000;

/**
 * Writes kubeconfig and talosconfig once etcd is founded: when missing, or close to their end, and a talosconfig when every machine that it leads to left. A
 * Secret of someone else is left alone.
 */
export const keepAccess: Rule = {
  name: "keepAccess",
  decide(seen) {
    if (seen.record.kind !== "present" || seen.record.value.facts.bootstrapDone === undefined) return undefined;
    const actions: Action[] = [];
    const owner = accessOwner(seen);
    const via = seen.machines.find(
      (machine) => machine.declared.role === "controlplane" && machine.look.kind === "running" && machine.look.etcd?.members !== undefined,
    );
    if (via !== undefined && isDue(seen.kubeconfig, seen.now) && !wasJustTried(seen, "WriteKubeconfig", seen.kubeconfig))
      actions.push({ kind: "WriteKubeconfig", secret: kubeconfigSecretName(owner), via: via.declared.address });
    // An address that a reference has not given yet leads nowhere, for as long as the talosconfig lives.
    const endpoints = seen.machines.flatMap(({ declared }) =>
      declared.role === "controlplane" && declared.address !== "" ? [declared.address] : [],
    );
    const isTalosconfigDue = isDue(seen.talosconfig, seen.now) || leadsToNobody(seen, endpoints);
    if (isTalosconfigDue && !wasJustTried(seen, "WriteTalosconfig", seen.talosconfig)) {
      if (endpoints.length > 0) actions.push({ kind: "WriteTalosconfig", secret: talosconfigSecretName(owner), endpoints });
    }
    return actions.length === 0 ? undefined : { actions };
  },
};

/** Whose name the access Secrets carry: the first owner's (a TalosCluster), else the control plane's. */
export function accessOwner(seen: Pick<Observed, "controlPlane">): string {
  return seen.controlPlane.metadata.ownerReferences?.[0]?.name ?? seen.controlPlane.metadata.name;
}

function isDue(access: Seen<SeenAccess>, now: number): boolean {
  if (access.kind === "unknown") return false;
  if (access.kind === "absent") return true;
  const { isOurs, expiresAt, validFrom } = access.value;
  if (!isOurs) return false;
  if (expiresAt === undefined) return true;
  const third = validFrom === undefined ? RENEW_BEFORE_MS : (expiresAt - validFrom) / 3;
  return expiresAt - now < Math.min(RENEW_BEFORE_MS, third);
}

/** All that it leads to are machines that were of this cluster and left it. What a person wrote into it, as a name before all of them, is left as it is. */
function leadsToNobody({ talosconfig, record }: Observed, endpoints: readonly string[]): boolean {
  if (talosconfig.kind !== "present" || !talosconfig.value.isOurs || record.kind !== "present") return false;
  const { machines } = record.value.facts;
  const written = talosconfig.value.endpoints ?? [];
  return written.length > 0 && written.every((one) => !endpoints.includes(one) && machines.some(({ address }) => address === one));
}

function wasJustTried(seen: Observed, effect: string, { kind }: Seen<SeenAccess>): boolean {
  const sent = seen.sent.get(effect);
  if (sent === undefined) return false;
  // One that was written and is gone was deleted by somebody: it is made again at once.
  const pauseMs = sent.outcome === "unknown" ? 2_000 : sent.outcome === "refused" || kind === "present" ? RENEW_AGAIN_MS : 0;
  return elapsedMs(sent.at, seen.now) < pauseMs;
}

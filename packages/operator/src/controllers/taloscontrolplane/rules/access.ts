import { kubeconfigSecretName, talosconfigSecretName } from "@talos-operator/api";
import { elapsedMs } from "../../../elapsed.ts";
import type { Action, Observed, Rule, Seen, SeenAccess } from "../model.ts";

/** Credentials are renewed when less than this is left of their year. */
const RENEW_BEFORE_MS = 30 * 24 * 3_600_000;

/** Writes kubeconfig and talosconfig once etcd is founded: when missing, or close to their end. A Secret of someone else is left alone. */
export const keepAccess: Rule = {
  name: "keepAccess",
  decide(seen) {
    if (seen.record.kind !== "present" || seen.record.value.facts.bootstrapDone === undefined) return undefined;
    const actions: Action[] = [];
    const owner = accessOwner(seen);
    const via = seen.machines.find(
      (machine) => machine.declared.role === "controlplane" && machine.look.kind === "running" && machine.look.etcd?.members !== undefined,
    );
    if (via !== undefined && isDue(seen.kubeconfig, seen.now) && !wasJustTried(seen, "WriteKubeconfig"))
      actions.push({ kind: "WriteKubeconfig", secret: kubeconfigSecretName(owner), via: via.declared.address });
    if (isDue(seen.talosconfig, seen.now) && !wasJustTried(seen, "WriteTalosconfig")) {
      const endpoints = seen.machines
        .filter((machine) => machine.declared.role === "controlplane")
        .map((machine) => machine.declared.address);
      actions.push({ kind: "WriteTalosconfig", secret: talosconfigSecretName(owner), endpoints });
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
  return access.value.isOurs && (access.value.expiresAt === undefined || access.value.expiresAt - now < RENEW_BEFORE_MS);
}

function wasJustTried(seen: Observed, effect: string): boolean {
  const sent = seen.sent.get(effect);
  return sent !== undefined && sent.outcome !== "answered" && elapsedMs(sent.at, seen.now) < 2_000;
}

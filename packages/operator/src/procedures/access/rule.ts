import { kubeconfigSecretName, talosconfigSecretName } from "@talos-operator/api";
import { mayAskAgain } from "../../effects/define.ts";
import { askedForKubeconfig, writeKubeconfig } from "../../effects/write-kubeconfig.ts";
import { writeTalosconfig } from "../../effects/write-talosconfig.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed, Seen, SeenAccess, SeenMachine } from "../../model/observation.ts";
import type { Rule } from "../../model/decision.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** Credentials are renewed when less than this is left of their year, and of a shorter life, as `adminKubeconfig.certLifetime` may ask for, when a third is. */
const RENEW_BEFORE_MS = 30 * 24 * 3_600_000;

/** A machine may be so far ahead of the operator's clock and still take its certificates. */
const AHEAD_MS = 15 * 60_000;

/**
 * Writes kubeconfig and talosconfig once etcd is bootstrapped: when missing, close to their end, or leading to an endpoint or a machine that the cluster had before. A
 * Secret of someone else, or one that a person made immutable, is left alone. A control plane that gives no kubeconfig, or none that is of use, keeps nobody
 * from having one: the next one is asked.
 */
export const keepAccess: Rule = {
  name: "keepAccess",
  decide(assessed) {
    const { seen } = assessed;
    if (seen.record.kind !== "present" || seen.record.value.facts.bootstrapDone === undefined) return undefined;
    const actions: Action[] = [];
    const owner = accessOwner(seen);
    const via = whomToAsk(seen);
    const isKubeconfigDue = isDue(seen.kubeconfig, seen.now) || leadsToFormerEndpoint(seen, seen.record.value.facts);
    if (via !== undefined && isKubeconfigDue && mayTry(seen, writeKubeconfig, seen.kubeconfig))
      actions.push({ kind: "WriteKubeconfig", secret: kubeconfigSecretName(owner), via: via.declared.address });
    // An address that a reference has not given yet leads nowhere, for as long as the talosconfig lives.
    const endpoints = seen.machines.flatMap(({ declared }) =>
      declared.role === "controlplane" && declared.address !== "" ? [declared.address] : [],
    );
    const isTalosconfigDue = isDue(seen.talosconfig, seen.now) || leadsToFormer(seen, endpoints);
    if (isTalosconfigDue && mayBeDated(seen, seen.talosconfig) && mayTry(seen, writeTalosconfig, seen.talosconfig)) {
      const all = [...endpoints, ...ofPeople(seen, endpoints)];
      if (endpoints.length > 0) actions.push({ kind: "WriteTalosconfig", secret: talosconfigSecretName(owner), endpoints: all });
    }
    return actions.length === 0 ? undefined : { actions };
  },
};

/** Whose name the access Secrets carry: the first owner's (a TalosCluster), else the control plane's. */
export function accessOwner(seen: Pick<Observed, "controlPlane">): string {
  return seen.controlPlane.metadata.ownerReferences?.[0]?.name ?? seen.controlPlane.metadata.name;
}

/** The control plane whose turn it is: one that was not asked yet, else the one that was asked longest ago. */
function whomToAsk(seen: Observed): SeenMachine | undefined {
  const asked = ({ declared }: SeenMachine): ReturnType<Observed["sent"]["get"]> => seen.sent.get(askedForKubeconfig(declared.address));
  const willing = seen.machines.filter((machine) => {
    const { declared, look } = machine;
    if (declared.role !== "controlplane" || look.kind !== "running" || look.etcd?.members === undefined) return false;
    return asked(machine)?.outcome !== "refused" || mayAskAgain(seen, writeKubeconfig, declared.address);
  });
  return willing.toSorted((a, b) => (asked(a)?.order ?? 0) - (asked(b)?.order ?? 0))[0];
}

function isDue(access: Seen<SeenAccess>, now: number): boolean {
  if (access.kind === "unknown") return false;
  if (access.kind === "absent") return true;
  const { isOurs, isImmutable } = access.value;
  if (!isOurs) return false;
  return isImmutable !== true && isCloseToEnd(access.value, now);
}

/**
 * The certificate in it cannot be read, or is about to end: a month before, of a shorter life when a third is left. Or it has not begun: the clock of the operator
 * was ahead when it was made, and until it begins nobody gets in with it.
 */
export function isCloseToEnd({ expiresAt, validFrom }: SeenAccess, now: number): boolean {
  if (expiresAt === undefined) return true;
  if (validFrom !== undefined && validFrom > now + AHEAD_MS) return true;
  const third = validFrom === undefined ? RENEW_BEFORE_MS : (expiresAt - validFrom) / 3;
  return expiresAt - now < Math.min(RENEW_BEFORE_MS, third);
}

/**
 * False while nothing tells that the clock of the operator is right, and what would be replaced may be in order: a machine that answers has accepted a
 * certificate of ours that lives for half a day, and looks of before the clock was set back prove nothing.
 */
function mayBeDated({ machines, now }: Observed, access: Seen<SeenAccess>): boolean {
  if (access.kind !== "present" || access.value.expiresAt === undefined) return true;
  return machines.some(({ look }) => look.kind === "running" && look.at <= now);
}

/** The endpoint has changed since it was made; one that leads elsewhere, as the configuration of a machine may say, is left alone. */
function leadsToFormerEndpoint({ kubeconfig }: Observed, { endpoint, formerEndpoints = [] }: ClusterFacts): boolean {
  if (kubeconfig.kind !== "present" || !kubeconfig.value.isOurs || kubeconfig.value.isImmutable === true) return false;
  return kubeconfig.value.endpoints?.some((one) => one !== endpoint && formerEndpoints.includes(one)) === true;
}

/** It leads to a machine that left the cluster: whoever stands there now is another's, or nobody, and talosctl takes any of the endpoints. */
function leadsToFormer({ talosconfig, record }: Observed, endpoints: readonly string[]): boolean {
  if (talosconfig.kind !== "present" || !talosconfig.value.isOurs || talosconfig.value.isImmutable === true) return false;
  const machines = record.kind === "present" ? record.value.facts.machines : [];
  const left = new Set(machines.flatMap(({ address, releasedAt }) => (releasedAt === undefined ? [] : [address])));
  return (talosconfig.value.endpoints ?? []).some((one) => left.has(one) && !endpoints.includes(one));
}

/** What a person wrote into it, as a name before all control planes, stays. */
function ofPeople({ talosconfig, record }: Observed, endpoints: readonly string[]): readonly string[] {
  const written = talosconfig.kind === "present" && talosconfig.value.isOurs ? (talosconfig.value.endpoints ?? []) : [];
  const ours = new Set(record.kind === "present" ? record.value.facts.machines.map(({ address }) => address) : []);
  return written.filter((one) => !endpoints.includes(one) && !ours.has(one));
}

/** One that was written and is gone was deleted by somebody: it is made again at once. */
function mayTry(seen: Observed, effect: typeof writeKubeconfig | typeof writeTalosconfig, { kind }: Seen<SeenAccess>): boolean {
  const { pauseMs } = effect.retry;
  return mayAskAgain(seen, effect, undefined, kind === "present" ? pauseMs : { ...pauseMs, answered: 0 });
}

import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Clock, KeyPair, Keys, WorkloadDialer } from "@talos-operator/ports";
import { OPERATOR_MANAGER } from "../neighbours/foreign-writer.ts";
import { BACKDATE_MS } from "../secrets/credentials.ts";

/** Life of a client certificate from now on: one round of work. */
const LIFETIME_MS = 10 * 60_000;

/** How long one certificate is used. */
export const CERTIFICATE_IN_USE_MS = LIFETIME_MS / 2;

/**
 * As whom we act in a managed cluster. The first four are users that every cluster knows, with the rights that Kubernetes itself gives them; nothing is installed.
 *
 * `node`: the kubelet of one Node. It may cordon that Node, read its pods and evict them, and the API server keeps it from every other Node.
 * `nodes`: the node lifecycle controller. It may list, taint and delete Nodes, and no kubelet may.
 * `volumes`: the attach and detach controller. It may list what is attached, and no kubelet may.
 * `budgets`: the disruption controller. It may list PodDisruptionBudgets, and none of the others may.
 * `certificates`: the controller of certificate requests. It may read them, and approve none of those that kubelets serve with.
 * `approver`: an administrator under a name of its own, made when something is to be approved: no user that every cluster knows may approve those.
 * `addons`: an administrator under a name of its own: charts hold objects of every kind.
 */
export type WorkloadUser =
  | { readonly kind: "node"; readonly name: string }
  | { readonly kind: "volumes" }
  | { readonly kind: "nodes" | "budgets" | "certificates" | "approver" | "addons" };

/** The Kubernetes API of one managed cluster. */
export interface WorkloadPlace {
  /** Control planes that run, in the order to be tried. */
  addresses(): readonly string[];
  readonly endpoint: string;
  /** The cluster's Kubernetes authority, read for this one use. @throws EffectError `KEYS_UNUSABLE` */
  authority(): Promise<KeyPair>;
}

/** What reaching it needs. */
export interface WorkloadPorts {
  readonly dialer: WorkloadDialer;
  readonly keys: Keys;
  readonly clock: Clock;
}

/** An open client of a managed cluster's API. */
export interface WorkloadApi {
  readonly client: KubeClient;
  close(): void;
}

/** Opens the API with a certificate made for this use. Every call is sent once: whoever calls decides what to repeat. */
export async function openWorkloadApi(
  user: WorkloadUser,
  place: WorkloadPlace,
  { dialer, keys, clock }: WorkloadPorts,
): Promise<WorkloadApi> {
  const authority = await place.authority();
  const { certificate, key } = await keys.signCertificate(authority, {
    usage: "client",
    ...subjectOf(user),
    notBefore: clock.now() - BACKDATE_MS,
    lifetimeMs: BACKDATE_MS + LIFETIME_MS,
  });
  const transport = dialer.dial({ addresses: place.addresses(), endpoint: place.endpoint, ca: authority.certificate, certificate, key });
  return { client: createKubeClient(transport, undefined, OPERATOR_MANAGER), close: () => transport.close() };
}

export function subjectOf(user: WorkloadUser): { readonly commonName: string; readonly organizations: readonly string[] } {
  switch (user.kind) {
    case "node":
      return { commonName: `system:node:${user.name}`, organizations: ["system:nodes"] };
    case "nodes":
      // The second word tells it from the genuine controller in audit logs.
      return { commonName: "system:serviceaccount:kube-system:node-controller", organizations: ["talos-operator.dev"] };
    case "volumes":
      return { commonName: "system:serviceaccount:kube-system:attachdetach-controller", organizations: ["talos-operator.dev"] };
    case "budgets":
      return { commonName: "system:serviceaccount:kube-system:disruption-controller", organizations: ["talos-operator.dev"] };
    case "certificates":
      return { commonName: "system:serviceaccount:kube-system:certificate-controller", organizations: ["talos-operator.dev"] };
    case "approver":
      return { commonName: "talos-operator.dev:certificates", organizations: ["system:masters"] };
    case "addons":
      return { commonName: "talos-operator.dev:addons", organizations: ["system:masters"] };
  }
}

import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";

/** Requests for certificates of the managed cluster. */
export const requestType: ResourceType = {
  group: "certificates.k8s.io",
  version: "v1",
  plural: "certificatesigningrequests",
  kind: "CertificateSigningRequest",
  namespaced: false,
};

/** Who signs what kubelets serve with. */
export const SERVING_SIGNER = "kubernetes.io/kubelet-serving";

/** What every kubelet's name as a user begins with; the API server writes it into the request. */
export const NODE_USER = "system:node:";

/** What is read of a request. */
export type RequestObject = KubeObject & {
  readonly spec?: {
    readonly signerName?: string;
    readonly username?: string;
    readonly groups?: readonly string[];
    readonly usages?: readonly string[];
    /** PKCS #10 in PEM, base64. */
    readonly request?: string;
  };
  readonly status?: {
    readonly certificate?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
};

/** The newest request of one user, while nobody has decided about it. */
export interface OpenRequest {
  readonly object: RequestObject;
  /** The user that made it, as the API server knows it. */
  readonly username: string;
  /** When the first of its requests was made that nobody has decided about since. Milliseconds since the epoch. */
  readonly since: number;
}

/**
 * Requests for serving certificates that wait for somebody, one for each user. A kubelet asks anew every quarter of an hour and has no use for what it asked
 * before: a decision about its newest request answers the older ones.
 */
export function openRequests(objects: readonly RequestObject[]): readonly OpenRequest[] {
  const byUser = Map.groupBy(
    objects.filter(({ spec }) => spec?.signerName === SERVING_SIGNER),
    ({ spec }) => spec?.username ?? "",
  );
  return [...byUser]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([username, own]): readonly OpenRequest[] => {
      // Times are whole seconds: of two in one second the one that nobody decided came after the other.
      const newestFirst = own.toSorted(
        (a, b) => madeAt(b) - madeAt(a) || Number(isDecided(a)) - Number(isDecided(b)) || (nameOf(a) < nameOf(b) ? -1 : 1),
      );
      const decided = newestFirst.findIndex((one) => isDecided(one));
      const open = decided === -1 ? newestFirst : newestFirst.slice(0, decided);
      const [newest] = open;
      return newest === undefined ? [] : [{ object: newest, username, since: Math.min(...open.map(madeAt)) }];
    });
}

function isDecided({ status }: RequestObject): boolean {
  return (
    (status?.certificate ?? "") !== "" || (status?.conditions ?? []).some(({ type }) => ["Approved", "Denied", "Failed"].includes(type))
  );
}

function madeAt({ metadata }: RequestObject): number {
  const at = Date.parse(metadata?.creationTimestamp ?? "");
  return Number.isNaN(at) ? 0 : at;
}

function nameOf({ metadata }: RequestObject): string {
  return metadata?.name ?? "";
}

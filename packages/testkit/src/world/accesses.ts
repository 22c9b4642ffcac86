import type { KubeRequest, KubeTransport } from "@talos-operator/ports";

/** One right that a call needs, in the words of RBAC. */
export interface Access {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `talosclusters/status`. */
  readonly resource: string;
  /** Empty for cluster-scoped objects and for calls across all namespaces. */
  readonly namespace: string;
  /** Empty for collections. */
  readonly name: string;
}

const WRITES = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" } as const;

/**
 * The rights that Kubernetes asks for before it answers a request. Empty for what is no resource (discovery, versions).
 *
 * Beside the verb of the request: who makes an object that holds the deletion of its owner up (`blockOwnerDeletion`) needs `update` on the owner's
 * finalizers where the admission plugin OwnerReferencesPermissionEnforcement is on, as on OpenShift. A server-side apply may also need `create`:
 * the request does not tell, see {@link recorded}.
 */
function accessesOf(request: KubeRequest): readonly Access[] {
  const own = accessOf(request);
  if (own === undefined) return [];
  if (request.method === "GET" || request.method === "DELETE") return [own];
  const owners =
    (request.body as { readonly metadata?: { readonly ownerReferences?: readonly Owner[] } } | undefined)?.metadata?.ownerReferences ?? [];
  const held = owners
    .filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
    .map(({ apiVersion, kind }) => ({
      verb: "update",
      group: apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "",
      resource: `${kind.toLowerCase()}s/finalizers`,
      namespace: own.namespace,
      name: "",
    }));
  return [own, ...held];
}

interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly blockOwnerDeletion?: boolean;
}

function accessOf({ method, path, query }: KubeRequest): Access | undefined {
  const [root, ...segments] = path.slice(1).split("/").map(decodeURIComponent);
  const group = root === "apis" ? (segments.shift() ?? "") : "";
  const version = segments.shift();
  if ((root !== "api" && root !== "apis") || version === undefined || segments.length === 0) return undefined;
  // The namespace itself is a resource; what is below it is named by the segments after it.
  const namespace = segments[0] === "namespaces" && segments.length > 2 ? (segments.splice(0, 2)[1] ?? "") : "";
  const [plural = "", name = "", subresource] = segments;
  const read = query?.["watch"] === "true" ? "watch" : name === "" ? "list" : "get";
  return {
    verb: method === "GET" ? read : WRITES[method],
    group,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    namespace,
    name,
  };
}

/** A transport that tells which rights its calls needed. An apply that was answered with 201 needed `create`, too. */
export function recorded(kube: KubeTransport, tell: (access: Access) => void): KubeTransport {
  const note = (request: KubeRequest): void => accessesOf(request).forEach(tell);
  return {
    ...kube,
    async send(request, options) {
      note(request);
      const answer = await kube.send(request, options);
      const own = accessOf(request);
      if (own?.verb === "patch" && answer.status === 201) tell({ ...own, verb: "create", name: "" });
      return answer;
    },
    watch(request, options) {
      note(request);
      return kube.watch(request, options);
    },
  };
}

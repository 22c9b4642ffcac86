import type { KubeCallOptions, KubeRequest, KubeTransport } from "@talos-operator/ports";
import type { EtcdDatabase } from "@talos-operator/simulator";

/**
 * The API over an etcd that may refuse writes, for want of space or for corrupt data: reads go on, and what would be written is refused in kube-apiserver's words.
 * Without space a delete goes on that takes an object away at once; one that first writes when it is to go, or that finalizers hold up, is a write. An etcd of
 * which nobody asked anything takes everything.
 *
 * @see Kubernetes `staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go` Delete, `.../pkg/storage/etcd3/store.go`
 */
export function overEtcd(api: KubeTransport, database: () => EtcdDatabase | undefined): KubeTransport {
  return {
    ...api,
    send: async (request, options) => {
      const etcd = database();
      if (request.method === "GET" || etcd?.isWatched !== true || keepsNothing(request)) return api.send(request, options);
      const bytes = JSON.stringify(request.body ?? "").length;
      const isErased = request.method === "DELETE" && (await goesAtOnce(api, request, options));
      const refusal = isErased ? etcd.erase(bytes) : etcd.put(bytes, { keeps: request.method === "POST" });
      return refusal === undefined ? api.send(request, options) : { status: 500, headers: {}, body: refused(refusal) };
    },
  };
}

/** Reviews are answered and not kept; what is only tried is not either. */
function keepsNothing({ path, query }: KubeRequest): boolean {
  return /^\/apis\/(authentication|authorization)\.k8s\.io\//.test(path) || query?.["dryRun"] !== undefined;
}

async function goesAtOnce(api: KubeTransport, { path, body, query }: KubeRequest, options?: KubeCallOptions): Promise<boolean> {
  const found = await api.send({ method: "GET", path }, options);
  const object = found.body as { readonly kind?: string; readonly metadata?: { readonly finalizers?: readonly string[] } } | undefined;
  if (found.status !== 200 || object?.kind?.endsWith("List") === true) return true;
  const asked = (body ?? {}) as { readonly gracePeriodSeconds?: number; readonly propagationPolicy?: string };
  const policy = query?.["propagationPolicy"] ?? asked.propagationPolicy;
  if ((object?.metadata?.finalizers ?? []).length > 0 || policy === "Foreground" || policy === "Orphan") return false;
  const grace = Number(query?.["gracePeriodSeconds"] ?? asked.gracePeriodSeconds ?? Number.NaN);
  return object?.kind !== "Pod" || grace === 0;
}

function refused(message: string): object {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 };
}

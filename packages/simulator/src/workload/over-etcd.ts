import type { KubeRequest, KubeTransport } from "@talos-operator/ports";
import type { EtcdDatabase } from "../etcd/etcd-database.ts";

/** What etcd has to be told of a request of the Kubernetes API. */
export interface StoredRequest extends Pick<KubeRequest, "path" | "query" | "body"> {
  readonly method: string;
}

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
      if (etcd === undefined || !isCounted(etcd, request)) return api.send(request, options);
      const found = request.method === "DELETE" ? await api.send({ method: "GET", path: request.path }, options) : undefined;
      const refusal = refusalOf(etcd, request, found?.status === 200 ? found.body : undefined);
      return refusal === undefined ? api.send(request, options) : { status: 500, headers: {}, body: refusal };
    },
  };
}

/** It would be written into an etcd whose writes count. Reviews are answered and not kept; what is only tried is not either. */
export function isCounted({ isWatched }: EtcdDatabase, { method, path, query }: StoredRequest): boolean {
  if (!isWatched || method === "GET") return false;
  return !/^\/apis\/(authentication|authorization)\.k8s\.io\//.test(path) && query?.["dryRun"] === undefined;
}

/** Tells etcd of the request; the Status it is refused with, `undefined` = it is taken. `stored` = what a delete would take away, `undefined` = nothing. */
export function refusalOf(etcd: EtcdDatabase, request: StoredRequest, stored: unknown): object | undefined {
  const bytes = JSON.stringify(request.body ?? "").length;
  const isErased = request.method === "DELETE" && goesAtOnce(request, stored);
  const message = isErased ? etcd.erase(bytes) : etcd.put(bytes, { keeps: request.method === "POST" });
  return message === undefined ? undefined : { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 };
}

function goesAtOnce({ body, query }: StoredRequest, stored: unknown): boolean {
  const object = stored as { readonly kind?: string; readonly metadata?: { readonly finalizers?: readonly string[] } } | undefined;
  if (object === undefined || object.kind?.endsWith("List") === true) return true;
  const asked = (body ?? {}) as { readonly gracePeriodSeconds?: number; readonly propagationPolicy?: string };
  const policy = query?.["propagationPolicy"] ?? asked.propagationPolicy;
  if ((object.metadata?.finalizers ?? []).length > 0 || policy === "Foreground" || policy === "Orphan") return false;
  const grace = Number(query?.["gracePeriodSeconds"] ?? asked.gracePeriodSeconds ?? Number.NaN);
  return object.kind !== "Pod" || grace === 0;
}

import type { ApiServer } from "@talos-operator/apiserver";
import { isCounted, refusalOf, type EtcdDatabase } from "@talos-operator/simulator";

/** The API of a simulated cluster, whose etcd may be full or corrupt: what it refuses is answered as kube-apiserver does. */
export function servedOverEtcd(server: ApiServer, database: () => EtcdDatabase | undefined): ApiServer {
  return {
    ...server,
    handle(request) {
      const etcd = database();
      if (etcd === undefined || !isCounted(etcd, request)) return server.handle(request);
      const found = request.method === "DELETE" ? server.handle({ ...request, method: "GET", query: {}, body: undefined }) : undefined;
      const stored = found?.kind === "answer" && found.status === 200 ? found.body : undefined;
      const refusal = refusalOf(etcd, request, stored);
      return refusal === undefined ? server.handle(request) : { kind: "answer", status: 500, headers: {}, body: refusal };
    },
  };
}

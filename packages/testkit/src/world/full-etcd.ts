import type { KubeTransport } from "@talos-operator/ports";

/** The API over an etcd that may have raised NOSPACE: reads go on, and writes are refused in kube-apiserver's words. */
export function overEtcd(api: KubeTransport, isFull: () => boolean): KubeTransport {
  return {
    ...api,
    send: async (request, options) =>
      request.method !== "GET" && isFull() ? { status: 500, headers: {}, body: spaceExceeded } : api.send(request, options),
  };
}

const spaceExceeded = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: "etcdserver: mvcc: database space exceeded",
  code: 500,
};

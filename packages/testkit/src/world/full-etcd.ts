import type { KubeTransport } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";

/** Whether a member of the etcd behind a cluster, by the cluster's key, has raised NOSPACE. */
export function isEtcdFull(datacenter: Datacenter, key: string): boolean {
  return datacenter.machines().some(({ state }) => state.etcdAlarm === "NOSPACE" && state.etcd.data?.cluster === key);
}

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

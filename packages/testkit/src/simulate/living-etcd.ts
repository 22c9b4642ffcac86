import type { Datacenter, EtcdCluster } from "@talos-operator/simulator";

/** The etcd clusters of which some machine still holds data; the others were those of clusters that were wiped. */
export function livingEtcd(datacenter: Datacenter): readonly EtcdCluster[] {
  const held = new Set(datacenter.machines().map(({ state }) => state.etcd.data?.memberId));
  return datacenter.etcdClusters().filter(({ members }) => members.some(({ id }) => held.has(id)));
}

import type { ConfigChange } from "@talos-operator/talos";

/** A changed quota of etcd, or what stands at another path; it comes into force with a boot. */
export function changedQuota(
  before: string | undefined,
  after: string | undefined,
  path = "cluster.etcd.extraArgs.quota-backend-bytes",
): ConfigChange {
  return {
    document: "/v1alpha1/",
    path,
    change: "changed",
    effect: "reboot",
    services: [],
    rebootsItself: false,
    reason: "",
    before,
    after,
  };
}

import type { SecretsBundle } from "@talos-operator/talos";

/** Words in place of keys: the generator copies them and looks into none. */
export const noSecrets: SecretsBundle = {
  cluster: { id: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", secret: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" },
  secrets: { bootstrapToken: "aaaaaa.aaaaaaaaaaaaaaaa", secretboxEncryptionSecret: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" },
  trustdInfo: { token: "aaaaaa.aaaaaaaaaaaaaaaa" },
  certs: {
    etcd: { certificate: "etcd", key: "etcd" },
    k8s: { certificate: "k8s", key: "k8s" },
    k8sAggregator: { certificate: "aggregator", key: "aggregator" },
    k8sServiceAccount: { key: "serviceAccount" },
    os: { certificate: "os", key: "os" },
  },
};

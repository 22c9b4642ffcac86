import { describeMachineConfig, type AuthorityFacts } from "../config/describe.ts";
import { ConfigError } from "../config/errors.ts";
import { loadConfig } from "../config/patch/patch.ts";
import { createSecretsBundle, type SecretsBundle } from "./bundle.ts";

/**
 * The secrets bundle of the cluster whose control plane has this config, of any contract: how a cluster that others made is taken over.
 *
 * @throws ConfigError `INVALID_BUNDLE` when the config lacks a secret (that of a worker does), and the codes of reading a config
 */
export function secretsBundleFromMachineConfig(text: string): SecretsBundle {
  loadConfig(text, "1.14");
  const facts = describeMachineConfig(text);
  const { secretboxEncryptionSecret: secretbox, aescbcEncryptionSecret: aescbc } = facts;
  if (secretbox === undefined && aescbc === undefined) throw missing("an encryption secret");
  return createSecretsBundle({
    cluster: { id: needed(facts.clusterId, "cluster.id"), secret: needed(facts.clusterSecret, "cluster.secret") },
    secrets: {
      bootstrapToken: needed(facts.bootstrapToken, "cluster.token"),
      ...(secretbox === undefined ? {} : { secretboxEncryptionSecret: secretbox }),
      ...(aescbc === undefined ? {} : { aescbcEncryptionSecret: aescbc }),
    },
    trustdInfo: { token: needed(facts.machineToken, "machine.token") },
    certs: {
      etcd: pair(facts.etcdCa, "the etcd CA"),
      k8s: pair(facts.kubernetesCa, "the Kubernetes CA"),
      k8sAggregator: pair(facts.aggregatorCa, "the aggregator CA"),
      k8sServiceAccount: { key: needed(facts.serviceAccountKey, "the service account key") },
      os: pair(facts.osCa, "the Talos CA"),
    },
  });
}

function pair(authority: AuthorityFacts | undefined, what: string): { certificate: string; key: string } {
  return { certificate: needed(authority?.certificate, what), key: needed(authority?.key, `the key of ${what}`) };
}

function needed(value: string | undefined, what: string): string {
  if (value === undefined) throw missing(what);
  return value;
}

function missing(what: string): ConfigError {
  return new ConfigError("INVALID_BUNDLE", `the config does not hold ${what}: give the config of a control plane`);
}

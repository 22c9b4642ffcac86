import { describeMachineConfig, type AuthorityFacts } from "../config/describe.ts";
import { loadConfig } from "../config/patch/patch.ts";
import type { SecretsBundle } from "./bundle.ts";
import { bundleOfParts, type BundleParts, type PairParts } from "./parts.ts";

/**
 * The secrets bundle of the cluster whose control plane has this config, of any contract: how a cluster that others made is taken over.
 *
 * @throws ConfigError `INVALID_BUNDLE` with all secrets that the config lacks (that of a worker lacks most), and the codes of reading a config
 */
export function secretsBundleFromMachineConfig(text: string): SecretsBundle {
  return bundleOfParts(bundlePartsOfMachineConfig(text));
}

/** What a config says of the bundle of its cluster. */
export function bundlePartsOfMachineConfig(text: string): BundleParts {
  loadConfig(text, "1.14");
  const facts = describeMachineConfig(text);
  return {
    cluster: { id: facts.clusterId ?? "", secret: facts.clusterSecret ?? "" },
    secrets: {
      bootstrapToken: facts.bootstrapToken ?? "",
      secretbox: facts.secretboxEncryptionSecret ?? "",
      aescbc: facts.aescbcEncryptionSecret ?? "",
    },
    trustdInfo: { token: facts.machineToken ?? "" },
    certs: {
      etcd: pair(facts.etcdCa),
      k8s: pair(facts.kubernetesCa),
      k8sAggregator: pair(facts.aggregatorCa),
      k8sServiceAccount: facts.serviceAccountKey === undefined ? undefined : { key: facts.serviceAccountKey },
      os: pair(facts.osCa),
    },
  };
}

/** A worker knows the certificates of its authorities, not their keys. */
function pair(authority: AuthorityFacts | undefined): PairParts | undefined {
  return authority === undefined ? undefined : { certificate: authority.certificate, key: authority.key ?? "" };
}

import { createHash } from "node:crypto";
import {
  describeMachineConfig,
  fingerprintSecretsBundle,
  isConfigError,
  patchMachineConfig,
  secretsBundleFromMachineConfig,
} from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import { ConfigText } from "@talos-operator/talos/client";
import type { ConfigBase } from "../model/machine.ts";

/** What a text says of itself. @throws ConfigError for one that cannot be read */
export function readConfigBase(text: string, source: string): ConfigBase {
  // Unknown fields and kinds are found out here: what only describes passes them over.
  patchMachineConfig(text, ['{"machine":{}}']);
  const facts = describeMachineConfig(text);
  const bundle = wholeBundle(text);
  return {
    source,
    hash: createHash("sha256").update(text).digest("hex").slice(0, 16),
    machineType: facts.machineType === "init" ? "controlplane" : facts.machineType,
    endpoint: facts.endpoint === "" ? undefined : facts.endpoint,
    podSubnets: facts.podSubnets,
    serviceSubnets: facts.serviceSubnets,
    kubernetesVersion: facts.kubernetesVersion === undefined ? undefined : `v${facts.kubernetesVersion}`,
    installDisk: facts.install.disk,
    rotatesServerCertificates: facts.rotatesServerCertificates,
    fingerprint: bundle === undefined ? undefined : fingerprintSecretsBundle(bundle),
    keys: keysOf(text)
      .filter(({ value }) => value !== undefined && value !== "")
      .map(({ name }) => name),
    clusterId: facts.clusterId === "" ? undefined : facts.clusterId,
    text: new ConfigText(text),
  };
}

/** The secrets bundle in a config; `undefined` when not all of it is there. */
export function wholeBundle(text: string): SecretsBundle | undefined {
  try {
    return secretsBundleFromMachineConfig(text);
  } catch (thrown) {
    if (isConfigError(thrown)) return undefined;
    throw thrown;
  }
}

interface NamedKey {
  readonly name: string;
  /** PEM text, token or secret as it stands in the config. */
  readonly value: string | undefined;
}

/** Keys, tokens and identity in a config, by the path where Talos up to 1.13 has them. */
function keysOf(text: string): readonly NamedKey[] {
  const facts = describeMachineConfig(text);
  return [
    { name: "cluster.id", value: facts.clusterId },
    { name: "cluster.secret", value: facts.clusterSecret },
    { name: "machine.token", value: facts.machineToken },
    { name: "cluster.token", value: facts.bootstrapToken },
    { name: "machine.ca.crt", value: facts.osCa?.certificate },
    { name: "machine.ca.key", value: facts.osCa?.key },
    { name: "cluster.ca.crt", value: facts.kubernetesCa?.certificate },
    { name: "cluster.ca.key", value: facts.kubernetesCa?.key },
    { name: "cluster.aggregatorCA.crt", value: facts.aggregatorCa?.certificate },
    { name: "cluster.aggregatorCA.key", value: facts.aggregatorCa?.key },
    { name: "cluster.etcd.ca.crt", value: facts.etcdCa?.certificate },
    { name: "cluster.etcd.ca.key", value: facts.etcdCa?.key },
    { name: "cluster.serviceAccount.key", value: facts.serviceAccountKey },
    { name: "cluster.secretboxEncryptionSecret", value: facts.secretboxEncryptionSecret },
    { name: "cluster.aescbcEncryptionSecret", value: facts.aescbcEncryptionSecret },
  ];
}

/**
 * Names of keys in a config that another config of the same role and cluster has otherwise; what it leaves out is no difference.
 *
 * @param own a config that was made with the cluster's keys
 */
export function foreignKeys(text: string, own: string): readonly string[] {
  const wanted = new Map(keysOf(own).map(({ name, value }) => [name, value ?? ""]));
  return keysOf(text)
    .filter(({ name, value }) => value !== undefined && value !== "" && value !== wanted.get(name))
    .map(({ name }) => name);
}

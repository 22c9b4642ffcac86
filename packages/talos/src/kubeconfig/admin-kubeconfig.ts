import type { Keys } from "@talos-operator/ports";
import { describeMachineConfig } from "../config/describe.ts";
import { ConfigError } from "../config/errors.ts";
import { tryParseDuration } from "../config/scalars/duration.ts";
import { nodeAt, textAt } from "../config/yaml/navigate.ts";
import { emitYaml } from "../config/yaml/emit.ts";
import { readYaml } from "../config/yaml/read.ts";

/** What the admin kubeconfig of a cluster is made from. */
export interface AdminKubeconfigInput {
  /** Config of a control plane. */
  readonly machineConfig: string;
  readonly keys: Keys;
  /** Milliseconds since the epoch; the certificate is valid from ten seconds before. */
  readonly now: number;
}

/**
 * The kubeconfig that a control plane hands out: `admin` in `system:masters`, signed by the cluster's CA, valid for the configured time
 * (a year by default).
 *
 * @throws ConfigError `INVALID_INPUT` when the config holds no CA key, no name or no endpoint
 * @see siderolabs/talos `pkg/kubeconfig/generate.go`
 */
export async function generateAdminKubeconfig({ machineConfig, keys, now }: AdminKubeconfigInput): Promise<string> {
  const facts = describeMachineConfig(machineConfig);
  const { clusterName, endpoint, kubernetesCa } = facts;
  if (kubernetesCa?.key === undefined || endpoint === undefined || clusterName === undefined) {
    throw new ConfigError(
      "INVALID_INPUT",
      "a kubeconfig needs the cluster's name, endpoint and CA with its key: give the config of a control plane",
    );
  }
  const marginMs = 10_000;
  const client = await keys.signCertificate(
    { certificate: kubernetesCa.certificate, key: kubernetesCa.key },
    {
      usage: "client",
      commonName: "admin",
      organizations: ["system:masters"],
      notBefore: now - marginMs,
      lifetimeMs: lifetimeMsOf(machineConfig) + marginMs,
    },
  );
  const authorities = [...facts.kubernetesAcceptedCas.filter((ca) => ca !== kubernetesCa.certificate), kubernetesCa.certificate];
  const name = `admin@${clusterName}`;
  return emitYaml(
    {
      apiVersion: "v1",
      clusters: [{ cluster: { "certificate-authority-data": base64(authorities.join("")), server: endpoint }, name: clusterName }],
      contexts: [{ context: { cluster: clusterName, namespace: "default", user: name }, name }],
      "current-context": name,
      kind: "Config",
      users: [{ name, user: { "client-certificate-data": base64(client.certificate), "client-key-data": base64(client.key) } }],
    },
    { indent: 2, isOlder: true },
  );
}

function lifetimeMsOf(machineConfig: string): number {
  const legacy = readYaml(machineConfig).find(({ root }) => nodeAt(root, "cluster") !== undefined)?.root;
  const lifetime = textAt(legacy, "cluster", "adminKubeconfig", "certLifetime");
  const nanoseconds = lifetime === undefined ? undefined : tryParseDuration(lifetime);
  return nanoseconds === undefined || nanoseconds === 0n ? 8760 * 3600 * 1000 : Number(nanoseconds / 1_000_000n);
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

import { isConfigError } from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import { renderMachineConfig } from "./render.ts";
import type { RenderInput } from "./render.ts";

/** Words in place of keys: the generator copies them and looks into none. */
const noSecrets: SecretsBundle = {
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

/** Most text of patches that one machine may have, in characters. */
const MAX_PATCH_CHARACTERS = 1024 * 1024;

/**
 * Whether a configuration can be made at all, found before any key or machine is touched: renders it with words in place of keys.
 *
 * @returns the trouble in words that name document and path, or `undefined`
 */
export function configTrouble(input: Omit<RenderInput, "secrets">): string | undefined {
  const { configPatches, additionalConfig } = input.machineSpec;
  if (JSON.stringify([configPatches, additionalConfig]).length > MAX_PATCH_CHARACTERS)
    return "patches and documents together are larger than 1 MiB. Make them smaller";
  try {
    renderMachineConfig({ ...input, secrets: noSecrets });
    return undefined;
  } catch (thrown) {
    if (isConfigError(thrown) || (thrown instanceof Error && thrown.name === "ConfigRefusal")) return thrown.message;
    throw thrown;
  }
}

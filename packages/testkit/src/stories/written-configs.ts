import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import { generateMachineConfig, generateSecretsBundle, patchMachineConfig } from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import { configMapType } from "../world/kinds.ts";
import { apply } from "./quiet.ts";
import { demoCluster } from "./story.ts";
import type { Story } from "./story.ts";

/** A reference to a key of the ConfigMap that {@link putConfigs} makes. */
export const reference = (key: string) => ({ configRef: { name: "demo-config", key } });

/** Endpoint in the configs of {@link writtenConfig}. */
export const writtenEndpoint = "https://10.5.0.100:6443";

export function bundleOf(world: Story, seed = 40): Promise<SecretsBundle> {
  return generateSecretsBundle({ contract: "1.13", clock: world.time.clock, random: createSeededRandom(seed), keys: world.keys });
}

/** What `talosctl gen config` writes, with a sign that tells it from what the operator would write. */
export function writtenConfig(role: "controlplane" | "worker", secrets: SecretsBundle, ...patches: object[]): string {
  const plain = generateMachineConfig({
    role,
    clusterName: "by-hand",
    endpoint: writtenEndpoint,
    contract: "1.13",
    kubernetesVersion: "v1.36.3",
    secrets,
    install: { disk: "/dev/sda", image: "ghcr.io/siderolabs/installer:v1.13.9" },
  });
  const sign = { machine: { sysctls: { "vm.max_map_count": "262144" } } };
  return patchMachineConfig(
    plain,
    [sign, ...patches].map((patch) => JSON.stringify(patch)),
  );
}

/** Makes or changes the ConfigMap that {@link reference} names. */
export async function putConfigs(world: Story, data: Readonly<Record<string, string>>): Promise<void> {
  const key = { namespace: "default", name: "demo-config" };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: key, data };
  if ((await world.client.resource(configMapType).tryGet(key)) === undefined) await apply(world, configMapType, object);
  else await world.client.resource(configMapType).patch(key, { type: "merge", value: { data } });
}

/** A cluster whose control plane, and worker if one is given, have configs that a person wrote. */
export function writtenCluster(controlPlane: object = reference("controlplane.yaml"), worker?: object): ReturnType<typeof demoCluster> {
  const made = demoCluster(["10.5.0.1"], worker === undefined ? [] : ["10.5.0.4"], { endpoint: undefined, ...controlPlane });
  Object.assign(made.spec?.worker ?? {}, worker);
  return made;
}

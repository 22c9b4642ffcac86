import type { KubeObject } from "@talos-operator/kube-runtime";
import { contractFor, generateMachineConfig, parseSecretsBundle, patchMachineConfig } from "@talos-operator/talos";
import { configMapType, secretType, type Secret } from "../../world/kinds.ts";
import { pick } from "../fault.ts";
import { chooseScenario, CLUSTER_NAME, ENDPOINT, NAMESPACE, WRITTEN_CONFIGS } from "../scenario.ts";
import { bundleKey } from "../troubles/input.ts";
import type { EditableWorld, Workload } from "../workload.ts";
import { isSettled, wantedMachines } from "./machines.ts";

const key = { namespace: NAMESPACE, name: WRITTEN_CONFIGS } as const;

/** A config for each role as a person would write it, with a setting that tells it from others. */
async function writeConfigs({ scenario, client }: EditableWorld, somaxconn: string): Promise<void> {
  const kept = await client.resource<Secret>(secretType).get(bundleKey);
  const secrets = parseSecretsBundle(Buffer.from(kept.data?.["bundle"] ?? "", "base64").toString("utf8"));
  const textFor = (role: "controlplane" | "worker"): string =>
    patchMachineConfig(
      generateMachineConfig({
        role,
        clusterName: CLUSTER_NAME,
        endpoint: ENDPOINT,
        contract: contractFor(scenario.talosVersion),
        kubernetesVersion: scenario.kubeVersion,
        secrets,
        install: { disk: "/dev/sda", image: `ghcr.io/siderolabs/installer:${scenario.talosVersion}` },
      }),
      [JSON.stringify({ machine: { sysctls: { "net.core.somaxconn": somaxconn } } })],
    );
  const data = { controlplane: textFor("controlplane"), worker: textFor("worker") };
  const configMaps = client.resource(configMapType);
  if ((await configMaps.tryGet(key)) !== undefined) await configMaps.patch(key, { type: "merge", value: { data } });
  else await configMaps.create({ apiVersion: "v1", kind: "ConfigMap", metadata: key, data } as KubeObject);
}

function allRun(world: EditableWorld, somaxconn: string | undefined): boolean {
  const line = /net\.core\.somaxconn: "?(\d+)/;
  return wantedMachines(world).every(
    ({ state }) => line.exec(state.config.active ?? "")?.[1] === somaxconn && line.exec(state.config.persisted ?? "")?.[1] === somaxconn,
  );
}

const OLDER = [
  { talosVersion: "v1.12.11", kubeVersion: "v1.35.4" },
  { talosVersion: "v1.13.9", kubeVersion: "v1.36.3" },
] as const;

/** Whole configurations that a person wrote. */
export const writtenConfigs: Workload = {
  name: "config-ref",
  about: "machines get configs that a person wrote: they are referred to, lost, and put back with another text",
  // Configs of 1.14 are checked down to their certificates, and the keys of these worlds are none.
  choose: (random) => ({ ...chooseScenario(random, { controlPlanes: [1], workers: [0, 1] }), ...pick(OLDER, random) }),
  steps: () => [
    {
      what: "refer to a config that a person wrote",
      async make(world) {
        await writeConfigs(world, "1024");
        await world.edit({ hasWrittenConfigs: true });
      },
      isReached: (world) => isSettled(world) && allRun(world, "1024"),
    },
    {
      what: "lose it",
      async make(world) {
        await world.client.resource(configMapType).delete(key);
      },
      isReached: ({ objects, ...world }) =>
        allRun({ objects, ...world }, "1024") &&
        objects.get("taloscontrolplanes", CLUSTER_NAME)?.status?.conditions?.some(({ reason }) => reason === "ReferenceNotFound") === true,
    },
    {
      what: "put another one there",
      make: (world) => writeConfigs(world, "4096"),
      isReached: (world) => isSettled(world) && allRun(world, "4096"),
    },
  ],
};

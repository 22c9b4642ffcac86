// Clusters with releases of addons, and what the stories about them ask.
import { talosClusterAddonReleaseResource } from "@talos-operator/api";
import type { HelmSpec, TalosClusterAddonRelease, TalosClusterAddonReleaseSpec } from "@talos-operator/api";
import { createSimulatedHelm } from "../world/simulated-helm.ts";
import type { SimulatedHelm } from "../world/simulated-helm.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story, StoryOptions } from "./story.ts";

export const API = "talos.alperen.cloud/v1alpha1";
export const ENDPOINT = "https://10.5.0.100:6443";
export const key = (name: string) => ({ namespace: "default", name });
export const chart: HelmSpec = { chartName: "web", repoURL: "https://charts.example.org", namespace: "web", releaseName: "web" };
export { secretType } from "../world/kinds.ts";

/** A cluster `demo` that runs, and a Helm whose runs take three seconds. */
export function tellReleases(
  story: (world: Story, helm: SimulatedHelm) => Promise<void>,
  isReady = true,
  options: StoryOptions = {},
): Promise<void> {
  let helm: SimulatedHelm | undefined;
  const addons = () => {
    if (helm === undefined) throw new Error("the story has not begun");
    return { runner: helm.runner };
  };
  return tell({ ...options, addons }, async (world) => {
    helm = createSimulatedHelm(world.time.clock);
    await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"]));
    await world.start();
    if (isReady) await world.untilReady();
    await story(world, helm);
  });
}

export async function release(
  world: Story,
  name: string,
  over: Partial<TalosClusterAddonReleaseSpec> = {},
  notes: Readonly<Record<string, string>> = {},
): Promise<void> {
  await apply(world, talosClusterAddonReleaseResource, {
    apiVersion: API,
    kind: "TalosClusterAddonRelease",
    metadata: { ...key(name), annotations: notes },
    spec: { clusterRef: { name: "demo" }, helmSpec: { ...chart, releaseName: name }, ...over },
  });
}

export const read = (world: Story, name: string): Promise<TalosClusterAddonRelease | undefined> =>
  world.client.resource<TalosClusterAddonRelease>(talosClusterAddonReleaseResource).tryGet(key(name));
export const readyOf = async (world: Story, name: string): Promise<string | undefined> =>
  (await read(world, name))?.status?.conditions?.find(({ type }) => type === "Ready")?.reason;
export const until = (world: Story, name: string, reason: string, seconds = 120): Promise<void> =>
  world.until(`${name} says ${reason}`, async () => (await readyOf(world, name)) === reason, seconds);
export const edit = (world: Story, name: string, value: Record<string, unknown>): Promise<unknown> =>
  world.client.resource(talosClusterAddonReleaseResource).patch(key(name), { type: "merge", value: { spec: { helmSpec: value } } });
export const remove = (world: Story, name: string): Promise<unknown> =>
  world.client.resource(talosClusterAddonReleaseResource).delete(key(name));
export const gone = (world: Story, name: string, seconds = 120): Promise<void> =>
  world.until(`${name} is gone`, async () => (await read(world, name)) === undefined, seconds);

import {
  annotations,
  talosClusterAddonReleaseResource,
  talosClusterAddonResource,
  talosClusterResource,
  talosControlPlaneResource,
} from "@talos-operator/api";
import type { HelmSpec, TalosClusterAddon, TalosClusterAddonRelease } from "@talos-operator/api";
import { secretType } from "../../world/kinds.ts";
import { chooseScenario, CLUSTER_NAME, NAMESPACE } from "../scenario.ts";
import { ADDON_TROUBLES } from "../troubles/kinds.ts";
import type { EditableWorld, Step, Workload } from "../workload.ts";
import { isDeleted } from "./deletion.ts";
import { growOrReplace, isSettled } from "./machines.ts";

const API = "talos.alperen.cloud/v1alpha1";
const NET = "net";
const WEB = "web";
const EXTRA = "extra";
const SECRET = "web-values";
/** A secret that nothing but Helm may read. */
const TOKEN = "token: kJ8fQz2Lw0RtYx5VbN7mCd3HsGp9";
const LABELS = { addons: "wanted" };

const chart = (name: string, over: Partial<HelmSpec> = {}): HelmSpec => ({
  chartName: name,
  repoURL: "https://charts.example.org",
  namespace: name,
  releaseName: name,
  ...over,
});

const releaseOf = (addon: string): string => `${CLUSTER_NAME}-${addon}-addonrelease`;

function release(world: EditableWorld, name: string): TalosClusterAddonRelease | undefined {
  return world.objects.get("talosclusteraddonreleases", name) as unknown as TalosClusterAddonRelease | undefined;
}

/** It says that it is installed, of the spec as it is now, and Helm runs just that. */
function isInstalled(world: EditableWorld, name: string, value?: string): boolean {
  const { status } = release(world, name) ?? {};
  const helmName = `${status?.releaseNamespace ?? ""}/${status?.releaseName ?? ""}`;
  const deployed = world.addons?.deployed(helmName);
  return (
    world.objects.isReady("talosclusteraddonreleases", name) &&
    status?.run === undefined &&
    deployed !== undefined &&
    deployed.inputs === status?.inputs &&
    (value === undefined || deployed.values.some((text) => text.includes(value)))
  );
}

function isIdle(world: EditableWorld): boolean {
  return world.addons?.isIdle() === true;
}

async function addon(world: EditableWorld, name: string, over: Partial<TalosClusterAddon["spec"]>): Promise<void> {
  await world.client.resource<TalosClusterAddon>(talosClusterAddonResource).create({
    apiVersion: API,
    kind: "TalosClusterAddon",
    metadata: { namespace: NAMESPACE, name },
    spec: { clusterSelector: { matchLabels: LABELS }, helmSpec: chart(name), ...over },
  });
}

const editAddon = (world: EditableWorld, name: string, spec: object): Promise<unknown> =>
  world.client.resource(talosClusterAddonResource).patch({ namespace: NAMESPACE, name }, { type: "merge", value: { spec } });

/** Labels of the object that a person applied. */
async function label(world: EditableWorld, labels: Readonly<Record<string, string | null>>): Promise<void> {
  const resource = world.scenario.shape === "cluster" ? talosClusterResource : talosControlPlaneResource;
  await world.client
    .resource(resource)
    .patch({ namespace: NAMESPACE, name: CLUSTER_NAME }, { type: "merge", value: { metadata: { labels } } });
}

/** Two addons, of which one needs the other, and a release that a person wrote. */
const install: Step = {
  what: "install two addons, and a release by hand",
  async make(world) {
    await world.client.resource(secretType).create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: NAMESPACE, name: SECRET },
      type: "Opaque",
      data: { "values.yaml": Buffer.from(TOKEN).toString("base64") },
    } as never);
    await addon(world, WEB, {
      dependsOn: [NET],
      rollback: "lastGood",
      helmSpec: chart(WEB, { valuesFrom: [{ kind: "Secret", name: SECRET }] }),
    });
    await world.client.resource<TalosClusterAddonRelease>(talosClusterAddonReleaseResource).create({
      apiVersion: API,
      kind: "TalosClusterAddonRelease",
      metadata: { namespace: NAMESPACE, name: EXTRA },
      spec: { clusterRef: { name: CLUSTER_NAME }, helmSpec: chart(EXTRA, { values: { step: "first" } }) },
    });
    await label(world, LABELS);
    await addon(world, NET, { helmSpec: chart(NET, { values: { step: "first" } }) });
  },
  isReached: (world) =>
    [releaseOf(NET), releaseOf(WEB), EXTRA].every((name) => isInstalled(world, name)) && isIdle(world) && isSettled(world),
};

/** Addons on a cluster that lives. */
export const addons: Workload = {
  name: "addons",
  about: "addons are installed, edited while machines come and go, no longer selected, and deleted",
  choose: (random) => ({ ...chooseScenario(random, { controlPlanes: [1, 3], workers: [0, 1], spares: 2 }), hasAddons: true }),
  steps: (_scenario, random) => [
    install,
    {
      what: "edit them while machines come and go",
      async make(world) {
        await editAddon(world, NET, { helmSpec: { values: { step: "second" } } });
        await world.client
          .resource(talosClusterAddonReleaseResource)
          .patch({ namespace: NAMESPACE, name: EXTRA }, { type: "merge", value: { spec: { helmSpec: { values: { step: "second" } } } } });
        await growOrReplace(world);
        await editAddon(world, WEB, { helmSpec: { values: { step: "second" } } });
        // In the middle of it.
        world.timers.schedule(
          Math.floor(random.fraction() * 10_000),
          () => void editAddon(world, WEB, { helmSpec: { values: { step: "third" } } }),
        );
      },
      isReached: (world) =>
        isInstalled(world, releaseOf(NET), "second") &&
        isInstalled(world, releaseOf(WEB), "third") &&
        isInstalled(world, EXTRA, "second") &&
        isIdle(world) &&
        isSettled(world),
    },
    {
      what: "go back to the first revision of one",
      async make(world) {
        await world.client
          .resource(talosClusterAddonReleaseResource)
          .patch(
            { namespace: NAMESPACE, name: EXTRA },
            { type: "merge", value: { metadata: { annotations: { [annotations.rollbackTo]: "1" } } } },
          );
      },
      isReached: (world) =>
        isInstalled(world, EXTRA, "first") && release(world, EXTRA)?.status?.rolledBack?.to === 1 && isIdle(world) && isSettled(world),
    },
    {
      what: "select the cluster no longer for one, and delete the others",
      async make(world) {
        await editAddon(world, WEB, { clusterSelector: { matchLabels: { addons: "elsewhere" } } });
        await world.client.resource(talosClusterAddonResource).delete({ namespace: NAMESPACE, name: NET });
        world.addons?.deletesByHand(EXTRA);
        await world.client.resource(talosClusterAddonReleaseResource).delete({ namespace: NAMESPACE, name: EXTRA });
      },
      isReached: (world) =>
        world.objects.get("talosclusteraddons", NET) === undefined &&
        release(world, releaseOf(NET)) === undefined &&
        release(world, EXTRA) === undefined &&
        release(world, releaseOf(WEB))?.status?.conditions?.some(({ type }) => type === "NoLongerSelected") === true &&
        isInstalled(world, releaseOf(WEB), "third") &&
        isIdle(world) &&
        isSettled(world),
    },
  ],
  effects: ["K2", "K5", "K6", "K7", "H1", "H2"],
  troubles: ADDON_TROUBLES,
};

/** A cluster goes with its addons on it. */
export const addonsLeave: Workload = {
  name: "addons-leave",
  about: "a cluster is deleted with addons on it: nothing is uninstalled, and nothing holds up its deletion",
  choose: (random) => ({ ...chooseScenario(random, { controlPlanes: [1, 3], workers: [0, 1] }), hasAddons: true }),
  steps: () => [
    install,
    {
      what: "delete the cluster",
      make: (world) => world.remove(),
      isReached: (world) =>
        isDeleted(world) && release(world, releaseOf(NET)) === undefined && release(world, releaseOf(WEB)) === undefined && isIdle(world),
    },
    {
      what: "delete the addons",
      async make(world) {
        for (const name of [NET, WEB]) await world.client.resource(talosClusterAddonResource).delete({ namespace: NAMESPACE, name });
        world.addons?.deletesByHand(EXTRA);
        await world.client.resource(talosClusterAddonReleaseResource).delete({ namespace: NAMESPACE, name: EXTRA });
      },
      isReached: (world) =>
        world.objects.all("talosclusteraddons").length === 0 &&
        world.objects.all("talosclusteraddonreleases").length === 0 &&
        isIdle(world),
    },
  ],
  effects: ["K5", "K6", "K7", "H1", "H2"],
  troubles: ADDON_TROUBLES,
  endsDeleted: true,
};

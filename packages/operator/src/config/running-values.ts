import { describeMachineConfig, patchMachineConfig } from "@talos-operator/talos";
import type { MachineConfigFacts } from "@talos-operator/talos";
import type { ComponentDifference } from "../model/config.ts";

/** Where each image stands: inside v1alpha1, or in a document of its own (Talos 1.14 and newer). */
const imagePlaces: readonly ImagePlace[] = [
  { image: "kubelet", kind: "KubeletConfig", section: "machine", part: "kubelet" },
  { image: "apiServer", kind: "KubeAPIServerConfig", section: "cluster", part: "apiServer" },
  { image: "controllerManager", kind: "KubeControllerManagerConfig", section: "cluster", part: "controllerManager" },
  { image: "scheduler", kind: "KubeSchedulerConfig", section: "cluster", part: "scheduler" },
  { image: "proxy", kind: "KubeProxyConfig", section: "cluster", part: "proxy" },
  { image: "etcd", kind: "", section: "cluster", part: "etcd" },
];

interface ImagePlace {
  readonly image: keyof MachineConfigFacts["images"];
  /** Kind of the document; empty = it has none. */
  readonly kind: string;
  readonly section: "machine" | "cluster";
  readonly part: string;
}

/**
 * The desired configuration with the versions that run: tags of images, and what was decided when the machine was installed. Versions are no
 * configuration; their change is an upgrade.
 *
 * @returns the desired text itself when nothing had to be put in
 */
export function withRunningValues(desired: string, live: string): string {
  const want = describeMachineConfig(desired);
  const runs = describeMachineConfig(live);
  const patches = [...imagePatches(want, runs), ...installPatches(want, runs)].map((patch) => JSON.stringify(patch));
  const installed = installDocument(want, runs, live);
  const all = installed === undefined ? patches : [...patches, installed];
  return all.length === 0 ? desired : patchMachineConfig(desired, all);
}

function imagePatches(want: MachineConfigFacts, runs: MachineConfigFacts): readonly unknown[] {
  return imagePlaces.flatMap(({ image, kind, section, part }): readonly unknown[] => {
    const running = runningImage(want.images[image], runs.images[image]);
    if (running === undefined) return [];
    return want.documents.includes(`v1alpha1/${kind}/`)
      ? [{ apiVersion: "v1alpha1", kind, image: running }]
      : [{ [section]: { [part]: { image: running } } }];
  });
}

/**
 * Components that a patch, or a config that a person wrote, names in a version of their own, and that run in another one: {@link withRunningValues} puts that
 * one in their place.
 *
 * @param kubernetes what the configuration was made with, which no person named for a single component
 */
export function componentDifferences(
  want: MachineConfigFacts,
  runs: MachineConfigFacts,
  kubernetes: string,
): readonly ComponentDifference[] {
  return imagePlaces.flatMap(({ image }): readonly ComponentDifference[] => {
    const [asked, running] = [tagOf(want.images[image]), tagOf(runs.images[image])];
    if (asked === undefined || running === undefined || asked === running || asked === kubernetes) return [];
    return [{ component: image, asked, runs: running }];
  });
}

function tagOf(image: string | undefined): string | undefined {
  return /^.+:([^:/@]+)$/.exec(image ?? "")?.[1];
}

/** The wanted repository with the tag that runs; `undefined` when that is what is wanted, or there is no tag to take. */
function runningImage(want: string | undefined, runs: string | undefined): string | undefined {
  const [, repository, tag] = /^(.+):([^:/@]+)$/.exec(want ?? "") ?? [];
  const running = tagOf(runs);
  return repository === undefined || running === undefined || tag === running ? undefined : `${repository}:${running}`;
}

/**
 * The document about the installation as it stands in `live`, where the desired configuration has none: nobody knows which disk was chosen for a machine that
 * was found running, or its words choose it otherwise than by a path. Without it every change would take it away, which no running machine takes.
 */
function installDocument(want: MachineConfigFacts, runs: MachineConfigFacts, live: string): string | undefined {
  if (!runs.documents.includes(INSTALL_DOCUMENT) || want.documents.includes(INSTALL_DOCUMENT) || want.install.image !== undefined)
    return undefined;
  // A line that begins with three dashes stands between documents, and nowhere else.
  return live.split(/^---(?=\s|$)/m).find((text) => describeMachineConfig(text).documents.includes(INSTALL_DOCUMENT));
}

const INSTALL_DOCUMENT = "v1alpha1/UnattendedInstallConfig/";

function installPatches(want: MachineConfigFacts, runs: MachineConfigFacts): readonly unknown[] {
  const { disk, image, wipe } = runs.install;
  if (image === undefined || want.install.image === undefined) return [];
  if (want.install.image === image && want.install.wipe === wipe && (disk === undefined || want.install.disk === disk)) return [];
  if (!want.documents.includes(INSTALL_DOCUMENT))
    return [{ machine: { install: { image, wipe, ...(disk === undefined ? {} : { disk }) } } }];
  const selector = disk === undefined ? {} : { diskSelector: { match: `disk.dev_path == ${JSON.stringify(disk)}` } };
  return [{ apiVersion: "v1alpha1", kind: "UnattendedInstallConfig", installer: { image }, provisioning: { wipe, ...selector } }];
}

import { systemClock } from "@talos-operator/adapters";
import { runTask } from "@talos-operator/helm/worker";
import { printPlan, whatIf, whatIfAddons } from "@talos-operator/operator";
import type { EditedAddon, EditedObject, WhatIf, WhatIfAddon } from "@talos-operator/operator";
import { CliError } from "../cli-error.ts";
import { booleanFlag, givenString, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { drainsOf } from "../process/drain-objects.ts";
import { withHelm } from "../process/helm-worker.ts";
import { withKube } from "../process/kube-of-flags.ts";
import { demandAccepted } from "../process/demand-accepted.ts";
import { withDefaults } from "../process/with-defaults.ts";
import { readManifest } from "../process/manifest.ts";
import type { ManifestObject } from "../process/manifest.ts";
import { outputForm } from "./asked-object.ts";

const KINDS: ReadonlySet<string> = new Set(["TalosCluster", "TalosControlPlane", "TalosWorker"]);
const ADDON_KINDS: ReadonlySet<string> = new Set(["TalosClusterAddon", "TalosClusterAddonRelease"]);

export async function runPlan(flags: FlagValues, { stdout, stderr, signal }: CommandContext): Promise<void> {
  const form = outputForm(requiredString(flags, "output"));
  const file = requiredString(flags, "filename");
  const isDeletion = booleanFlag(flags, "delete");
  const objects = readManifest(file);
  const published = objects.filter(({ apiVersion }) => apiVersion.startsWith("talos.alperen.cloud/"));
  const ofClusters = published.filter(({ kind }) => KINDS.has(kind));
  // A deletion uninstalls what its releases installed; there is nothing to compare.
  const ofAddons = isDeletion ? [] : published.filter(({ kind }) => ADDON_KINDS.has(kind));
  const others = objects.length - ofClusters.length - ofAddons.length;
  if (ofClusters.length + ofAddons.length === 0)
    throw new CliError(
      `${file} holds no TalosCluster, TalosControlPlane or TalosWorker${isDeletion ? "" : ", and no addon"}`,
      "Give the manifest with the edited objects.",
    );
  if (others > 0) stderr.write(`${others} object(s) of other kinds are left out\n`);

  await withKube(flags, async ({ client, namespace }) => {
    const here = <T>(some: typeof objects): readonly T[] =>
      some.map((object) => ({
        ...object,
        metadata: { ...object.metadata, namespace: object.metadata.namespace ?? namespace },
      })) as unknown as readonly T[];
    if (!isDeletion) await demandAccepted(here<ManifestObject>([...ofClusters, ...ofAddons]), client);
    const hosts = { allowLoopback: booleanFlag(flags, "allow-loopback-machines") };
    const found = await whatIf(here<EditedObject>(ofClusters.map(withDefaults)), { client, now: systemClock.now(), hosts, isDeletion });
    if (found.length === 0 && ofAddons.length === 0)
      throw new CliError(
        isDeletion ? "nothing of the file is stored" : "the objects belong to no control plane that exists or stands in the file",
        isDeletion ? "Check the names, and the namespace with -n." : "Check controlPlaneRef, and put the TalosControlPlane into the file.",
      );
    const drains = new Map<string, readonly string[]>();
    for (const { cluster, plan } of found) if (plan.forecast !== undefined) drains.set(cluster, await drainsOf(cluster, client));
    const addons =
      ofAddons.length === 0
        ? []
        : await whatIfAddons(here<EditedAddon>(ofAddons), {
            client,
            give: (task, secrets) => withHelm(signal, { helm: givenString(flags, "helm") }, (deps) => runTask(task, secrets, deps)),
          });
    if (form === "json")
      return void stdout.write(
        `${JSON.stringify([...found.map((one) => ({ ...one, ...(drains.has(one.cluster) ? { drains: drains.get(one.cluster) } : {}) })), ...addons], undefined, 2)}\n`,
      );
    const none = ofAddons.length > 0 && addons.length === 0 ? ["The addons of the file select no cluster.\n"] : [];
    stdout.write([...found.map((one) => text(one, drains.get(one.cluster) ?? [])), ...addons.map(addonText), ...none].join("\n"));
  });
}

function addonText({ release, words, changes }: WhatIfAddon): string {
  return `${release}\n${[words, ...changes.map((change) => `  ${change}`)].join("\n")}\n`;
}

function text({ cluster, isNew, plan, unknown }: WhatIf, drains: readonly string[]): string {
  const about = unknown.length === 0 ? [] : [`Not reported: the state of ${unknown.join(", ")}.`];
  return [`${cluster}${isNew ? " (new)" : ""}`, ...drains, printPlan(plan), ...about, ""].join("\n");
}

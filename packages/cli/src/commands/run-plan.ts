import { systemClock } from "@talos-operator/adapters";
import { printPlan, whatIf } from "@talos-operator/operator";
import type { EditedObject, WhatIf } from "@talos-operator/operator";
import { CliError } from "../cli-error.ts";
import { booleanFlag, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { withKube } from "../process/kube-of-flags.ts";
import { readManifest } from "../process/manifest.ts";
import { outputForm } from "./asked-object.ts";

const KINDS: ReadonlySet<string> = new Set(["TalosCluster", "TalosControlPlane", "TalosWorker"]);

export async function runPlan(flags: FlagValues, { stdout, stderr }: CommandContext): Promise<void> {
  const form = outputForm(requiredString(flags, "output"));
  const file = requiredString(flags, "filename");
  const objects = readManifest(file);
  const ours = objects.filter(({ kind, apiVersion }) => KINDS.has(kind) && apiVersion.startsWith("talos.alperen.cloud/"));
  if (ours.length === 0)
    throw new CliError(`${file} holds no TalosCluster, TalosControlPlane or TalosWorker`, "Give the manifest with the edited objects.");
  if (ours.length < objects.length) stderr.write(`${objects.length - ours.length} object(s) of other kinds are left out\n`);
  if (objects.some(({ kind }) => kind.startsWith("TalosClusterAddon")))
    stderr.write("What an edit of an addon would change its releases say: set their annotation reconcile-mode to dryrun\n");

  await withKube(flags, async ({ client, namespace }) => {
    const edited = ours.map((object) => ({
      ...object,
      metadata: { ...object.metadata, namespace: object.metadata.namespace ?? namespace },
    }));
    const hosts = { allowLoopback: booleanFlag(flags, "allow-loopback-machines") };
    const isDeletion = booleanFlag(flags, "delete");
    const found = await whatIf(edited as unknown as readonly EditedObject[], { client, now: systemClock.now(), hosts, isDeletion });
    if (found.length === 0)
      throw new CliError(
        isDeletion ? "nothing of the file is stored" : "the objects belong to no control plane that exists or stands in the file",
        isDeletion ? "Check the names, and the namespace with -n." : "Check controlPlaneRef, and put the TalosControlPlane into the file.",
      );
    stdout.write(form === "json" ? `${JSON.stringify(found, undefined, 2)}\n` : found.map(text).join("\n"));
  });
}

function text({ cluster, isNew, plan, unknown }: WhatIf): string {
  const about = unknown.length === 0 ? "" : `State unknown: ${unknown.join(", ")}.\n`;
  return `${cluster}${isNew ? " (new)" : ""}\n${about}${printPlan(plan)}\n`;
}

import {
  talosClusterAddonReleaseResource,
  talosClusterAddonResource,
  talosClusterResource,
  talosControlPlaneResource,
  talosWorkerResource,
} from "@talos-operator/api";
import { KubeApiError } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { CliError } from "../cli-error.ts";
import type { ManifestObject } from "./manifest.ts";

const types = [
  talosClusterResource,
  talosControlPlaneResource,
  talosWorkerResource,
  talosClusterAddonResource,
  talosClusterAddonReleaseResource,
];

/**
 * Has the API server say in a dry run whether it takes the objects; who may not ask it gets no answer, and plans all the same.
 *
 * @param objects with their namespaces
 * @throws CliError for one that it refuses
 */
export async function demandAccepted(objects: readonly ManifestObject[], client: KubeClient): Promise<void> {
  await Promise.all(objects.map((object) => demandOne(object, client)));
}

async function demandOne({ apiVersion, kind, metadata, ...rest }: ManifestObject, client: KubeClient): Promise<void> {
  const type = types.find((one) => one.kind === kind);
  if (type === undefined) return;
  const { name, namespace, annotations } = metadata;
  const { status: _status, ...fields } = rest;
  // What was read from an API server bears what no apply takes.
  const about = { name, ...(namespace === undefined ? {} : { namespace }), ...(annotations === undefined ? {} : { annotations }) };
  try {
    const asked = { apiVersion, kind, metadata: about, ...fields };
    await client.resource(type).apply(asked, { dryRun: true, fieldManager: "talos-operator-plan", force: true });
  } catch (thrown) {
    if (!(thrown instanceof KubeApiError) || (thrown.status !== 422 && thrown.status !== 400)) return;
    const words = thrown.causes.map(({ field, message }) => `${field === undefined || field === "" ? "" : `${field}: `}${message}`);
    throw new CliError(
      `the API server would refuse ${kind} ${name}: ${words.length === 0 ? thrown.message : words.join("; ")}`,
      "Correct the object: nothing would be stored, and nothing done.",
      { cause: thrown },
    );
  }
}

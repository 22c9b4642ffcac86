import assert from "node:assert/strict";
import type { TalosCluster } from "@talos-operator/api";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { demoCluster, kinds } from "./story.ts";
import type { Story } from "./story.ts";

/** Control planes of the cluster that is left behind. */
const leftControlPlanes: readonly string[] = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const worker = "10.5.0.4";

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * Makes a cluster that runs and whose management knows nothing of this operator: only machines are left, and the bundle in the caller's hands.
 *
 * @returns the secrets bundle in base64
 */
export async function leaveBehind(world: Story, controlPlanes: readonly string[] = leftControlPlanes): Promise<string> {
  await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(controlPlanes, [worker]));
  await world.start();
  await world.untilReady();
  return forgetAll(world, "demo");
}

/**
 * Stops the operator and takes away every object that it ever knew: machines are left, and the bundle in the caller's hands.
 *
 * @returns the secrets bundle in base64
 */
export async function forgetAll(world: Story, cluster: string): Promise<string> {
  await world.stop();
  const secret = await world.client.resource<Secret>(kinds.secret).tryGet({ namespace: "default", name: `${cluster}-bundle-1` });
  const bundle = secret?.data?.["bundle"];
  assert.ok(bundle !== undefined);
  for (const type of [kinds.cluster, kinds.controlPlane, kinds.worker, kinds.machine, kinds.record, kinds.secret]) {
    const resource = world.client.resource(type);
    for (const { metadata } of (await resource.list({ namespace: "default" })).items) {
      const key = { namespace: "default", name: metadata?.name ?? "" };
      if ((metadata?.finalizers ?? []).length > 0) await resource.patch(key, { type: "merge", value: { metadata: { finalizers: [] } } });
      if ((await resource.tryGet(key)) !== undefined) await resource.delete(key);
    }
  }
  // What is deleted with its owner goes in its own time.
  await world.time.advance(30_000);
  return bundle;
}

/** Applies the objects of `testdata/peers/`, as a peer leaves them, each after `change`, written by the peer's own field manager. */
export async function leaveObjects(
  world: Story,
  manifest: string,
  bundle: string,
  change: (object: KubeObject & Record<string, unknown>) => unknown = (object) => object,
): Promise<void> {
  const uids = new Map<string, string>();
  for (const document of parseKubernetesYaml(manifest.replaceAll("@BUNDLE@", bundle)) as readonly KubeObject[]) {
    const type = Object.values(kinds).find((one: ResourceType) => one.kind === document.kind);
    assert.ok(type !== undefined, document.kind);
    const raw = JSON.parse(JSON.stringify(document).replaceAll("@UID@", uids.get("demo") ?? "")) as KubeObject & Record<string, unknown>;
    const stored = await world.client.resource(type).create(change(raw) as KubeObject, { fieldManager: "manager" });
    uids.set(stored.metadata?.name ?? "", stored.metadata?.uid ?? "");
  }
}

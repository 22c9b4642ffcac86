import type { KubeClient } from "@talos-operator/kube-runtime";
import { talosMachineResource } from "@talos-operator/api";
import type { Timers } from "@talos-operator/ports";
import { pictureOf, type Picture, type WatchedObject } from "../live/picture.ts";
import type { NodeCheck } from "./node-check.ts";
import { resourceTypeOf, type NamedObject } from "./apply-object.ts";

/** Kinds whose Ready condition ends the wait. */
export const GOAL_KINDS: ReadonlySet<string> = new Set(["KubernetesCluster", "TalosCluster", "TalosControlPlane", "TalosWorker"]);
const LOOK_EVERY_MS = 100;

export interface RolloutOptions {
  readonly client: KubeClient;
  readonly timers: Timers;
  /** What was applied. */
  readonly applied: readonly NamedObject[];
  /** Simulated machines to show as spare when nothing names them. */
  readonly addresses: readonly string[];
  readonly show: (picture: Picture) => void;
  /** Asks the machines' own clusters what runs; consulted when a status calls a machine ready. */
  readonly nodes: NodeCheck;
}

/** Shows the rollout until every applied object is Ready. @throws the signal's reason when it aborts first */
export async function followRollout(options: RolloutOptions, signal: AbortSignal): Promise<Picture> {
  for (;;) {
    const picture = await takePicture(options);
    options.show(picture);
    if (picture.isReady) return picture;
    await options.timers.sleep(LOOK_EVERY_MS, signal);
  }
}

/** One look at everything that the picture shows. */
export async function takePicture({ client, applied, addresses, nodes }: RolloutOptions): Promise<Picture> {
  const goals: WatchedObject[] = [];
  for (const object of applied.filter(({ kind }) => GOAL_KINDS.has(kind))) {
    const type = await resourceTypeOf(client, object.apiVersion, object.kind);
    const { name, namespace = "default" } = object.metadata;
    const seen = await client.resource(type).tryGet({ name, namespace });
    if (seen !== undefined) goals.push({ ...(seen as unknown as WatchedObject), kind: object.kind });
  }
  const machines = await client.resource(talosMachineResource).list();
  const input = { goals, machines: machines.items as unknown as WatchedObject[], addresses };
  const picture = pictureOf(input);
  return picture.rows.some((row) => row.isReady) ? pictureOf({ ...input, up: await nodes.readyAddresses() }) : picture;
}

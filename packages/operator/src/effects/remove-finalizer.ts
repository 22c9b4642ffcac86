import { clusterRecordResource, finalizers, labels, talosControlPlaneResource, talosMachineResource } from "@talos-operator/api";
import type { TalosMachine } from "@talos-operator/api";
import { isControlledBy, isNotFound, removeFinalizer as remove } from "@talos-operator/kube-runtime";
import { stored } from "../planning/step-of.ts";
import type { ActionOf, ObjectName } from "../model/effect.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import { deleteMachineObject } from "./delete-machine.ts";
import { defineEffect } from "./define.ts";
import type { Sending } from "./define.ts";
import { forPool } from "./for-pool.ts";
import { isSeen } from "./is-seen.ts";
import { releasePool } from "./release-pool.ts";
import type { Effects } from "./ports.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    RemoveFinalizer: { readonly object: ObjectName };
  }
}

/** The control plane as it is stored now; a pool is read when it is let go. */
const objectNow = async ({ action: { object }, effects: { client, seen } }: Sending<ActionOf<"RemoveFinalizer">>) =>
  object.kind === "TalosWorker"
    ? undefined
    : client.resource(talosControlPlaneResource).tryGet({ namespace: seen.controlPlane.metadata.namespace ?? "", name: object.name });

/** Takes the operator's finalizer off an object, so that it goes. */
export const removeFinalizer = defineEffect("RemoveFinalizer", {
  inventory: "K7",
  at: "objects",
  object: ({ object: { kind, name } }) => `${kind}/${name}`,
  disrupts: "nothing",
  before: {
    // Another object of this name was not released.
    sameObject: async (sending) => {
      const object = await sending.ask(objectNow);
      return object === undefined || isSeen(sending.action.object.kind, object, sending.effects.seen) ? undefined : "not-now";
    },
  },
  async carryOut(sending) {
    const { action, effects } = sending;
    const { kind, name } = action.object;
    if (kind === "TalosWorker") return forPool(name, effects, () => releasePool(name, effects));
    const object = await sending.ask(objectNow);
    if (object === undefined) return;
    await deleteUnlisted(effects);
    await markPreserved(effects);
    await remove(effects.client.resource(talosControlPlaneResource), object, finalizers.talosControlPlane, { signal: effects.signal });
  },
  step: ({ object: { kind, name } }) =>
    stored(`${kind}/${name}`, (named) => `Take the operator's finalizer off ${named}, so that it goes.`),
  // With that of the control plane the object is gone: nothing is left to plan.
  afterwards: (seen, { object }) => (object.kind === "TalosWorker" ? withoutPool(seen, object.name) : undefined),
});

/** The pool is gone, and what it lists with it. */
function withoutPool(seen: Observed, pool: string): Observed {
  const isOf = ({ declared: { owner } }: SeenMachine): boolean => owner.kind === "TalosWorker" && owner.name === pool;
  return {
    ...seen,
    workers: seen.workers.filter(({ metadata }) => metadata.name !== pool),
    machines: seen.machines.filter((machine) => !isOf(machine)),
  };
}

/** Record and keys of a cluster that goes on without its objects are nobody's work from now on: by this they are found when somebody deletes them. */
async function markPreserved({ client, seen, signal }: Effects): Promise<void> {
  if (seen.controlPlane.spec?.deletionPolicy !== "preserve" || seen.record.kind !== "present") return;
  const { namespace = "", name } = seen.controlPlane.metadata;
  const value = { metadata: { labels: { [labels.preserved]: "true" } } };
  try {
    await client.resource(clusterRecordResource).patch({ namespace, name }, { type: "merge", value }, { signal });
  } catch (thrown) {
    if (!isNotFound(thrown)) throw thrown;
  }
}

/** The objects of its own machines that no list told of: they would keep their finalizer, and nobody would be left to take it off. */
async function deleteUnlisted(effects: Effects): Promise<void> {
  const { client, seen } = effects;
  const machines = client.resource<TalosMachine>(talosMachineResource);
  for (const { declared } of [...seen.machines, ...seen.former]) {
    if (declared.owner.kind !== "TalosControlPlane") continue;
    const machine = await machines.tryGet({ namespace: seen.controlPlane.metadata.namespace ?? "", name: declared.name });
    if (machine !== undefined && isControlledBy(machine, seen.controlPlane) && isSeen("TalosMachine", machine, seen))
      await deleteMachineObject(machine, effects);
  }
}

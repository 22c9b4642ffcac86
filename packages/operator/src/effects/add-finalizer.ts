import { finalizers, talosControlPlaneResource, talosMachineResource, talosWorkerResource } from "@talos-operator/api";
import type { TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { addFinalizer as add } from "@talos-operator/kube-runtime";
import { stored } from "../planning/step-of.ts";
import type { ObjectName } from "../model/effect.ts";
import type { Observed } from "../model/observation.ts";
import { defineEffect } from "./define.ts";
import { forPool } from "./for-pool.ts";
import type { Effects } from "./ports.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    AddFinalizer: { readonly object: ObjectName };
  }
}

/** Puts the operator's finalizer on an object, so that it does not go before what it stands for. */
export const addFinalizer = defineEffect("AddFinalizer", {
  inventory: "K7",
  at: "objects",
  object: ({ object: { kind, name } }) => `${kind}/${name}`,
  disrupts: "nothing",
  goesTogether: true,
  async carryOut({ action: { object }, effects }) {
    const { client, seen, signal } = effects;
    if (object.kind === "TalosMachine") {
      const machines = client.resource<TalosMachine>(talosMachineResource);
      const machine = await machines.tryGet({ namespace: seen.controlPlane.metadata.namespace ?? "", name: object.name });
      if (machine === undefined) return;
      const guarded = await add(machines, machine, finalizers.talosMachine, { signal });
      return effects.caughtUp("TalosMachine", guarded.metadata.resourceVersion);
    }
    if (object.kind === "TalosWorker") return guardPool(object.name, effects);
    const controlPlanes = client.resource<TalosControlPlane>(talosControlPlaneResource);
    const updated = await add(controlPlanes, seen.controlPlane, finalizers.talosControlPlane, { signal });
    return effects.caughtUp("TalosControlPlane", updated.metadata.resourceVersion);
  },
  step: ({ object: { kind, name } }) => stored(`${kind}/${name}`, (named) => `Put the operator's finalizer on ${named}.`),
  afterwards(seen, { object: { kind, name } }) {
    const guarded = <T extends TalosMachine | TalosWorker>(one: T, finalizer: string): T =>
      one.metadata.name === name
        ? { ...one, metadata: { ...one.metadata, finalizers: [...(one.metadata.finalizers ?? []), finalizer] } }
        : one;
    if (kind === "TalosMachine")
      return { ...seen, machineObjects: seen.machineObjects.map((one) => guarded(one, finalizers.talosMachine)) };
    return kind === "TalosWorker"
      ? { ...seen, workers: seen.workers.map((one) => guarded(one, finalizers.talosWorker)) }
      : withOurFinalizer(seen);
  },
});

/** Puts the finalizer on a worker pool. */
function guardPool(name: string, effects: Effects): Promise<void> {
  const { client, seen, signal } = effects;
  return forPool(name, effects, async () => {
    const pool = seen.workers.find(({ metadata }) => metadata.name === name);
    if (pool === undefined) return;
    const guarded = await add(client.resource<TalosWorker>(talosWorkerResource), pool, finalizers.talosWorker, { signal });
    return effects.caughtUp("TalosWorker", guarded.metadata.resourceVersion);
  });
}

function withOurFinalizer(seen: Observed): Observed {
  const { metadata } = seen.controlPlane;
  const there = metadata.finalizers ?? [];
  const next = there.includes(finalizers.talosControlPlane) ? there : [...there, finalizers.talosControlPlane];
  return { ...seen, controlPlane: { ...seen.controlPlane, metadata: { ...metadata, finalizers: next } } };
}

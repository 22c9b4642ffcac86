import { finalizers, talosMachineResource } from "@talos-operator/api";
import type { TalosMachine } from "@talos-operator/api";
import { deleteExactly, removeFinalizer } from "@talos-operator/kube-runtime";
import { stored } from "../planning/step-of.ts";
import type { ActionOf } from "../model/effect.ts";
import type { MachineName } from "../model/machine.ts";
import { defineEffect } from "./define.ts";
import type { Sending } from "./define.ts";
import { isSeen } from "./is-seen.ts";
import type { Effects } from "./ports.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    DeleteMachine: { readonly name: MachineName };
  }
}

/** The object as it is stored now. */
const objectNow = async ({ action: { name }, effects: { client, seen } }: Sending<ActionOf<"DeleteMachine">>) =>
  client.resource<TalosMachine>(talosMachineResource).tryGet({ namespace: seen.controlPlane.metadata.namespace ?? "", name });

/** Removes the TalosMachine of a machine that was let go. */
export const deleteMachine = defineEffect("DeleteMachine", {
  inventory: "K5",
  at: "objects",
  machine: ({ name }) => name,
  object: ({ name }) => name,
  disrupts: "nothing",
  goesTogether: true,
  before: {
    sameObject: async (sending) => {
      const object = await sending.ask(objectNow);
      return object === undefined || isSeen("TalosMachine", object, sending.effects.seen) ? undefined : "not-now";
    },
  },
  async carryOut(sending) {
    const object = await sending.ask(objectNow);
    if (object !== undefined) await deleteMachineObject(object, sending.effects);
  },
  step: ({ name }) => stored(name, (named) => `Remove TalosMachine ${named}.`, name),
  afterwards: (seen, { name }) => ({ ...seen, machineObjects: seen.machineObjects.filter((object) => object.metadata.name !== name) }),
});

/** Lets this very object go. */
export async function deleteMachineObject(object: TalosMachine, { client }: Effects): Promise<void> {
  const machines = client.resource<TalosMachine>(talosMachineResource);
  await removeFinalizer(machines, object, finalizers.talosMachine);
  await deleteExactly(machines, object);
}

import { talosMachineResource } from "@talos-operator/api";
import type { TalosMachine } from "@talos-operator/api";
import { isConflict, isNotFound } from "@talos-operator/kube-runtime";
import type { ResourceClient } from "@talos-operator/kube-runtime";
import { stored } from "../planning/step-of.ts";
import type { MachineName } from "../model/machine.ts";
import { defineEffect } from "./define.ts";
import { forPool } from "./for-pool.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** The TalosMachine shows the address that its reference gives now. */
    FollowEndpoint: { readonly name: MachineName; readonly to: string };
  }
}

/** Writes into a TalosMachine the address that its reference gives now, unless it changed meanwhile: then the next pass looks again. */
export const followEndpoint = defineEffect("FollowEndpoint", {
  inventory: "K5",
  at: "objects",
  machine: ({ name }) => name,
  object: ({ name, to }) => `${name} ${to}`,
  disrupts: "nothing",
  goesTogether: true,
  carryOut({ action: { name, to }, effects }) {
    const { client, seen } = effects;
    const machine = seen.machineObjects.find((object) => object.metadata.name === name);
    if (machine === undefined) return undefined;
    const pool = machine.spec?.workerRef?.name;
    const follow = async (): Promise<void> => {
      const version = await writeEndpoint(client.resource<TalosMachine>(talosMachineResource), machine, to);
      return effects.caughtUp("TalosMachine", version);
    };
    return pool === undefined ? follow() : forPool(pool, effects, follow);
  },
  step: ({ name }) => stored(name, (named) => `Write the new address into TalosMachine ${named}.`, name),
  afterwards: (seen, { name, to }) => ({
    ...seen,
    machineObjects: seen.machineObjects.map((object) =>
      object.metadata.name === name && object.spec !== undefined ? { ...object, spec: { ...object.spec, endpoint: to } } : object,
    ),
  }),
});

/** @returns the new resourceVersion; `undefined` when nothing was written, for it changed or went since it was seen */
async function writeEndpoint(client: ResourceClient<TalosMachine>, machine: TalosMachine, to: string): Promise<string | undefined> {
  const { namespace, name, resourceVersion } = machine.metadata;
  const value = { metadata: { resourceVersion }, spec: { endpoint: to } };
  try {
    return (await client.patch({ namespace, name }, { type: "merge", value })).metadata.resourceVersion;
  } catch (thrown) {
    if (isConflict(thrown) || isNotFound(thrown)) return undefined;
    throw thrown;
  }
}

import {
  apiVersionOf,
  controllerReference,
  finalizers,
  talosControlPlaneResource,
  talosMachineResource,
  talosWorkerResource,
} from "@talos-operator/api";
import type { TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { isAlreadyExists } from "@talos-operator/kube-runtime";
import { machineLabels } from "../controllers/shared/machine-labels.ts";
import { stored } from "../planning/step-of.ts";
import type { DeclaredMachine } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import { defineEffect } from "./define.ts";
import { forPool } from "./for-pool.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    CreateMachine: { readonly machine: DeclaredMachine };
  }
}

/** Makes the TalosMachine of a declared machine, under the name that the next pass looks for. One that is there is left as it is. */
export const createMachine = defineEffect("CreateMachine", {
  inventory: "K5",
  at: "objects",
  machine: ({ machine }) => machine.name,
  object: ({ machine }) => machine.name,
  disrupts: "nothing",
  goesTogether: true,
  carryOut({ action: { machine }, effects }) {
    const { client, seen } = effects;
    const { kind, name } = machine.owner;
    const pool = kind === "TalosWorker" ? seen.workers.find(({ metadata }) => metadata.name === name) : undefined;
    const create = async (): Promise<void> => {
      try {
        const wanted = talosMachineFor(machine, pool ?? seen.controlPlane, seen.controlPlane.metadata.name);
        const created = await client.resource<TalosMachine>(talosMachineResource).create(wanted);
        await effects.caughtUp("TalosMachine", created.metadata.resourceVersion);
      } catch (thrown) {
        if (!isAlreadyExists(thrown)) throw thrown;
      }
    };
    return pool === undefined ? create() : forPool(pool.metadata.name, effects, create);
  },
  step: ({ machine: { name } }) => stored(name, (named) => `Make TalosMachine ${named}.`, name),
  afterwards: (seen, { machine }) => ({ ...seen, machineObjects: [...seen.machineObjects, objectOf(seen, machine)] }),
});

/** The TalosMachine of a declared machine. @param cluster name of its TalosControlPlane */
export function talosMachineFor(machine: DeclaredMachine, pool: TalosControlPlane | TalosWorker, cluster: string): TalosMachine {
  const { deletionPolicy } = pool.spec ?? {};
  const type = pool.kind === "TalosWorker" ? talosWorkerResource : talosControlPlaneResource;
  const owner = { apiVersion: apiVersionOf(type), kind: pool.kind, metadata: pool.metadata };
  const reference = {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    namespace: owner.metadata.namespace ?? "",
    uid: owner.metadata.uid ?? "",
  };
  const { base: _base, ...machineSpec } = machine.machineSpec;
  return {
    apiVersion: apiVersionOf(talosMachineResource) as TalosMachine["apiVersion"],
    kind: "TalosMachine",
    metadata: {
      namespace: owner.metadata.namespace ?? "",
      name: machine.name,
      finalizers: [finalizers.talosMachine],
      labels: machineLabels({ role: machine.role, cluster, pool: machine.role === "worker" ? owner.metadata.name : undefined }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: {
      endpoint: machine.address,
      version: machine.version,
      machineSpec,
      ...(machine.role === "controlplane" ? { controlPlaneRef: reference } : { workerRef: reference }),
      ...(deletionPolicy === undefined ? {} : { deletionPolicy }),
    },
  };
}

function objectOf({ controlPlane }: Observed, { name, address, version, owner }: DeclaredMachine): Observed["machineObjects"][number] {
  const reference = { name: owner.name, namespace: controlPlane.metadata.namespace ?? "" };
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosMachine",
    metadata: { name, finalizers: [finalizers.talosMachine] },
    spec: { endpoint: address, version, ...(owner.kind === "TalosWorker" ? { workerRef: reference } : { controlPlaneRef: reference }) },
  };
}

import type { KubeObject } from "@talos-operator/kube-runtime";
import { crdType } from "../world/kinds.ts";
import { demoCluster } from "./story.ts";
import type { Story } from "./story.ts";

/** Somebody else's kind: what a provider of virtual machines might serve. */
export const hostType = { group: "hosts.example.dev", version: "v1", plural: "hosts", kind: "Host", namespaced: true } as const;

const hostCrd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "hosts.hosts.example.dev" },
  spec: {
    group: hostType.group,
    names: { kind: "Host", plural: "hosts", singular: "host", listKind: "HostList" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

interface Host extends KubeObject {
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}

const fieldPath = '.status.addresses[?(@.type=="InternalIP")].address';

export function reference(name: string, over: Record<string, unknown> = {}): object {
  return { machineRef: { apiVersion: "hosts.example.dev/v1", kind: "Host", name, fieldPath, ...over } };
}

export function cluster(controlPlanes: readonly object[], workers: readonly object[] = []): Record<string, unknown> {
  const { spec, ...rest } = demoCluster(["10.5.0.1"], workers.length === 0 ? [] : ["10.5.0.4"]);
  const machineSpec = { installDisk: "/dev/sda" };
  return {
    ...rest,
    spec: {
      controlPlane: { ...spec?.controlPlane, metalSpec: { machines: controlPlanes, machineSpec } },
      ...(spec?.worker === undefined ? {} : { worker: { ...spec.worker, metalSpec: { machines: workers, machineSpec } } }),
    },
  };
}

export async function install(world: Story): Promise<void> {
  await world.client.resource(crdType).create(hostCrd);
}

export async function host(world: Story, name: string, ...addresses: readonly string[]): Promise<void> {
  const object = {
    apiVersion: "hosts.example.dev/v1",
    kind: "Host",
    metadata: { namespace: "default", name },
    status: { addresses: addresses.map((address) => ({ type: "InternalIP", address })) },
  };
  const hosts = world.client.resource<Host>(hostType);
  const existing = await hosts.tryGet({ namespace: "default", name });
  if (existing === undefined) await hosts.create(object);
  else await hosts.update({ ...object, metadata: { ...object.metadata, resourceVersion: existing.metadata?.resourceVersion ?? "" } });
}

import type { MachineSpec } from "@talos-operator/simulator";

const controlPlanes = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];

/** Five nodes in containers. */
export const containerMachines: readonly MachineSpec[] = [...controlPlanes, ...workers].map((address) => ({
  address,
  talosVersion: "v1.13.9",
  platform: "container" as const,
}));

function pool(addresses: readonly string[]): object {
  return {
    version: "v1.13.9",
    kubeVersion: "v1.36.3",
    mode: "metal",
    metalSpec: {
      machines: addresses.map((address) => ({ address })),
      machineSpec: {
        installDisk: "/dev/sda",
        airGap: true,
        registries: {
          mirrors: {
            "ghcr.io": { endpoints: ["http://10.5.0.254:5000"] },
            "registry.k8s.io": { endpoints: ["http://10.5.0.254:5001"] },
          },
        },
      },
    },
  };
}

const object = (kind: string, name: string, spec: object): object => ({
  apiVersion: "talos.alperen.cloud/v1alpha1",
  kind,
  metadata: { namespace: "default", name },
  spec,
});

/** Three control planes and two workers as a person writes them who does not know that the machines are containers. */
export const containerDocuments = {
  controlPlane: object("TalosControlPlane", "demo", { ...pool(controlPlanes), endpoint: "https://10.5.0.1:6443" }),
  worker: object("TalosWorker", "demo-workers", { ...pool(workers), controlPlaneRef: { name: "demo" } }),
};

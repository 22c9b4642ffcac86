import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { normaliseCluster } from "../index.ts";
import type { KubernetesCluster, TopologyGroup } from "../index.ts";
import { data, defaults } from "./testing/clusters.ts";

const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,6}[a-z0-9])?$/);
const version = fc.constantFrom("1.33", "v1.33", "1.33.5", "v1.33.6");
const machine = fc.record({
  machineClass: fc.option(fc.constantFrom("small", "medium"), { nil: undefined }),
  provider: fc.option(fc.constantFrom("kubevirt", "proxmox"), { nil: undefined }),
  architecture: fc.option(fc.constantFrom("amd64" as const, "arm64" as const), { nil: undefined }),
  sizes: fc.array(fc.integer({ min: 1, max: 4096 }), { maxLength: 3 }),
});
const wish = fc.record({
  name: label,
  version: fc.option(version, { nil: undefined }),
  endpoint: fc.option(fc.constant("https://10.0.0.10:6443"), { nil: undefined }),
  talosVersion: fc.option(fc.constantFrom("1.13", "v1.13.2"), { nil: undefined }),
  podSubnets: fc.option(fc.constant(["10.200.0.0/16"]), { nil: undefined }),
  networkNamespace: fc.option(label, { nil: undefined }),
  control: fc.record({ replicas: fc.constantFrom(1, 3, 5), machine }),
  workers: fc.uniqueArray(fc.record({ name: label.filter((name) => name !== "cp"), replicas: fc.nat({ max: 20 }), machine }), {
    selector: ({ name }) => name,
    maxLength: 4,
  }),
});
type Wish = typeof wish extends fc.Arbitrary<infer T> ? T : never;
type Machine = Wish["control"]["machine"];

/** Leaves out what is undefined, as YAML does. */
function given<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}

function flat(of: Wish): KubernetesCluster {
  const template = ({ machineClass, provider, architecture, sizes }: Machine) => ({
    spec: given({
      machineClass,
      provider,
      disks:
        sizes.length === 0 ? undefined : sizes.map((sizeGB, index) => ({ name: `disk-${index}`, boot: index === 0, sizeGB, type: "fast" })),
      network: of.networkNamespace === undefined ? undefined : { networkNamespaceName: of.networkNamespace },
      // The shape with topology is published with this default.
      os: { architecture: architecture ?? "amd64" },
    }),
  });
  return {
    apiVersion: "vitistack.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name: of.name },
    spec: given({
      clusterName: of.name,
      kubernetesVersion: of.version,
      talosVersion: of.talosVersion,
      clusterEndpoint: of.endpoint,
      podSubnets: of.podSubnets,
      controlPlane: { replicas: of.control.replicas, machineTemplate: template(of.control.machine) },
      workers: of.workers.map(({ name, replicas, machine: one }) => ({ name, replicas, machineTemplate: template(one) })),
    }),
  };
}

function nested(of: Wish, form: "list" | "object"): KubernetesCluster {
  const group = ({ machineClass, provider, architecture, sizes }: Machine) =>
    given({
      machineClass,
      provider,
      architecture,
      storage: sizes.map((size) => ({ class: "fast", path: "", size: `${size}Gi` })),
    });
  const workers: TopologyGroup[] = of.workers.map(({ name, replicas, machine: one }) => ({ name, replicas, ...group(one) }));
  return {
    apiVersion: "vitistack.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name: of.name },
    spec: given({
      data: given({ ...data, clusterId: of.name, networkNamespaceName: of.networkNamespace }),
      topology: {
        version: of.version ?? "",
        controlplane: { replicas: of.control.replicas, version: "", ...group(of.control.machine) },
        workers: form === "list" ? workers : { nodePools: workers },
      },
      talosVersion: of.talosVersion,
      clusterEndpoint: of.endpoint,
      podSubnets: of.podSubnets,
    }),
  };
}

describe("one wish in both shapes", () => {
  it("gives one model, but for what only an inventory knows", () => {
    fc.assert(
      fc.property(wish, (of) => {
        const { inventory: _, ...model } =
          normaliseCluster(flat(of), defaults).model ?? assert.fail(JSON.stringify(normaliseCluster(flat(of), defaults)));
        for (const form of ["list", "object"] as const) {
          const { inventory: __, ...other } = normaliseCluster(nested(of, form), defaults).model ?? assert.fail(form);
          assert.deepEqual(other, model);
        }
      }),
    );
  });
});

const group = "bench.example.com";

/** A kind as operators have them: defaults, bounds, a list map, a transition rule, a status. */
export const benchCrd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `machines.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "machines", kind: "Machine" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["address"],
                properties: {
                  address: { type: "string", maxLength: 253, pattern: "^[0-9a-z.:-]+$" },
                  disk: { type: "string", default: "/dev/sda" },
                  role: { type: "string", enum: ["controlplane", "worker"], default: "worker" },
                  cluster: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "cluster is immutable" }] },
                  taints: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["key"],
                    items: { type: "object", required: ["key"], properties: { key: { type: "string" }, effect: { type: "string" } } },
                  },
                  note: { type: "string" },
                },
              },
              status: {
                type: "object",
                properties: {
                  phase: { type: "string" },
                  conditions: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["type"],
                    items: {
                      type: "object",
                      required: ["type", "status"],
                      properties: { type: { type: "string" }, status: { type: "string" }, message: { type: "string" } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
} as const;

/** Collection of the machines of the default namespace. */
export const machinesPath = `/apis/${group}/v1/namespaces/default/machines`;

/** A machine of about 700 bytes to send. */
export function machine(name: string): Record<string, unknown> {
  return {
    apiVersion: `${group}/v1`,
    kind: "Machine",
    metadata: { name, namespace: "default", labels: { "bench.example.com/cluster": "c-1", tier: "front" } },
    spec: {
      address: "10.20.30.40",
      cluster: "c-1",
      taints: [
        { key: "a", effect: "NoSchedule" },
        { key: "b", effect: "NoExecute" },
      ],
      note: "x".repeat(300),
    },
  };
}

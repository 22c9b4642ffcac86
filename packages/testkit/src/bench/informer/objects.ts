/** Objects per run, and about how large each is as JSON. */
export const OBJECTS = 10_000;
const OBJECT_BYTES = 3_000;

/** The kind that is served. */
export const thingType = { group: "bench.talos-operator.dev", version: "v1", plural: "things", kind: "Thing", namespaced: true } as const;

/** Digits of each resourceVersion, always as many, so that an event can be stamped in place. */
export const VERSION_DIGITS = 12;
/** What stands where the resourceVersion goes. */
export const VERSION_MARK = "0".repeat(VERSION_DIGITS);

/** One custom resource in the shape that operators cache: labels, a spec, a status with conditions, and managed fields, a third of it all. */
export function thing(index: number, resourceVersion = VERSION_MARK): object {
  const name = `machine-${String(index).padStart(6, "0")}`;
  const time = "2026-11-21T08:00:00Z";
  const object = {
    apiVersion: `${thingType.group}/${thingType.version}`,
    kind: thingType.kind,
    metadata: {
      name,
      namespace: `cluster-${index % 50}`,
      uid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
      resourceVersion,
      generation: 3,
      creationTimestamp: time,
      labels: {
        "talos-operator.dev/cluster": `cluster-${index % 50}`,
        "talos-operator.dev/role": index % 5 < 3 ? "control-plane" : "worker",
      },
      ownerReferences: [
        { apiVersion: "v1", kind: "Owner", name: `pool-${index % 100}`, uid: `11111111-0000-4000-8000-${index % 100}`, controller: true },
      ],
      managedFields: ["operator", "kubectl", "status"].map((manager) => ({
        manager,
        operation: "Apply",
        apiVersion: "bench.talos-operator.dev/v1",
        time,
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": { "f:labels": { "f:talos-operator.dev/cluster": {}, "f:talos-operator.dev/role": {} } },
          "f:spec": { "f:address": {}, "f:version": {}, "f:disks": {}, "f:network": { "f:interfaces": {} } },
        },
      })),
    },
    spec: {
      address: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
      version: "v1.13.9",
      disks: [
        { path: "/dev/sda", sizeBytes: 500_107_862_016 },
        { path: "/dev/nvme0n1", sizeBytes: 1_000_204_886_016 },
      ],
      network: { interfaces: [{ name: "eth0", mac: "52:54:00:00:00:01", mtu: 1500, addresses: ["10.0.0.1/24", "fd00::1/64"] }] },
      notes: "",
    },
    status: {
      observedGeneration: 3,
      conditions: ["Ready", "ConfigUpToDate", "EtcdHealthy", "Reachable"].map((type) => ({
        type,
        status: "True",
        reason: "AsWanted",
        message: `${name} is as the specification wants it`,
        observedGeneration: 3,
        lastTransitionTime: time,
      })),
    },
  };
  object.spec.notes = "n".repeat(Math.max(0, OBJECT_BYTES - JSON.stringify(object).length));
  return object;
}

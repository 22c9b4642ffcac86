/** Objects per run, and about how large each is as JSON. */
export const OBJECTS = 10_000;
const OBJECT_BYTES = 3_000;

/** The kind that is served. */
export const thingType = { group: "bench.talos-operator.dev", version: "v1", plural: "things", kind: "Thing", namespaced: true } as const;

/** What an event changes in an object. */
export type Change = "status" | "everything";

/** Conditions of each object. */
const CONDITIONS = ["ConfigUpToDate", "EtcdHealthy", "Reachable", "Ready"];
const RESOURCE_VERSION = "<version>";
const STATUS_TIME = "<status time>";
const message = (condition: number): string => `<message ${condition}>`;
const time = (condition: number): string => `<time ${condition}>`;
const BEGIN = Date.parse("2026-11-21T08:00:00Z");
const times: string[] = [];
const timeText = (seconds: number): string => (times[seconds] ??= new Date(BEGIN + seconds * 1000).toISOString().replace(".000", ""));

/**
 * One custom resource in the shape that operators cache, its keys sorted as kube-apiserver writes them: labels, a spec, a status with conditions,
 * and managed fields, a third of it all. `edition` is a part of every value that may change.
 */
function thing(index: number, edition: number): object {
  const name = `machine-${String(index).padStart(6, "0")}`;
  const born = timeText(0);
  const object = {
    apiVersion: `${thingType.group}/${thingType.version}`,
    kind: thingType.kind,
    metadata: {
      creationTimestamp: born,
      generation: 3 + edition,
      labels: {
        "talos-operator.dev/cluster": `cluster-${index % 50}`,
        "talos-operator.dev/role": index % 5 < 3 ? `control-plane-${edition}` : `worker-${edition}`,
      },
      managedFields: ["operator", "kubectl", "status"].map((manager) => ({
        apiVersion: "bench.talos-operator.dev/v1",
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": { "f:labels": { "f:talos-operator.dev/cluster": {}, "f:talos-operator.dev/role": {} } },
          "f:spec": { "f:address": {}, "f:disks": {}, "f:network": { "f:interfaces": {} }, "f:version": {} },
        },
        manager,
        operation: "Apply",
        time: manager === "status" ? STATUS_TIME : timeText(edition),
      })),
      name,
      namespace: `cluster-${index % 50}`,
      ownerReferences: [
        {
          apiVersion: "v1",
          controller: true,
          kind: "Owner",
          name: `pool-${index % 100}`,
          uid: `11111111-0000-4000-8000-${String(index % 100).padStart(12, "0")}`,
        },
      ],
      resourceVersion: RESOURCE_VERSION,
      uid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
    },
    spec: {
      address: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
      disks: [
        { path: `/dev/sd${edition}`, sizeBytes: 500_107_862_016 + edition },
        { path: `/dev/nvme${edition}`, sizeBytes: 1_000_204_886_016 + edition },
      ],
      network: {
        interfaces: [
          {
            addresses: [`10.0.0.${edition}/24`, `fd00::${edition}/64`],
            mac: `52:54:00:00:00:0${edition}`,
            mtu: 1500 + edition,
            name: `eth${edition}`,
          },
        ],
      },
      notes: "",
      version: `v1.13.${edition}`,
    },
    status: {
      conditions: CONDITIONS.map((type, condition) => ({
        lastTransitionTime: time(condition),
        message: message(condition),
        observedGeneration: 3 + edition,
        reason: `AsWanted${edition}`,
        status: "True",
        type,
      })),
      observedGeneration: 3 + edition,
    },
  };
  object.spec.notes = String(edition) + "n".repeat(Math.max(0, OBJECT_BYTES - 250 - JSON.stringify(object).length));
  return object;
}

/** The JSON of an object as it changes: `next` is its text after one more change, with the version that the change made. */
export function createChangingThing(index: number, change: Change = "status"): { next(resourceVersion: string): string } {
  const editions = Array.from({ length: change === "status" ? 1 : 4 }, (_, edition) =>
    JSON.stringify(thing(index, edition))
      .split(/(<[a-z 0-9]+>)/)
      .map((part, at) => ({ part, isHole: at % 2 === 1 })),
  );
  const held = new Map<string, string>([[STATUS_TIME, timeText(0)]]);
  const say = (condition: number, count: number): void => {
    held.set(message(condition), `machine ${index} is as the specification wants it, seen ${count} times`);
    held.set(time(condition), timeText(count));
  };
  for (const condition of CONDITIONS.keys()) say(condition, 0);
  let count = 0;
  return {
    next(resourceVersion) {
      held.set(RESOURCE_VERSION, resourceVersion);
      if (count > 0) {
        for (const condition of change === "status" ? [count % CONDITIONS.length] : CONDITIONS.keys()) say(condition, count);
        held.set(STATUS_TIME, timeText(count));
      }
      const parts = editions[count % editions.length] ?? [];
      count += 1;
      let text = "";
      for (const { part, isHole } of parts) text += isHole ? (held.get(part) ?? "") : part;
      return text;
    },
  };
}

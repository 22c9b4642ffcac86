import type { KubeTransport, KubeWatchEvent } from "@talos-operator/ports";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt } from "../request/json.ts";
import { conformanceGroup, metaOf, until, World } from "./world.ts";

/** The custom kinds of the suite: `widgets` with status, scale, columns, selectable fields and rules; `gears`, cluster-scoped and without status. */
export const conformanceCrds: readonly JsonObject[] = [
  {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${conformanceGroup}` },
    spec: {
      group: conformanceGroup,
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget", shortNames: ["wd"], categories: ["all"] },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
          selectableFields: [{ jsonPath: ".spec.color" }],
          additionalPrinterColumns: [
            { name: "Size", type: "integer", jsonPath: ".spec.size" },
            { name: "Color", type: "string", jsonPath: ".spec.color", priority: 1 },
          ],
          schema: {
            openAPIV3Schema: {
              type: "object",
              required: ["spec"],
              properties: {
                spec: {
                  type: "object",
                  required: ["size"],
                  properties: {
                    size: { type: "integer", minimum: 0, maximum: 100 },
                    color: { type: "string", enum: ["red", "green", "blue"], default: "red" },
                    replicas: { type: "integer" },
                    fixed: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed is immutable" }] },
                    parts: {
                      type: "array",
                      "x-kubernetes-list-type": "map",
                      "x-kubernetes-list-map-keys": ["name"],
                      items: { type: "object", required: ["name"], properties: { name: { type: "string" }, count: { type: "integer" } } },
                    },
                  },
                },
                status: {
                  type: "object",
                  properties: { phase: { type: "string" }, replicas: { type: "integer" } },
                },
              },
            },
          },
        },
      ],
    },
  },
  {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `gears.${conformanceGroup}` },
    spec: {
      group: conformanceGroup,
      scope: "Cluster",
      names: { plural: "gears", kind: "Gear" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  },
];

/** Installs the custom kinds and waits, by watching, until they are served. */
export async function installConformanceKinds(transport: KubeTransport): Promise<void> {
  const world = new World(transport, "default");
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  for (const crd of conformanceCrds) {
    await world.create(path, crd);
    const isEstablished = (event: KubeWatchEvent | undefined): boolean =>
      objectsAt(objectAt(event?.object, "status"), "conditions").some(({ type, status }) => type === "Established" && status === "True");
    await world.watch(path, { fieldSelector: `metadata.name=${String(metaOf(crd)["name"])}` }, (events) => isEstablished(events.at(-1)));
  }
  // Established comes a moment before the handler is in place on a genuine server; the kinds are there when a list succeeds.
  for (const crd of conformanceCrds) {
    const plural = String(metaOf(crd)["name"]).split(".")[0] ?? "";
    await until(async () => (await transport.send({ method: "GET", path: `/apis/${conformanceGroup}/v1/${plural}` })).status === 200);
  }
}

/** A world with a fresh namespace. */
export async function createWorld(transport: KubeTransport): Promise<World> {
  const response = await transport.send({
    method: "POST",
    path: "/api/v1/namespaces",
    body: { metadata: { generateName: "conformance-" } },
  });
  return new World(transport, String(metaOf(response.body)["name"]));
}

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { driftedPaths, isIgnored } from "./compare-object.ts";
import type { ComparedObject } from "./compare-object.ts";

const leaf = {};
const container = { name: "web", image: "web:1", ports: [{ containerPort: 80 }], resources: { limits: { cpu: "1000m" } } };
const wanted = (over: object = {}): ComparedObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", labels: { app: "web" } },
  spec: { replicas: 2, template: { spec: { containers: [container] } } },
  ...over,
});

/** As Helm 4 writes it by server-side apply, with what the server and others add. */
function live(
  over: { readonly replicas?: number; readonly image?: string; readonly labels?: object; readonly fields?: object } = {},
): ComparedObject {
  const { replicas = 2, image = "web:1", labels = { app: "web", other: "x" } } = over;
  const containers = {
    'k:{"name":"web"}': {
      ".": leaf,
      "f:name": leaf,
      ...(image === "web:1" ? { "f:image": leaf } : {}),
      "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": leaf, "f:containerPort": leaf } },
      "f:resources": { "f:limits": { "f:cpu": leaf } },
    },
  };
  const fieldsV1 = {
    "f:metadata": { "f:labels": { "f:app": leaf } },
    "f:spec": { ...(replicas === 2 ? { "f:replicas": leaf } : {}), "f:template": { "f:spec": { "f:containers": containers } } },
  };
  const spec = {
    replicas,
    revisionHistoryLimit: 10,
    template: {
      spec: {
        containers: [
          { name: "injected", image: "proxy:1" },
          {
            ...container,
            image,
            ports: [{ containerPort: 80, protocol: "TCP" }],
            resources: { limits: { cpu: "1" } },
            env: [{ name: "A", value: "b" }],
          },
        ],
      },
    },
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", labels, managedFields: [{ manager: "helm", apiVersion: "apps/v1", fieldsV1 }] },
    spec,
  };
}

const unmanaged = (object: ComparedObject): ComparedObject => {
  const { managedFields: _nobody, ...metadata } = object.metadata ?? {};
  return { ...object, metadata };
};

describe("drift of an object", () => {
  for (const [name, from, to, paths] of [
    [
      "nothing, though the server sets defaults, spells a quantity anew and others inject a container and an environment",
      wanted(),
      live(),
      [],
    ],
    ["nothing, where nobody tells who owns fields and the values are alike", wanted(), unmanaged(live()), []],
    ["a field that somebody else took over", wanted(), live({ replicas: 5 }), ["spec.replicas"]],
    ["a field in a list", wanted(), live({ image: "web:2" }), ["spec.template.spec.containers[name=web].image"]],
    [
      "the same where nobody tells who owns fields",
      wanted(),
      unmanaged(live({ image: "web:2" })),
      ["spec.template.spec.containers[name=web].image"],
    ],
    [
      "a label that is gone, where Helm owned only the map",
      wanted({ metadata: { name: "web", labels: { gone: "x" } } }),
      live(),
      ["metadata.labels.gone"],
    ],
    [
      "a container that is gone",
      wanted({ spec: { template: { spec: { containers: [container, { name: "second", image: "b" }] } } } }),
      live(),
      ["spec.template.spec.containers[name=second]"],
    ],
    [
      "nothing for a quantity that is spelled anew, up to the largest units",
      wanted({ spec: { storage: ["2048Ti", "1000T", "1500m"] } }),
      unmanaged({ ...live(), spec: { storage: ["2Pi", "1P", "1.5"] } }),
      [],
    ],
    [
      "a quantity of another unit, and a text that only looks like one",
      wanted({ spec: { size: "2Ti", name: "1x" } }),
      unmanaged({ ...live(), spec: { size: "2T", name: "1y" } }),
      ["spec.size", "spec.name"],
    ],
    ["nothing for what is null", wanted({ spec: { nothing: null } }), live(), []],
  ] as const)
    test(`is ${name}`, () => assert.deepEqual(driftedPaths(from, to), paths));

  test("of a Secret is its path and no value, however it was written", () => {
    const secret = (fields: object): ComparedObject => ({ apiVersion: "v1", kind: "Secret", metadata: { name: "keys" }, ...fields });
    const data = (text: string) => ({ password: Buffer.from(text).toString("base64") });
    assert.deepEqual(driftedPaths(secret({ stringData: { password: "hunter2" } }), secret({ data: data("hunter2") })), []);
    assert.deepEqual(driftedPaths(secret({ stringData: { password: "hunter2" } }), secret({ data: data("other") })), ["data.password"]);
  });

  test("of lists without names is told by their values", () => {
    const list = (args: readonly unknown[]): ComparedObject => ({
      apiVersion: "v1",
      kind: "Thing",
      metadata: { name: "a" },
      spec: { args },
    });
    assert.deepEqual(driftedPaths(list(["a", "b"]), list(["a", "b"])), []);
    assert.deepEqual(driftedPaths(list(["a", "b"]), list(["a", "c"])), ["spec.args"]);
    assert.deepEqual(driftedPaths(list([{ port: 1 }]), list([{ port: 2, other: 1 }])), ["spec.args[0].port"]);
  });

  test("is ignored by a path with all below it, and by no other that begins alike", () => {
    assert.deepEqual(
      ["spec.replicas", "spec.replicas.a", "spec.replicas[0]", "spec.replicasets", "spec"].map((path) =>
        isIgnored(path, ["spec.replicas"]),
      ),
      [true, true, true, false, false],
    );
  });
});

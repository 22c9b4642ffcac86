import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import { NOW } from "../testing/builders.ts";
import { foreignWriter } from "./foreign-writer.ts";
import { createNeighbours } from "./neighbours.ts";

const key = { namespace: "default", name: "demo" };
const at = (minutesAgo: number): string => new Date(NOW - minutesAgo * 60_000).toISOString();
const status = { "f:status": { "f:state": {} } };
const finalizers = { "f:metadata": { "f:finalizers": { ".": {} } } };

describe("a foreign writer", () => {
  const cases: readonly (readonly [string, object, string | undefined])[] = [
    ["of the status", { manager: "manager", time: at(1), fieldsV1: status }, "status"],
    ["of the status as a subresource", { manager: "manager", time: at(1), subresource: "status", fieldsV1: {} }, "status"],
    ["of finalizers", { manager: "manager", time: at(9), fieldsV1: finalizers }, "finalizers"],
    ["whose time cannot be read", { manager: "manager", fieldsV1: status }, "status"],
    ["named as we are, of the status", { manager: "talos-operator", time: at(1), fieldsV1: status }, "status"],
    ["ten minutes ago", { manager: "manager", time: at(10), fieldsV1: status }, undefined],
    ["of the spec alone", { manager: "argocd", time: at(1), fieldsV1: { "f:spec": {} } }, undefined],
    ["that is this operator", { manager: "talos-operator/taloscontrolplane", time: at(1), fieldsV1: status }, undefined],
    ["that is this operator, of finalizers", { manager: "talos-operator", time: at(1), fieldsV1: finalizers }, undefined],
    ["that is a person", { manager: "kubectl-edit", time: at(1), fieldsV1: finalizers }, undefined],
    ["that is the garbage collector", { manager: "kube-controller-manager", time: at(1), fieldsV1: finalizers }, undefined],
  ];
  for (const [who, entry, what] of cases)
    it(`${who} ${what === undefined ? "does not count" : "counts"}`, () => assert.equal(foreignWriter([entry], NOW)?.what, what));
});

function deployment(image: string, replicas?: number): KubeObject {
  return {
    metadata: { namespace: "ops", name: "operator" },
    spec: { ...(replicas === undefined ? {} : { replicas }), template: { spec: { containers: [{ image: "sidecar" }, { image }] } } },
  } as KubeObject;
}

/** As the chart and config/manager label it. */
function ours(image: string): KubeObject {
  const { metadata, ...rest } = deployment(image);
  return { metadata: { name: "operator", ...metadata, labels: { "talos-operator.dev/component": "manager" } }, ...rest };
}

describe("a Deployment of another operator", () => {
  const find = async (object: KubeObject, isAdopted = true): Promise<string | undefined> => {
    const api = createFakeApi();
    api.put("/apis/apps/v1/deployments", object);
    return createNeighbours(createKubeClient(api.transport()), { now: () => NOW }, "us").find(key, isAdopted);
  };
  for (const image of [
    "alperencelik/talos-operator:v0.5.4",
    "docker.io/alperencelik/talos-operator",
    "ghcr.io/vitistack/viti-talos-operator@sha256:0",
    "ghcr.io/vitistack/talos-operator:1",
  ])
    it(`${image} is seen`, async () => assert.match((await find(deployment(image))) ?? "", /Deployment ops\/operator/));
  const unseen: readonly (readonly [string, KubeObject, boolean])[] = [
    ["scaled to nothing", deployment("alperencelik/talos-operator:v0.5.4", 0), true],
    ["of this operator", ours("ghcr.io/vitistack/talos-operator:0.1.0"), true],
    ["of another image", deployment("example.com/alperencelik/talos-operator-ui:1"), true],
    ["beside a cluster that this operator made", deployment("alperencelik/talos-operator:v0.5.4"), false],
  ];
  for (const [what, object, isAdopted] of unseen)
    it(`${what} does not count`, async () => assert.equal(await find(object, isAdopted), undefined));

  it("that may not be listed is not visible; that cannot be listed for another reason is not known", async () => {
    for (const [code, expected] of [
      [403, undefined],
      [500, "throws"],
    ] as const) {
      const api = createFakeApi();
      api.onRequest = (request) =>
        request.path.includes("deployments")
          ? {
              status: code,
              headers: {},
              body: { kind: "Status", status: "Failure", reason: code === 403 ? "Forbidden" : "InternalError", code },
            }
          : undefined;
      const found = createNeighbours(createKubeClient(api.transport()), { now: () => NOW }, "us").find(key, true);
      if (expected === "throws") await assert.rejects(found);
      else assert.equal(await found, undefined);
    }
  });
});

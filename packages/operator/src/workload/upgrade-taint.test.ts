import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import type { FakeApi } from "@talos-operator/kube-runtime/testing";
import { UPGRADE_TAINT } from "./seen-node.ts";
import { putUpgradeTaint, takeUpgradeTaintOff } from "./upgrade-taint.ts";

const ours = { key: UPGRADE_TAINT, effect: "PreferNoSchedule" };
const theirs = { key: "team", value: "blue", effect: "PreferNoSchedule", timeAdded: "2026-01-01T00:00:00Z" };
const owner = (name: string) => ({ node: name, uuid: `uuid-${name}`, address: "10.0.0.1" });

function put(api: FakeApi, name: string, taints: readonly object[] = [], uuid = `uuid-${name}`, more: object = {}): void {
  api.put("/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    spec: { ...more, ...(taints.length === 0 ? {} : { taints }) },
    status: { nodeInfo: { systemUUID: uuid } },
  } as KubeObject);
}

const taintsOf = (api: FakeApi): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    api.objects("/api/v1/nodes").map((node) => [node.metadata?.name, (node as { spec?: { taints?: unknown } }).spec?.taints ?? []]),
  );

function world() {
  const api = createFakeApi();
  let asked = 0;
  const limits = async () => {
    asked += 1;
    return { timeoutMs: 1_000 };
  };
  return { api, client: createKubeClient(api.transport()), limits, asked: () => asked };
}

describe("the taint of upgrades on Nodes", () => {
  test("is added to those of others, and taken away alone", async () => {
    const { api, client, limits } = world();
    put(api, "a", [theirs]);
    put(api, "b");
    put(api, "c");
    await putUpgradeTaint(client, [owner("a"), owner("b")], limits);
    assert.deepEqual(taintsOf(api), { a: [theirs, ours], b: [ours], c: [] });
    await takeUpgradeTaintOff(client, ["a", "b", "gone"], limits);
    assert.deepEqual(taintsOf(api), { a: [theirs], b: [], c: [] });
  });

  test("is one list, and a write for each Node that lacks it", async () => {
    const { api, client, limits } = world();
    put(api, "a", [ours]);
    for (let n = 0; n < 20; n += 1) put(api, `n${n}`);
    await putUpgradeTaint(client, ["a", ...Array.from({ length: 20 }, (_, n) => `n${n}`)].map(owner), limits);
    assert.deepEqual(
      [...Map.groupBy(api.requests, ({ method }) => method)].map(([method, all]) => [method, all.length]),
      [
        ["GET", 1],
        ["PATCH", 20],
      ],
    );
  });

  test("is not put on the Node of another machine, nor where pods are kept away anyway", async () => {
    const { api, client, limits } = world();
    put(api, "a", [], "another");
    put(api, "b", [{ key: "x", effect: "NoSchedule" }]);
    put(api, "c", [], "uuid-c", { unschedulable: true });
    const before = taintsOf(api);
    await putUpgradeTaint(client, ["a", "b", "c"].map(owner), limits);
    assert.deepEqual(taintsOf(api), before);
  });

  test("is not taken for a taint of its key with another effect", async () => {
    const { api, client, limits } = world();
    put(api, "a", [{ ...ours, effect: "NoExecute" }]);
    await takeUpgradeTaintOff(client, ["a"], limits);
    assert.deepEqual(taintsOf(api), { a: [{ ...ours, effect: "NoExecute" }] });
  });

  test("keeps what somebody else writes in between", async () => {
    const { api, client, limits } = world();
    put(api, "a");
    api.onRequest = ({ method }) => {
      if (method !== "PATCH") return undefined;
      api.onRequest = undefined;
      put(api, "a", [theirs]);
      return undefined;
    };
    await putUpgradeTaint(client, [owner("a")], limits);
    assert.deepEqual(taintsOf(api), { a: [theirs, ours] });
  });

  test("is left where the Node goes in between", async () => {
    const { api, client, limits } = world();
    put(api, "a", [ours]);
    api.onRequest = ({ method }) => {
      if (method === "PATCH") api.remove("/api/v1/nodes", undefined, "a");
      return undefined;
    };
    await takeUpgradeTaintOff(client, ["a"], limits);
    assert.deepEqual(taintsOf(api), {});
  });

  test("asks before each handful whether it may still be sent", async () => {
    const { api, client } = world();
    for (let n = 0; n < 20; n += 1) put(api, `n${String(n).padStart(2, "0")}`);
    let left = 2;
    const limits = async () => {
      if (left === 0) throw new Error("another process leads");
      left -= 1;
      return { timeoutMs: 1_000 };
    };
    const owners = Array.from({ length: 20 }, (_, n) => owner(`n${String(n).padStart(2, "0")}`));
    await assert.rejects(putUpgradeTaint(client, owners, limits), /another process leads/);
    assert.equal(Object.values(taintsOf(api)).filter((taints) => (taints as readonly object[]).length > 0).length, 8);
  });
});

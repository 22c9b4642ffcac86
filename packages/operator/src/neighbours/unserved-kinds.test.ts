import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi, createMemoryLog } from "@talos-operator/kube-runtime/testing";
import { reportUnserved } from "./unserved-kinds.ts";

const group = "/apis/talos.alperen.cloud/v1alpha1";

async function told(prepare: (api: ReturnType<typeof createFakeApi>) => void, namespace?: string) {
  const api = createFakeApi();
  prepare(api);
  const log = createMemoryLog();
  await reportUnserved(createKubeClient(api.transport()), log, { namespace, signal: new AbortController().signal });
  return { api, warned: log.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields["kinds"]) };
}

describe("objects of kinds that are not served", () => {
  it("are counted by kind in one line", async () => {
    const { warned } = await told((api) => {
      for (const name of ["a", "b"]) api.put(`${group}/talosclusteraddonreleases`, { metadata: { namespace: "ns", name } });
      api.put(`${group}/talosclusteraddons`, { metadata: { namespace: "other", name: "c" } });
    });
    assert.deepEqual(warned, [{ TalosClusterAddon: 1, TalosClusterAddonRelease: 2 }]);
  });

  it("count where the operator works alone", async () => {
    const put = (api: ReturnType<typeof createFakeApi>): void =>
      void api.put(`${group}/talosclusteraddons`, { metadata: { namespace: "ns", name: "a" } });
    assert.deepEqual((await told(put, "ns")).warned, [{ TalosClusterAddon: 1 }]);
    assert.deepEqual((await told(put, "other")).warned, []);
  });

  it("are not spoken of where there are none, and where nobody may look or nothing answers", async () => {
    assert.deepEqual((await told(() => undefined)).warned, []);
    const refused = await told((api) => {
      api.onRequest = () => "break";
    });
    assert.deepEqual([refused.warned, refused.api.requests.length], [[], 2]);
  });
});

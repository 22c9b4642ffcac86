// Who reads `--show-managed-fields` sees the operator's name on everything that it wrote.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeTransport } from "@talos-operator/ports";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";

const namespace = "default";
const unnamed = new Set<string>();

/** Notes every write without a field manager of ours. */
function watched(real: KubeTransport): KubeTransport {
  return {
    ...real,
    send(request, options) {
      const isWrite = ["POST", "PUT", "PATCH"].includes(request.method);
      if (isWrite && !/^talos-operator(\/|$)/.test(request.query?.["fieldManager"] ?? "")) unnamed.add(`${request.method} ${request.path}`);
      return real.send(request, options);
    },
  };
}

test("every write of the operator carries its name: while it makes a cluster, changes and deletes it", () =>
  tell({ kube: watched }, async (world) => {
    await apply(world, kinds.cluster, demoCluster(["10.5.0.1"], ["10.5.0.4"]));
    await world.start();
    await world.untilReady();
    const [entry] = ((await world.get(kinds.cluster))?.metadata?.managedFields ?? []).filter((one) =>
      JSON.stringify(one ?? "").includes("f:finalizers"),
    );
    assert.equal((entry as { readonly manager?: string } | undefined)?.manager, "talos-operator");
    await world.client.resource(kinds.cluster).delete({ namespace, name: "demo" });
    await world.until(
      "gone",
      async () => (await world.client.resource(kinds.cluster).tryGet({ namespace, name: "demo" })) === undefined,
      600,
    );
    assert.deepEqual([...unnamed], []);
  }));

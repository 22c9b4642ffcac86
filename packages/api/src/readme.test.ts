import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { stripTypeScriptTypes } from "node:module";

it("runs the README's example and gets what it says", async () => {
  const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
  const code = /```ts\n([\s\S]*?)```/.exec(readme)?.[1];
  assert.ok(code);
  const index = new URL("./index.ts", import.meta.url).href;
  const source = `${stripTypeScriptTypes(code).replaceAll("@talos-operator/api", index)}\nexport { conditions };`;
  const { conditions } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as { conditions: readonly unknown[] };
  assert.deepEqual(conditions, [
    {
      type: "Ready",
      status: "False",
      reason: "AddressInClusterRange",
      message:
        'spec.metalSpec.machines[0].address: "10.96.0.7" lies in 10.96.0.0/12, the network of services: etcd would wait for an address outside it for ever. Move the machine, or set spec.serviceCIDR to a network apart from it: 10.96.0.0/12 is the default.',
      observedGeneration: 1,
      lastTransitionTime: "2026-01-02T00:00:00Z",
    },
  ]);
});

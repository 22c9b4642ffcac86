import assert from "node:assert/strict";
import { it } from "node:test";
import { metaOf } from "../conformance/world.ts";
import { startMemoryServer } from "../testing/memory-server.ts";

const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

it("a claim that is deleted stays until no pod on a node uses it", async () => {
  const { world, time } = await startMemoryServer();
  const claims = world.core("persistentvolumeclaims");
  const made = await world.create(claims, { metadata: { name: "data" }, spec });
  assert.deepEqual(metaOf(made)["finalizers"], ["kubernetes.io/pvc-protection"]);
  const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "data" } }];
  await world.create(world.core("pods"), {
    metadata: { name: "p" },
    spec: { nodeName: "n", containers: [{ name: "c", image: "i" }], volumes },
  });
  await world.ok(world.send("DELETE", `${claims}/data`));
  time.advance(0);
  assert.ok(metaOf(await world.ok(world.get(`${claims}/data`)))["deletionTimestamp"]);
  await world.ok(world.send("DELETE", world.core("pods", "p")));
  time.advance(0);
  assert.equal((await world.get(`${claims}/data`)).status, 404);
});

it("a volume that is deleted stays while a claim has it", async () => {
  const { world, time } = await startMemoryServer();
  const volume = "/api/v1/persistentvolumes/pv";
  const source = { hostPath: { path: "/x" }, capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] };
  await world.create("/api/v1/persistentvolumes", { metadata: { name: "pv" }, spec: source });
  await world.ok(world.patch(`${volume}/status`, "merge", { status: { phase: "Bound" } }));
  await world.ok(world.send("DELETE", volume));
  time.advance(0);
  assert.equal((await world.get(volume)).status, 200);
  await world.ok(world.patch(`${volume}/status`, "merge", { status: { phase: "Released" } }));
  time.advance(0);
  assert.equal((await world.get(volume)).status, 404);
});

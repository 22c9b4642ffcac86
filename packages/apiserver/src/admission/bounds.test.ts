import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { metaOf } from "../conformance/world.ts";
import type { World } from "../conformance/world.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt } from "../request/json.ts";
import { startMemoryServer } from "../testing/memory-server.ts";
import type { MemoryServer } from "../testing/memory-server.ts";

type Resources = Readonly<Record<string, Readonly<Record<string, string>>>>;
const pod = (name: string, resources: Resources = {}): JsonObject => ({
  metadata: { name },
  spec: { containers: [{ name: "c", image: "i", resources }] },
});

async function withQuota(hard: JsonObject, more: JsonObject = {}): Promise<MemoryServer> {
  const server = await startMemoryServer();
  await server.world.create(server.world.core("resourcequotas"), { metadata: { name: "q" }, spec: { hard, ...more } });
  server.time.advance(0);
  return server;
}

async function usedOf({ world, time }: MemoryServer): Promise<JsonObject> {
  time.advance(0);
  return objectAt(objectAt(await world.ok(world.get(world.core("resourcequotas", "q"))), "status"), "used");
}

async function refusal(w: World, resource: string, object: JsonObject): Promise<string> {
  const answer = await w.send("POST", w.core(resource), object);
  assert.equal(answer.status, 403, JSON.stringify(answer.body));
  return String((answer.body as JsonObject)["message"]);
}

describe("a ResourceQuota", () => {
  it("counts objects, and refuses the one too many", async () => {
    const server = await withQuota({ configmaps: "1", "count/secrets": "1" });
    const { world } = server;
    await world.create(world.core("configmaps"), { metadata: { name: "a" } });
    assert.deepEqual(await usedOf(server), { configmaps: "1", "count/secrets": "0" });
    assert.equal(
      await refusal(world, "configmaps", { metadata: { name: "b" } }),
      'configmaps "b" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
    );
    await world.ok(world.send("DELETE", world.core("configmaps", "a")));
    await world.create(world.core("configmaps"), { metadata: { name: "b" } });
    assert.deepEqual(await usedOf(server), { configmaps: "1", "count/secrets": "0" });
  });

  it("adds up what pods ask for, and says it in the suffixes of the first", async () => {
    const server = await withQuota({ "requests.cpu": "1", "limits.memory": "1Gi", pods: "5" });
    const { world } = server;
    const resources = { requests: { cpu: "400m" }, limits: { cpu: "1", memory: "256Mi" } };
    await world.create(world.core("pods"), pod("a", resources));
    await world.create(world.core("pods"), pod("b", resources));
    assert.deepEqual(await usedOf(server), { "requests.cpu": "800m", "limits.memory": "512Mi", pods: "2" });
    assert.match(
      await refusal(world, "pods", pod("c", resources)),
      /requested: requests\.cpu=400m, used: requests\.cpu=800m, limited: requests\.cpu=1$/,
    );
    await world.ok(world.patch(world.core("pods", "a/status"), "merge", { status: { phase: "Succeeded" } }));
    assert.deepEqual(await usedOf(server), { "requests.cpu": "400m", "limits.memory": "256Mi", pods: "1" });
  });

  it("wants every container to say how much it asks for", async () => {
    const { world } = await withQuota({ "requests.cpu": "1", "limits.memory": "1Gi" });
    assert.equal(
      await refusal(world, "pods", pod("a")),
      'pods "a" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c',
    );
  });

  it("leaves alone what its scopes are not about", async () => {
    const server = await withQuota({ pods: "1" }, { scopes: ["BestEffort"] });
    const { world } = server;
    await world.create(world.core("pods"), pod("busy", { requests: { cpu: "1" } }));
    await world.create(world.core("pods"), pod("idle"));
    assert.deepEqual(await usedOf(server), { pods: "1" });
    assert.match(await refusal(world, "pods", pod("lazy")), /exceeded quota: q/);
  });

  it("counts what a changed Service costs more than before", async () => {
    const server = await withQuota({ "services.nodeports": "1", services: "3" });
    const { world } = server;
    const ports = [
      { port: 80, name: "a" },
      { port: 81, name: "b" },
    ];
    await world.create(world.core("services"), { metadata: { name: "s" }, spec: { ports } });
    const answer = await world.patch(world.core("services", "s"), "merge", { spec: { type: "NodePort" } });
    assert.equal(answer.status, 403);
    await world.ok(world.patch(world.core("services", "s"), "merge", { spec: { type: "NodePort", ports: [{ port: 80 }] } }));
    // The API itself has a Service here.
    assert.deepEqual(await usedOf(server), { "services.nodeports": "1", services: "2" });
  });

  it("counts custom objects and claims of a class by their names", async () => {
    const gold = "gold.storageclass.storage.k8s.io/requests.storage";
    const server = await withQuota({ [gold]: "5Gi", "requests.storage": "10Gi", "count/leases.coordination.k8s.io": "0" });
    const { world } = server;
    const claim = (name: string, storage: string): JsonObject => ({
      metadata: { name },
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "gold", resources: { requests: { storage } } },
    });
    await world.create(world.core("persistentvolumeclaims"), claim("a", "4Gi"));
    assert.match(await refusal(world, "persistentvolumeclaims", claim("b", "2Gi")), /requested: gold\.\S+=2Gi, used: gold\.\S+=4Gi/);
    const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    assert.equal((await world.send("POST", leases, { metadata: { name: "l" } })).status, 403);
    assert.deepEqual(await usedOf(server), { [gold]: "4Gi", "requests.storage": "4Gi", "count/leases.coordination.k8s.io": "0" });
  });
});

describe("a LimitRange", () => {
  const withLimits = async (...limits: readonly JsonObject[]): Promise<World> => {
    const { world } = await startMemoryServer();
    await world.create(world.core("limitranges"), { metadata: { name: "l" }, spec: { limits } });
    return world;
  };

  it("gives containers what they do not ask for, and tells of it", async () => {
    const world = await withLimits({ type: "Container", default: { cpu: "200m", memory: "256Mi" }, defaultRequest: { cpu: "100m" } });
    const made = await world.create(world.core("pods"), pod("a", { limits: { memory: "1Gi" } }));
    const [container] = objectsAt(objectAt(made, "spec"), "containers");
    assert.deepEqual(container?.["resources"], { limits: { cpu: "200m", memory: "1Gi" }, requests: { cpu: "100m", memory: "1Gi" } });
    assert.deepEqual(objectAt(metaOf(made), "annotations"), {
      "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container c; cpu limit for container c",
    });
    assert.equal(objectAt(made, "status")["qosClass"], "Burstable");
  });

  it("refuses what lies outside its bounds", async () => {
    const bounds = { min: { cpu: "50m" }, max: { cpu: "1" }, maxLimitRequestRatio: { cpu: "2" } };
    const world = await withLimits({ type: "Container", ...bounds }, { type: "Pod", max: { memory: "1Gi" } });
    assert.equal(
      await refusal(world, "pods", pod("a", { requests: { cpu: "10m" }, limits: { cpu: "2", memory: "2Gi" } })),
      'pods "a" is forbidden: [minimum cpu usage per Container is 50m, but request is 10m, maximum cpu usage per Container is 1, but limit is 2, cpu max limit to request ratio per Container is 2, but provided ratio is 200.000000, maximum memory usage per Pod is 1Gi, but limit is 2Gi]',
    );
    assert.match(
      await refusal(world, "pods", pod("a", { requests: { cpu: "1" } })),
      /maximum memory usage per Pod is 1Gi\. {2}No limit is specified/,
    );
  });

  it("binds the size of claims", async () => {
    const world = await withLimits({ type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "5Gi" } });
    const claim = (storage: string): JsonObject => ({
      metadata: { name: "c" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
    });
    assert.match(
      await refusal(world, "persistentvolumeclaims", claim("10Gi")),
      /maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 10Gi/,
    );
    await world.create(world.core("persistentvolumeclaims"), claim("2Gi"));
  });
});

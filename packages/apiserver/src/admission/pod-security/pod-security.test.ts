import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../json.ts";
import { startMemoryServer } from "../../testing/memory-server.ts";
import type { MemoryServer } from "../../testing/memory-server.ts";

const labels = (said: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(said).map(([mode, value]) => [`pod-security.kubernetes.io/${mode}`, value]));

async function startLabelled(said: Readonly<Record<string, string>>): Promise<MemoryServer> {
  const server = await startMemoryServer();
  await server.world.ok(server.world.patch("/api/v1/namespaces/default", "merge", { metadata: { labels: labels(said) } }));
  return server;
}

const pod = (name: string, spec: JsonObject = {}): JsonObject => ({
  metadata: { name },
  spec: { containers: [{ name: "c", image: "i" }], ...spec },
});

// What each profile says of a pod is held to the genuine server by `differential/pod-security-cases.ts`.
describe("a namespace that enforces a profile", () => {
  it("refuses pods, on the next request, and lets those that are there live on", async () => {
    const { world } = await startMemoryServer();
    const pods = "/api/v1/namespaces/default/pods";
    await world.create(pods, pod("old", { hostNetwork: true }));
    await world.ok(world.patch("/api/v1/namespaces/default", "merge", { metadata: { labels: labels({ enforce: "baseline" }) } }));
    await world.refused(world.send("POST", pods, pod("new", { hostNetwork: true })), {
      status: 403,
      message: 'pods "new" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
    });
    await world.create(pods, pod("fit"));
    await world.ok(world.patch(`${pods}/old`, "merge", { metadata: { labels: { a: "b" } } }));
    const image = { spec: { containers: [{ name: "c", image: "other" }] } };
    await world.refused(world.patch(`${pods}/old`, "strategic-merge", image), {
      status: 403,
      message: /violates PodSecurity "baseline:latest"/u,
    });
  });

  it("takes its labels only when they name a profile and a version", async () => {
    const { world } = await startMemoryServer();
    for (const said of [{ enforce: "nope" }, { "enforce-version": "1.2" }])
      await world.refused(world.patch("/api/v1/namespaces/default", "merge", { metadata: { labels: labels(said) } }), { status: 422 });
  });
});

it("audit and warn are kept and say nothing", async () => {
  const { world } = await startLabelled({ audit: "restricted", warn: "restricted" });
  const { status, headers } = await world.send("POST", "/api/v1/namespaces/default/pods", pod("p", { hostNetwork: true }));
  assert.deepEqual([status, headers["warning"]], [201, undefined]);
});

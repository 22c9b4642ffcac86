import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KubeResponse } from "@talos-operator/ports";
import type { JsonObject } from "../../json.ts";
import { startMemoryServer } from "../../testing/memory-server.ts";
import type { MemoryServer } from "../../testing/memory-server.ts";

const enforce = "pod-security.kubernetes.io/enforce";

async function startWith(pods: readonly (readonly [name: string, spec: JsonObject, controller?: string])[]): Promise<MemoryServer> {
  const server = await startMemoryServer();
  for (const [name, spec, uid] of pods) {
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "r", uid, controller: true };
    await server.world.create(server.world.core("pods"), {
      metadata: { name, ...(uid === undefined ? {} : { ownerReferences: [owner] }) },
      spec: { containers: [{ name: "c", image: "i" }], ...spec },
    });
  }
  return server;
}

function label({ world }: MemoryServer, level: string): Promise<KubeResponse> {
  return world.patch("/api/v1/namespaces/default", "merge", { metadata: { labels: { [enforce]: level } } });
}

const warnings = (answer: KubeResponse): readonly string[] =>
  [...(answer.headers["warning"] ?? "").matchAll(/299 - "((?:[^"\\]|\\.)*)"/gu)].map((found) => (found[1] ?? "").replaceAll("\\", ""));

// What each profile says of a pod is held to the genuine server by `differential/pod-security-cases.ts`.
describe("a namespace that enforces a stricter profile", () => {
  it("names the pods that would not be let in again, those of one fault together", async () => {
    const server = await startWith([
      ["b", { hostNetwork: true }],
      ["a", { hostPID: true }],
      ["c", {}],
    ]);
    assert.deepEqual(warnings(await label(server, "baseline")), [
      'existing pods in namespace "default" violate the new PodSecurity enforce level "baseline:latest"',
      "a (and 1 other pod): host namespaces",
    ]);
    assert.deepEqual(warnings(await label(server, "baseline")), []);
    assert.equal((await label(server, "privileged")).status, 200);
  });

  it("looks at three thousand pods, and first at one of every controller", async () => {
    const many = Array.from({ length: 3001 }, (_, index) => [`p${index}`, {}, "one"] as const);
    const server = await startWith([...many, ["z", { hostIPC: true }, "two"]]);
    assert.deepEqual(warnings(await label(server, "baseline")), [
      "new PodSecurity enforce level only checked against the first 3000 of 3002 existing pods",
      'existing pods in namespace "default" violate the new PodSecurity enforce level "baseline:latest"',
      "z: host namespaces",
    ]);
  });
});

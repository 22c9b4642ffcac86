import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import type { KubeRequest, KubeTransport } from "@talos-operator/ports";
import { nestedCluster } from "./composition.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const addresses = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];

/** An API server that refuses some writes for as long as it is told to. */
class Refusing {
  refuses: ((request: KubeRequest) => { readonly code: number; readonly reason: string; readonly message: string } | undefined) | undefined;

  readonly over = (real: KubeTransport): KubeTransport => ({
    ...real,
    send: async (request, options) => {
      const refusal = this.refuses?.(request);
      if (refusal === undefined) return real.send(request, options);
      return { status: refusal.code, headers: {}, body: { kind: "Status", apiVersion: "v1", status: "Failure", ...refusal } };
    },
    watch: (request, options) => real.watch(request, options),
    close: () => real.close(),
  });
}

const writes = new Set(["POST", "PUT", "PATCH"]);
const to = (request: KubeRequest, plural: string): boolean => writes.has(request.method) && request.path.includes(`/${plural}`);

async function until(world: Story, kind: Parameters<Story["condition"]>[0]): Promise<string> {
  let message = "";
  await world.until(
    "told",
    async () => {
      const ready = await world.condition(kind, "Ready");
      message = ready?.message ?? "";
      return ready?.reason === "WriteRefused" && ready.status === "False";
    },
    60,
  );
  return message;
}

describe("a write that the API server refuses is told, nothing is done without it, and it goes on when the cause goes (Li3)", () => {
  for (const [what, plural, kind, refusal, says] of [
    [
      "a quota of Secrets is used up before there are keys",
      "secrets",
      kinds.controlPlane,
      { code: 403, reason: "Forbidden", message: "exceeded quota" },
      /FORBIDDEN: create secrets default\/demo-bundle-1/,
    ],
    [
      "the record is larger than etcd takes",
      "clusterrecords",
      kinds.controlPlane,
      { code: 413, reason: "RequestEntityTooLarge", message: "etcdserver: request is too large" },
      /TOO_LARGE: .*clusterrecords.*request is too large/,
    ],
    [
      "an admission rule keeps TalosMachines out: on the pool",
      "talosmachines",
      kinds.worker,
      { code: 422, reason: "Invalid", message: "no machines on Fridays" },
      /INVALID: .*talosmachines.*no machines on Fridays/,
    ],
    [
      "the rights to make a TalosControlPlane were taken away",
      "taloscontrolplanes",
      kinds.cluster,
      { code: 403, reason: "Forbidden", message: "cannot patch" },
      /FORBIDDEN: .*taloscontrolplanes.*cannot patch/,
    ],
  ] as const)
    test(what, () => {
      const api = new Refusing();
      return tell({ kube: api.over }, async (world) => {
        api.refuses = (request) => (to(request, plural) && !request.path.endsWith("/status") ? refusal : undefined);
        await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(addresses, ["10.5.0.4"]));
        await world.start();
        assert.match(await until(world, kind), says);
        await world.time.advance(120_000);
        assert.match(await until(world, kind), says);
        if (plural !== "talosmachines") assert.deepEqual(world.sent, []);
        api.refuses = undefined;
        await world.untilReady();
      });
    });

  test("an admission rule keeps the control plane of a KubernetesCluster out", () => {
    const api = new Refusing();
    return tell({ kube: api.over }, async (world) => {
      const refusal = { code: 422, reason: "Invalid", message: "no control planes on Fridays" };
      api.refuses = (request) => (to(request, "taloscontrolplanes") ? refusal : undefined);
      await world.client.resource(kinds.kubernetesCluster).create(nestedCluster());
      await world.start();
      assert.match(await until(world, kinds.kubernetesCluster), /INVALID: .*taloscontrolplanes.*no control planes on Fridays/);
      api.refuses = undefined;
      await world.until("made", async () => (await world.client.resource(kinds.controlPlane).list()).items.length === 1, 120);
      await world.until("told", async () => (await world.condition(kinds.kubernetesCluster, "Ready"))?.reason !== "WriteRefused", 60);
    });
  });

  test("access Secrets alone: the cluster is made, and AccessNotRenewed says what is in the way", () => {
    const api = new Refusing();
    return tell({ kube: api.over }, async (world) => {
      api.refuses = (request) =>
        to(request, "secrets") && JSON.stringify(request.body ?? {}).includes("config")
          ? { code: 403, reason: "Forbidden", message: "no" }
          : undefined;
      await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1"], []));
      await world.start();
      await world.until(
        "told",
        async () => (await world.condition(kinds.controlPlane, "AccessNotRenewed"))?.reason === "WriteRefused",
        900,
      );
      const told = await world.condition(kinds.controlPlane, "AccessNotRenewed");
      assert.match(told?.message ?? "", /demo-kubeconfig is not there, and the API server refuses.*demo-talosconfig is not there/);
      const before = world.writes.filter((write) => write.includes("/secrets")).length;
      await world.time.advance(600_000);
      const tries = world.writes.filter((write) => write.includes("/secrets")).length - before;
      assert.ok(tries > 0 && tries <= 24, `${tries} tries in ten minutes`);
      api.refuses = undefined;
      await world.untilReady(900);
      assert.equal(await world.condition(kinds.controlPlane, "AccessNotRenewed"), undefined);
    });
  });
});

// Calls that change a machine, apart from configs, etcd and upgrades.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { create } from "@bufbuild/protobuf";

import { cluster, machine } from "../protocol.ts";
import { META_KEYS } from "./meta.ts";
import { callFailure } from "./testing/memory-channel.ts";
import { clientOf, collect, rejectsWith } from "./testing/with-client.ts";

const M = "/machine.MachineService";

test("services are started, stopped and restarted", async () => {
  const { client, channel } = clientOf({
    [`${M}/ServiceStart`]: () => create(machine.ServiceStartResponseSchema, { messages: [{ resp: "started" }] }),
    [`${M}/ServiceStop`]: () => create(machine.ServiceStopResponseSchema, { messages: [{ resp: "stopped" }] }),
    [`${M}/ServiceRestart`]: () => create(machine.ServiceRestartResponseSchema, { messages: [{ resp: "restarted" }] }),
  });
  const words = [];
  for (const action of ["start", "stop", "restart"] as const) words.push(await client.serviceControl("ext-x", action));
  assert.deepEqual(words, ["started", "stopped", "restarted"]);
  assert.ok(channel.calls.every((call) => (call.request as machine.ServiceStartRequest).id === "ext-x"));
});

test("META is written as text or bytes, and a key that is not set cannot be deleted", async () => {
  const { client, request } = clientOf({
    [`${M}/MetaWrite`]: () => create(machine.MetaWriteResponseSchema, { messages: [{}] }),
    [`${M}/MetaDelete`]: () => {
      throw callFailure(5, "key not found");
    },
  });
  await client.metaWrite(META_KEYS.metalNetwork, "ü");
  await client.metaWrite(META_KEYS.user1, new Uint8Array([0, 255]));
  assert.deepEqual(
    [0, 1].map((index) => [request<machine.MetaWriteRequest>(index).key, [...request<machine.MetaWriteRequest>(index).value]]),
    [
      [10, [0xc3, 0xbc]],
      [12, [0, 255]],
    ],
  );
  await rejectsWith(client.metaDelete(META_KEYS.user2), "NOT_FOUND");
});

describe("the health of a cluster", () => {
  test("comes in lines", async () => {
    const { client, request, channel } = clientOf({
      "/cluster.ClusterService/HealthCheck": () => [create(cluster.HealthCheckProgressSchema, { message: "waiting for etcd: OK" })],
    });
    assert.deepEqual(await collect(client.clusterHealth({ controlPlanes: ["10.5.0.2"], waitMs: 20_000 })), ["waiting for etcd: OK"]);
    const { waitTimeout, clusterInfo } = request<cluster.HealthCheckRequest>();
    assert.deepEqual([waitTimeout?.seconds, clusterInfo?.controlPlaneNodes], [20n, ["10.5.0.2"]]);
    assert.equal(channel.calls[0]?.options.timeoutMs, 30_000);
  });

  test("that is not good is the stream's failure", async () => {
    const failing = async function* () {
      yield create(cluster.HealthCheckProgressSchema, { message: "waiting for etcd: no leader" });
      throw callFailure(4, "healthcheck error: context deadline exceeded");
    };
    await rejectsWith(collect(clientOf({ "/cluster.ClusterService/HealthCheck": failing }).client.clusterHealth()), "DEADLINE_EXCEEDED");
  });
});

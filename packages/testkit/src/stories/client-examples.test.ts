import assert from "node:assert/strict";
import { test } from "node:test";
import { etcdMembers } from "../../../../hack/talos-client-examples/etcd-members.ts";
import { machines } from "../../../../hack/talos-client-examples/machines.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Conditioned } from "./story.ts";

test("the examples of the client tell machines and members of a cluster by its talosconfig, past one that is silent (B134)", () =>
  tell({}, async (world) => {
    await apply(world, kinds.cluster, demoCluster(["10.5.0.1", "10.5.0.2", "10.5.0.3"]));
    await world.start();
    await world.untilReady(600);
    const { data } = (await world.get(kinds.secret, "demo-talosconfig")) as Conditioned & { readonly data: Record<string, string> };
    const talosconfig = Buffer.from(Object.values(data)[0] ?? "", "base64").toString("utf8");
    const dialer = world.datacenter.dialer();
    const addresses = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
    const first = machines(talosconfig, dialer);
    await world.time.advance(1_000);
    assert.deepEqual(
      (await first).toSorted(),
      addresses.map((address) => `${address} v1.13.9 running`),
    );
    world.datacenter.machine("10.5.0.1").powerOff();
    const second = etcdMembers(talosconfig, dialer);
    await world.time.advance(60_000);
    const peers = (await second).map((line) => line.split(" ").at(-1) ?? "");
    assert.deepEqual(
      peers.toSorted(),
      addresses.map((address) => `https://${address}:2380`),
    );
  }));

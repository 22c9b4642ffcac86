import assert from "node:assert/strict";
import { test } from "node:test";

import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";

import { machine } from "../protocol.ts";
import { callFailure } from "./testing/memory-channel.ts";
import { clientOf, rejectsWith } from "./testing/with-client.ts";

test("volumes, groups and arrays are removed by name", async () => {
  const done = (): unknown => create(EmptySchema);
  const { client, channel, request } = clientOf({
    "/machine.LVMService/LogicalVolumeRemove": done,
    "/machine.LVMService/VolumeGroupRemove": done,
    "/machine.LVMService/PhysicalVolumeRemove": done,
    "/machine.MDService/Destroy": done,
  });
  await client.logicalVolumeRemove({ volumeGroup: "vg0", logicalVolume: "data" }, { node: "10.5.0.3" });
  await client.volumeGroupRemove("vg0");
  await client.physicalVolumeRemove("/dev/sdb");
  await client.raidArrayDestroy("/dev/md0");
  const { volumeGroup, logicalVolume } = request<machine.LVMServiceLogicalVolumeRemoveRequest>(0);
  assert.deepEqual([volumeGroup, logicalVolume, channel.calls[0]?.options.node], ["vg0", "data", "10.5.0.3"]);
  assert.equal(request<machine.LVMServiceVolumeGroupRemoveRequest>(1).volumeGroup, "vg0");
  assert.equal(request<machine.LVMServicePhysicalVolumeRemoveRequest>(2).device, "/dev/sdb");
  assert.equal(request<machine.MDDestroyRequest>(3).device, "/dev/md0");
});

test("an older Talos does not know them, and a group in use stays", async () => {
  await rejectsWith(clientOf({}).client.volumeGroupRemove("vg0"), "UNIMPLEMENTED");
  const inUse = (): never => {
    throw callFailure(9, "volume group is in use");
  };
  await rejectsWith(
    clientOf({ "/machine.LVMService/VolumeGroupRemove": inUse }).client.volumeGroupRemove("vg0"),
    "FAILED_PRECONDITION",
    /in use/,
  );
});

test("a container is restarted where it runs", async () => {
  const { client, request } = clientOf({
    "/machine.MachineService/Restart": () => create(machine.RestartResponseSchema, { messages: [{}] }),
  });
  await client.containerRestart({ namespace: "k8s.io", id: "kube-system/a:b" });
  const { namespace, id, driver } = request<machine.RestartRequest>();
  assert.deepEqual([namespace, id, driver], ["k8s.io", "kube-system/a:b", 1]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { machineEffectsOf } from "./machine-effects.ts";

test("effects that took place are told by machine, in their order", () => {
  const lines = [
    "0 operator 1 starts",
    "10 send T2 /machine.MachineService/ApplyConfiguration 10.5.0.2",
    "12 effect T2 /machine.MachineService/ApplyConfiguration 10.5.0.2",
    "13 effect T2 /machine.MachineService/ApplyConfiguration 10.5.0.1",
    "14 send T4 /machine.MachineService/Bootstrap 10.5.0.1",
    "15 effect T4 /machine.MachineService/Bootstrap 10.5.0.1",
    "16 effect K2 PUT /apis/talos-operator.dev/v1alpha1/namespaces/default/clusterrecords/first",
    "17 effect WL1 PATCH /api/v1/nodes/10-5-0-2",
    "18 effect WL1 POST /api/v1/namespaces/default/pods/web-1/eviction",
    "19 effect T9 /machine.MachineService/Reset 10.5.0.2",
    "20 fault D T9",
  ];
  assert.deepEqual(machineEffectsOf(lines), {
    "10.5.0.1": ["T2 ApplyConfiguration", "T4 Bootstrap"],
    "10.5.0.2": ["T2 ApplyConfiguration", "T9 Reset"],
    "10-5-0-2": ["WL1 PATCH node"],
    pods: ["WL1 POST pod"],
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { asksGuard } from "./asks-guard.ts";

test("whatever is sent to a machine, to etcd or to a Node asks at the last moment whether the machine is to be left alone", () => {
  const sent = [
    ...(["ConfigureMachine", "ApplyConfig", "KeepConfig", "WriteMeta", "RebootMachine", "ResetMachine"] as const),
    ...(["BootstrapEtcd", "ForfeitLeadership", "LeaveEtcd", "RemoveMember"] as const),
    ...(["CordonAndDrain", "Uncordon", "DeleteNode"] as const),
  ];
  assert.deepEqual(
    sent.filter((kind) => !asksGuard.has(kind)),
    [],
  );
});

test("what only writes objects does not", () => assert.equal(asksGuard.has("WriteRecord"), false));

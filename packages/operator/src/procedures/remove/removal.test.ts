import assert from "node:assert/strict";
import { test } from "node:test";
import { configured, controlPlane, facts, founded, observed } from "../../testing/builders.ts";
import { viaOf } from "./plan-member-removal.ts";
import { memberOf } from "./removal.ts";
import type { EtcdQuorum } from "../../model/etcd.ts";

const member = { id: "a", name: "a", isLearner: false, peerUrls: ["https://10.0.0.3:2380"] };

test("the member at a machine's address is its own only where it was never another machine's", () => {
  const left = configured("10.0.0.3", "controlplane", "demo", {});
  const earlier = configured("10.0.0.9", "controlplane", "demo", { memberId: "a" });
  const known = facts({ bootstrapDone: founded, machines: [left] });
  const seen = observed({ controlPlane: controlPlane(2), facts: known });
  assert.equal(memberOf(seen, [member], known, left)?.id, "a");
  assert.equal(memberOf(seen, [member], { ...known, machines: [left, { ...earlier, releasedAt: 1 }] }, left), undefined);
});

test("a member is never removed through the machine that it belongs to, though that one leads", () => {
  const known = facts({ bootstrapDone: founded, machines: [configured("10.0.0.1"), configured("10.0.0.2")] });
  const voters = ["1", "2"].map((id) => ({ id, machine: `demo-10.0.0.${id}`, isHealthy: true, name: id, isLearner: false, peerUrls: [] }));
  const view: EtcdQuorum = { kind: "known", members: voters, voters, learners: [], leader: "1", healthy: 2, needed: 2 };
  const seen = observed({ controlPlane: controlPlane(2), facts: known });
  assert.equal(viaOf(seen, known, view)?.machine, "demo-10.0.0.1");
  assert.equal(viaOf(seen, known, view, "demo-10.0.0.1")?.machine, "demo-10.0.0.2");
});

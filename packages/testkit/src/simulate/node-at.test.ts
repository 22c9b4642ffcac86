import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeAt } from "./node-at.ts";

const node = (name: string, address: string, creationTimestamp: string) => ({
  metadata: { name, creationTimestamp },
  status: { addresses: [{ address: name }, { address }] },
});

test("the Node of a machine that was installed anew is the newer one, in whatever order they are listed", () => {
  const nodes = [
    node("former", "10.5.0.2", "2026-01-01T00:00:00Z"),
    node("other", "10.5.0.3", "2026-01-01T02:00:00Z"),
    node("present", "10.5.0.2", "2026-01-01T01:00:00Z"),
  ];
  for (const listed of [nodes, nodes.toReversed()]) assert.equal(nodeAt(listed, "10.5.0.2")?.metadata.name, "present");
  assert.equal(nodeAt(nodes, "10.5.0.4"), undefined);
});

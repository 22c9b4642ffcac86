import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pictureOf, waitingLines, type WatchedObject } from "./picture.ts";
import { renderPicture } from "./render.ts";

const goal = (conditions: NonNullable<WatchedObject["status"]>["conditions"], generation = 1): WatchedObject => ({
  kind: "TalosCluster",
  metadata: { name: "first", namespace: "default", generation },
  ...(conditions === undefined ? {} : { status: { conditions } }),
});
const machine = (name: string, endpoint: string, state: string, message?: string): WatchedObject => ({
  kind: "TalosMachine",
  metadata: { name, namespace: "default" },
  spec: { endpoint, ...(name.startsWith("cp") ? { controlPlaneRef: {} } : {}) },
  status: {
    state,
    conditions: [{ type: "Ready", status: message === undefined ? "True" : "False", ...(message === undefined ? {} : { message }) }],
  },
});

describe("the picture of a rollout", () => {
  it("is not ready while no object was applied", () => {
    assert.equal(pictureOf({ goals: [], machines: [], addresses: [] }).isReady, false);
  });

  it("takes no condition of an older generation for ready", () => {
    const conditions = [{ type: "Ready", status: "True", observedGeneration: 1 }];
    assert.equal(pictureOf({ goals: [goal(conditions, 1)], machines: [], addresses: [] }).isReady, true);
    assert.equal(pictureOf({ goals: [goal(conditions, 2)], machines: [], addresses: [] }).isReady, false);
  });

  it("shows control planes first, by number rather than by text, and unnamed machines as spare", () => {
    const machines = [
      machine("w-1", "127.1.0.4", "Pending", "x"),
      machine("cp-10", "127.1.0.10", "Pending", "x"),
      machine("cp-2", "127.1.0.2", "Pending", "x"),
    ];
    const { rows } = pictureOf({ goals: [goal(undefined)], machines, addresses: ["127.1.0.2", "127.1.0.9"] });
    assert.deepEqual(
      rows.map((row) => `${row.role} ${row.address}`),
      ["control plane 127.1.0.2", "control plane 127.1.0.10", "worker 127.1.0.4", "spare 127.1.0.9"],
    );
  });

  it("names what is waited for, for each part that is not ready", () => {
    const picture = pictureOf({
      goals: [goal([{ type: "Ready", status: "False", reason: "WaitingForMachines", message: "1 of 2 machines" }])],
      machines: [machine("cp-1", "127.1.0.1", "Available"), machine("w-1", "127.1.0.4", "Installing", "the machine to answer")],
      addresses: [],
    });
    assert.deepEqual(waitingLines(picture), ["TalosCluster default/first: 1 of 2 machines", "w-1 (127.1.0.4): the machine to answer"]);
  });

  it("says what it waits for before the operator has looked at anything", () => {
    assert.deepEqual(waitingLines(pictureOf({ goals: [goal(undefined)], machines: [], addresses: [] })), [
      "TalosCluster default/first: the operator to look at it for the first time",
    ]);
  });

  it("fits into the width of the terminal, colours not counted", () => {
    const picture = pictureOf({
      goals: [goal(undefined)],
      machines: [machine("cp-1", "127.1.0.1", "Installing", "something long ".repeat(20))],
      addresses: ["127.1.0.2"],
    });
    for (const useColour of [true, false]) {
      for (const line of renderPicture(picture, { columns: 60, useColour, elapsedMs: 1234 })) {
        // oxlint-disable-next-line no-control-regex -- colour codes are what is removed
        assert.ok(line.replaceAll(/\u001b\[\d+m/g, "").length <= 60, line);
      }
    }
  });
});

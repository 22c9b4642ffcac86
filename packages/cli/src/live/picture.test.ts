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

  it("takes no stored status for ready while the machine's Node is not Ready", () => {
    const input = {
      goals: [goal([{ type: "Ready", status: "True" }])],
      machines: [machine("cp-1", "127.1.0.1", "Available"), machine("cp-2", "127.1.0.2", "Available")],
      addresses: [],
    };
    const before = pictureOf({ ...input, up: new Set(["127.1.0.2"]) });
    assert.equal(before.isReady, false);
    assert.deepEqual(waitingLines(before), [
      "TalosCluster default/first: 1 of its machines to be up again; it was Ready before",
      "cp-1 (127.1.0.1): its Node to be Ready again",
    ]);
    assert.equal(pictureOf({ ...input, up: new Set(["127.1.0.1", "127.1.0.2"]) }).isReady, true);
  });
});

describe("the drawn picture", () => {
  const long = "something long ".repeat(20);
  const options = { columns: 80, rows: 40, useColour: false, elapsedMs: 1234 };
  // oxlint-disable-next-line no-control-regex -- colour codes are what is removed
  const visible = (line: string): string => line.replaceAll(/\u001b\[\d+m/g, "");

  for (const columns of [20, 60, 80, 120]) {
    it(`fits into ${columns} columns and keeps every colour code whole`, () => {
      const picture = pictureOf({
        goals: [goal([{ type: "Ready", status: "False", message: long }])],
        machines: [machine("cp-1", "127.1.0.1", "Installing", long)],
        addresses: ["127.1.0.2"],
      });
      for (const useColour of [true, false]) {
        for (const line of renderPicture(picture, { ...options, columns, useColour })) {
          assert.ok(visible(line).length <= columns, line);
          assert.equal(visible(line).includes("\u001b"), false, line);
        }
      }
    });
  }

  it("keeps the machines on their lines and the columns in place while things move", () => {
    const at = (message: string, stage: string): readonly string[] =>
      renderPicture(
        pictureOf({
          goals: [goal([{ type: "Ready", status: "False", message }])],
          machines: [machine("cp-1", "127.1.0.1", stage, "x")],
          addresses: [],
        }),
        options,
      );
    const place = (lines: readonly string[]): string => {
      const line = lines.findIndex((text) => text.includes("127.1.0.1"));
      return `${line}:${lines[line]?.indexOf(" x")}`;
    };
    assert.equal(place(at("short", "Pending")), place(at(long, "Installing")));
  });

  it("gives the room of the role to what is waited for in a narrow terminal", () => {
    const picture = pictureOf({
      goals: [],
      machines: [machine("cp-1", "127.1.0.1", "Installing", "the machine to answer")],
      addresses: [],
    });
    assert.match(renderPicture(picture, { ...options, columns: 60 }).join("\n"), /Installing {3}the machine to answer/);
    assert.match(renderPicture(picture, options).join("\n"), /control plane {2}Installing/);
  });

  it("counts machines that do not fit, spares first, then those that are ready", () => {
    const picture = pictureOf({
      goals: [],
      machines: [machine("cp-1", "127.1.0.1", "Available"), machine("cp-2", "127.1.0.2", "Installing", "x")],
      addresses: ["127.1.0.3", "127.1.0.4"],
    });
    const shown = (rows: number): string[] =>
      renderPicture(picture, { ...options, rows })
        .slice(3)
        .map((line) => line.trim().split(/ {2,}/)[0] ?? "");
    assert.deepEqual(shown(20), ["● 127.1.0.1", "◐ 127.1.0.2", "· 127.1.0.3", "· 127.1.0.4"]);
    assert.deepEqual(shown(6), ["● 127.1.0.1", "◐ 127.1.0.2", "and 2 more"]);
    assert.deepEqual(shown(5), ["◐ 127.1.0.2", "and 3 more"]);
  });
});

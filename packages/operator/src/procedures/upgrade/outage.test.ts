import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, observed, running, worker } from "../../testing/builders.ts";
import { outageOf } from "./outage.ts";
import type { Outage } from "./outage.ts";
import type { SeenNode } from "../../model/workload.ts";

interface Given {
  readonly voters: number;
  readonly workers?: number;
  /** Whether the operator runs on the first control plane. */
  readonly isOwn?: boolean;
  readonly word?: string;
  readonly address?: string;
}

function outage({ voters, workers = 0, isOwn = false, word, address = "10.0.0.1" }: Given): Outage {
  const controlPlanes = Array.from({ length: voters }, (_, index) => `10.0.0.${index + 1}`);
  const others = Array.from({ length: workers }, (_, index) => `10.0.1.${index + 1}`);
  const nodes = [...controlPlanes, ...others].map((one): SeenNode => ({
    name: `node-${one}`,
    uuid: `uuid-${one}`,
    addresses: [one],
    isReady: true,
    isSchedulable: true,
    isCordonedByUs: false,
  }));
  const own = isOwn ? ({ kind: "here", name: "node-10.0.0.1" } as const) : ({ kind: "elsewhere" } as const);
  const assessed = assess(
    observed({
      controlPlane: controlPlane(
        voters,
        { version: "v1.13.10" },
        word === undefined ? {} : { annotations: { [annotations.approveOutage]: word } },
      ),
      workers: workers === 0 ? [] : [worker(workers)],
      facts: facts({
        bootstrapDone: founded,
        machines: [
          ...controlPlanes.map((one) => configured(one)),
          ...others.map((one) => configured(one, "worker", "demo-workers", { pool: "demo-workers" })),
        ],
      }),
      looks: Object.fromEntries([
        ...controlPlanes.map((one, index) => [one, running(member(index, voters), { nodeName: `node-${one}` })] as const),
        ...others.map((one) => [one, running(undefined, { nodeName: `node-${one}` })] as const),
      ]),
      nodes: { at: 0, nodes, isAsking: false, isStale: false, cordoned: new Map(), own },
    }),
  );
  const machine = assessed.machines.find(({ declared }) => declared.address === address);
  assert.ok(machine !== undefined);
  return outageOf(assessed, machine);
}

const approved = "v1.13.10";
const cases: readonly (readonly [string, Given, Outage["kind"]])[] = [
  ["one of three voters", { voters: 3 }, "none"],
  ["a worker", { voters: 1, workers: 1, address: "10.0.1.1" }, "none"],
  ["one of two voters", { voters: 2 }, "unapproved"],
  ["one of two voters, with a word for it", { voters: 2, word: approved }, "announced"],
  ["one of two voters, with a word for the version before", { voters: 2, word: "v1.13.9" }, "unapproved"],
  ["the only voter", { voters: 1, workers: 1 }, "announced"],
  ["the only voter, with the operator on it and another node", { voters: 1, workers: 1, isOwn: true }, "announced"],
  ["the only node of the cluster that the operator runs in", { voters: 1, isOwn: true }, "unapproved"],
  ["the only node of it, with a word for it", { voters: 1, isOwn: true, word: approved }, "announced"],
];
for (const [what, given, kind] of cases) test(`the outage for ${what} is: ${kind}`, () => assert.equal(outage(given).kind, kind));

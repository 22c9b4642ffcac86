import assert from "node:assert/strict";
import { test } from "node:test";
import { forecastDrains } from "./drain-forecast.ts";
import type { DrainObjects, ForecastPod } from "./drain-forecast.ts";

const node = (
  name: string,
  memory: string,
  over: { readonly isCordoned?: boolean; readonly pods?: string } = {},
): DrainObjects["nodes"][number] => ({
  metadata: { name },
  spec: { unschedulable: over.isCordoned === true },
  status: { allocatable: { cpu: "2", memory, pods: over.pods ?? "110" } },
});

const pod = (
  name: string,
  on: string,
  memory: string,
  over: { readonly isDaemon?: boolean; readonly phase?: string; readonly cpu?: string } = {},
) =>
  ({
    metadata: {
      namespace: "default",
      name,
      ...(over.isDaemon === true
        ? { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d", controller: true }] }
        : {}),
    },
    spec: { nodeName: on, containers: [{ resources: { requests: { cpu: over.cpu ?? "100m", memory } } }, {}] },
    status: { phase: over.phase ?? "Running" },
  }) as ForecastPod;

const budget = (name: string, disruptionsAllowed: number, expectedPods = 1): DrainObjects["budgets"][number] => ({
  metadata: { namespace: "default", name },
  status: { disruptionsAllowed, expectedPods },
});

const two = [node("a", "4Gi"), node("b", "4Gi")];
const cases: readonly { readonly name: string; readonly given: Partial<DrainObjects>; readonly says: readonly string[] }[] = [
  { name: "nothing runs", given: { nodes: two }, says: [] },
  {
    name: "a budget that allows no eviction is named, one that covers nothing or allows some is not",
    given: { budgets: [budget("db", 0), budget("web", 1), budget("none", 0, 0)] },
    says: ["PodDisruptionBudgets that allow no eviction now: default/db. Drains wait for them."],
  },
  { name: "there is room", given: { nodes: two, pods: [pod("x", "a", "1Gi"), pod("y", "b", "3072Mi")] }, says: [] },
  {
    name: "memory is short on either",
    given: { nodes: two, pods: [pod("x", "a", "2Gi"), pod("y", "b", "3Gi")] },
    says: ["Pods that find no room on the other Nodes when theirs is drained: a (memory), b (memory)."],
  },
  {
    name: "the processor is short, and so are places",
    given: {
      nodes: [node("a", "4Gi"), node("b", "4Gi", { pods: "1" })],
      pods: [pod("x", "a", "1", { cpu: "1500m" }), pod("y", "b", "1", { cpu: "1" })],
    },
    says: ["Pods that find no room on the other Nodes when theirs is drained: a (cpu, pods), b (cpu)."],
  },
  {
    name: "a single Node",
    given: { nodes: [node("a", "4Gi")], pods: [pod("x", "a", "1Gi")] },
    says: ["Pods that find no room on the other Nodes when theirs is drained: a (cpu, memory, pods)."],
  },
  {
    name: "a Node that is cordoned takes nobody",
    given: { nodes: [node("a", "4Gi"), node("b", "4Gi", { isCordoned: true })], pods: [pod("x", "a", "1Gi")] },
    says: ["Pods that find no room on the other Nodes when theirs is drained: a (cpu, memory, pods)."],
  },
  {
    name: "there are too many pods to be counted",
    given: { nodes: two, pods: undefined, budgets: [budget("db", 0)] },
    says: [
      "PodDisruptionBudgets that allow no eviction now: default/db. Drains wait for them.",
      "Whether evicted pods find room on the other Nodes is not known: there are too many to be counted.",
    ],
  },
  {
    name: "pods that ask for just what is left, in parts that are no binary fractions",
    given: { nodes: two, pods: [pod("x", "a", "1", { cpu: "1100m" }), ...[1, 2, 3].map((n) => pod(`y${n}`, "b", "1", { cpu: "300m" }))] },
    says: [],
  },
  {
    name: "pods of a DaemonSet do not leave, and take their room all the same; finished ones take none",
    given: {
      nodes: two,
      pods: [
        pod("d", "a", "4Gi", { isDaemon: true }),
        pod("e", "b", "3Gi", { isDaemon: true }),
        pod("x", "a", "2Gi"),
        pod("z", "b", "4Gi", { phase: "Succeeded" }),
      ],
    },
    says: ["Pods that find no room on the other Nodes when theirs is drained: a (memory)."],
  },
];

for (const { name, given, says } of cases)
  test(`forecast of drains: ${name}`, () => assert.deepEqual(forecastDrains({ nodes: [], pods: [], budgets: [], ...given }), says));

test("forecast of drains: thousands of pods on as many Nodes are added up once", () => {
  const nodes = Array.from({ length: 2_000 }, (_, index) => node(`n${index}`, "4Gi"));
  const pods = Array.from({ length: 5_000 }, (_, index) => pod(`p${index}`, `n${index % 2_000}`, "64Mi"));
  const begun = process.cpuUsage();
  assert.deepEqual(forecastDrains({ nodes, pods, budgets: [] }), []);
  const { user } = process.cpuUsage(begun);
  assert.ok(user < 500_000, `${user / 1_000} ms`);
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { builtinKind } from "../builtin/index.ts";
import type { JsonObject } from "../json.ts";
import { printAge, ageOf } from "./age.ts";
import { findByPath } from "./json-path.ts";
import { toPartialObjectMetadataList, toTable } from "./index.ts";

const now = new Date("2026-01-10T00:00:00Z");

describe("ages", () => {
  const cases: readonly [seconds: number, text: string][] = [
    [-5, "<invalid>"],
    [-1, "0s"],
    [0, "0s"],
    [119, "119s"],
    [120, "2m"],
    [125, "2m5s"],
    [599, "9m59s"],
    [600, "10m"],
    [10_799, "179m"],
    [10_800, "3h"],
    [11_400, "3h10m"],
    [28_800, "8h"],
    [172_799, "47h"],
    [172_800, "2d"],
    [176_400, "2d1h"],
    [691_200, "8d"],
    [63_071_999, "729d"],
    [63_072_000, "2y"],
    [63_158_400, "2y1d"],
    [252_288_000, "8y"],
  ];
  for (const [seconds, text] of cases) it(`${seconds} seconds are ${text}`, () => assert.equal(printAge(seconds), text));

  it("of no time or no timestamp", () => {
    assert.equal(ageOf(undefined, now), "<unknown>");
    assert.equal(ageOf("soon", now), "<invalid>");
    assert.equal(ageOf("2026-01-09T23:59:00Z", now), "60s");
  });
});

describe("JSON paths of columns", () => {
  const object = {
    metadata: { labels: { "app.example.com/name": "x" }, name: "n" },
    status: {
      conditions: [
        { type: "Ready", status: "True", n: 3 },
        { type: "Other", status: "False", n: 5 },
      ],
      list: ["a", "b", "c"],
    },
  };
  const cases: readonly [path: string, found: readonly unknown[]][] = [
    [".metadata.name", ["n"]],
    ["metadata.name", ["n"]],
    ["{.metadata.name}", ["n"]],
    [".metadata.labels['app.example.com/name']", ["x"]],
    [".metadata.labels.app\\.example\\.com/name", ["x"]],
    ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
    [".status.conditions[?(@.type == 'Ready')].status", ["True"]],
    ['.status.conditions[?(@.type!="Ready")].status', ["False"]],
    [".status.conditions[?(@.n>3)].type", ["Other"]],
    [".status.conditions[?(@.n)].type", ["Ready", "Other"]],
    [".status.conditions[*].type", ["Ready", "Other"]],
    [".status.list[0]", ["a"]],
    [".status.list[-1]", ["c"]],
    [".status.list[1:]", ["b", "c"]],
    [".status.list[9]", []],
    [".nothing.here", []],
    [".metadata.__proto__", []],
    [".status.conditions[?(broken", []],
  ];
  for (const [path, found] of cases) it(path, () => assert.deepEqual(findByPath(object, path), found));
});

describe("rows of built-in kinds", () => {
  const row = (group: string, version: string, kind: string, object: JsonObject): unknown => {
    const found = builtinKind(group, version, kind);
    assert.ok(found);
    const table = toTable(found, [{ metadata: { name: "n", creationTimestamp: "2026-01-09T00:00:00Z" }, ...object }], {
      now,
      includeObject: "None",
    });
    const cells = (table["rows"] as { cells: unknown[] }[])[0]?.cells;
    assert.equal(cells?.length, (table["columnDefinitions"] as unknown[]).length);
    return cells;
  };
  const running = (name: string, more: JsonObject = {}): JsonObject => ({
    name,
    ready: true,
    restartCount: 0,
    state: { running: {} },
    ...more,
  });
  const pod = (spec: JsonObject, status: JsonObject, metadata: JsonObject = {}): JsonObject => ({
    spec: { containers: [{ name: "a" }, { name: "b" }], nodeName: "node-1", ...spec },
    status: { podIP: "10.0.0.9", ...status },
    metadata: { name: "n", creationTimestamp: "2026-01-09T00:00:00Z", ...metadata },
  });
  const pods: readonly [name: string, object: JsonObject, cells: readonly unknown[]][] = [
    [
      "running",
      pod({}, { phase: "Running", containerStatuses: [running("a"), running("b", { ready: false })] }),
      ["n", "1/2", "Running", "0"],
    ],
    [
      "crashing",
      pod(
        {},
        {
          phase: "Running",
          containerStatuses: [
            running("a"),
            {
              name: "b",
              ready: false,
              restartCount: 3,
              state: { waiting: { reason: "CrashLoopBackOff" } },
              lastState: { terminated: { finishedAt: "2026-01-09T23:55:00Z" } },
            },
          ],
        },
      ),
      ["n", "1/2", "CrashLoopBackOff", "3 (5m ago)"],
    ],
    [
      "completed",
      pod(
        {},
        {
          phase: "Succeeded",
          containerStatuses: [{ name: "a", ready: false, restartCount: 0, state: { terminated: { reason: "Completed", exitCode: 0 } } }],
        },
      ),
      ["n", "0/2", "Completed", "0"],
    ],
    [
      "killed",
      pod(
        {},
        {
          phase: "Failed",
          containerStatuses: [{ name: "a", ready: false, restartCount: 0, state: { terminated: { exitCode: 137, signal: 9 } } }],
        },
      ),
      ["n", "0/2", "Signal:9", "0"],
    ],
    [
      "waiting for its init container",
      pod(
        { initContainers: [{ name: "i" }, { name: "j" }] },
        {
          phase: "Pending",
          initContainerStatuses: [
            { name: "i", state: { terminated: { exitCode: 0 } } },
            { name: "j", state: { running: {} } },
          ],
        },
      ),
      ["n", "0/2", "Init:1/2", "0"],
    ],
    ["going", pod({}, { phase: "Running" }, { deletionTimestamp: "2026-01-09T23:00:00Z" }), ["n", "0/2", "Terminating", "0"]],
    ["evicted", pod({}, { phase: "Failed", reason: "Evicted" }), ["n", "0/2", "Evicted", "0"]],
  ];
  for (const [name, object, cells] of pods) {
    it(`a pod that is ${name}`, () => {
      assert.deepEqual(row("", "v1", "Pod", object), [...cells, "24h", "10.0.0.9", "node-1", "<none>", "<none>"]);
    });
  }

  const others: readonly [group: string, version: string, kind: string, object: JsonObject, cells: readonly unknown[]][] = [
    ["", "v1", "Namespace", { status: { phase: "Active" } }, ["n", "Active", "24h"]],
    [
      "",
      "v1",
      "Service",
      {
        spec: { type: "NodePort", clusterIP: "10.96.0.1", ports: [{ port: 80, nodePort: 30080, protocol: "TCP" }], selector: { app: "a" } },
      },
      ["n", "NodePort", "10.96.0.1", "<none>", "80:30080/TCP", "24h", "app=a"],
    ],
    [
      "",
      "v1",
      "Service",
      { spec: { type: "LoadBalancer", clusterIP: "10.96.0.1" } },
      ["n", "LoadBalancer", "10.96.0.1", "<pending>", "<none>", "24h", "<none>"],
    ],
    [
      "apps",
      "v1",
      "Deployment",
      {
        spec: { replicas: 3, selector: { matchLabels: { a: "b" } }, template: { spec: { containers: [{ name: "c", image: "i" }] } } },
        status: { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 2 },
      },
      ["n", "2/3", 3, 2, "24h", "c", "i", "a=b"],
    ],
    [
      "apps",
      "v1",
      "DaemonSet",
      { spec: { selector: { matchLabels: { a: "b" } } }, status: { desiredNumberScheduled: 3, numberReady: 2 } },
      ["n", 3, 0, 2, 0, 0, "<none>", "24h", "", "", "a=b"],
    ],
    [
      "batch",
      "v1",
      "Job",
      { spec: { completions: 2 }, status: { succeeded: 1, startTime: "2026-01-09T23:59:00Z" } },
      ["n", "Running", "1/2", "60s", "24h", "", "", "<none>"],
    ],
    [
      "policy",
      "v1",
      "PodDisruptionBudget",
      { spec: { minAvailable: "50%" }, status: { disruptionsAllowed: 1 } },
      ["n", "50%", "N/A", 1, "24h"],
    ],
    [
      "",
      "v1",
      "Event",
      {
        involvedObject: { kind: "Pod", name: "p" },
        reason: "Started",
        type: "Normal",
        message: "go \n",
        lastTimestamp: "2026-01-09T23:58:00Z",
        firstTimestamp: "2026-01-09T23:50:00Z",
        count: 4,
        source: { component: "kubelet", host: "h" },
      },
      ["2m", "Normal", "Started", "pod/p", "", "kubelet, h", "go", "10m", 4, "n"],
    ],
    ["apiregistration.k8s.io", "v1", "APIService", {}, ["n", "Local", "Unknown", "24h"]],
    [
      "apiregistration.k8s.io",
      "v1",
      "APIService",
      {
        spec: { service: { namespace: "s", name: "m" } },
        status: { conditions: [{ type: "Available", status: "False", reason: "MissingEndpoints" }] },
      },
      ["n", "s/m", "False (MissingEndpoints)", "24h"],
    ],
    [
      "flowcontrol.apiserver.k8s.io",
      "v1",
      "FlowSchema",
      { spec: { matchingPrecedence: 5, priorityLevelConfiguration: { name: "l" } } },
      ["n", "l", 5, "<none>", "24h", "?"],
    ],
    [
      "flowcontrol.apiserver.k8s.io",
      "v1",
      "PriorityLevelConfiguration",
      {
        spec: {
          type: "Limited",
          limited: { nominalConcurrencyShares: 3, limitResponse: { queuing: { queues: 1, handSize: 2, queueLengthLimit: 4 } } },
        },
      },
      ["n", "Limited", 3, 1, 2, 4, "24h"],
    ],
    ["apiextensions.k8s.io", "v1", "CustomResourceDefinition", {}, ["n", "2026-01-09T00:00:00Z"]],
    [
      "rbac.authorization.k8s.io",
      "v1",
      "ClusterRoleBinding",
      { roleRef: { kind: "ClusterRole", name: "r" }, subjects: [{ kind: "ServiceAccount", namespace: "s", name: "a" }] },
      ["n", "ClusterRole/r", "24h", "", "", "s/a"],
    ],
  ];
  for (const [group, version, kind, object, cells] of others) {
    it(`a ${kind} ${JSON.stringify(object).slice(0, 40)}`, () => assert.deepEqual(row(group, version, kind, object), cells));
  }

  it("prints a row for objects of any shape", () => {
    for (const kind of ["Pod", "Node", "Service", "Event", "Endpoints", "Secret"]) {
      for (const nonsense of [
        {},
        { spec: null, status: "x" },
        { spec: { containers: "x", ports: {} }, status: { conditions: [1, null], containerStatuses: [null] } },
      ]) {
        assert.doesNotThrow(() => row("", "v1", kind, nonsense));
      }
    }
  });
});

it("a list as partial metadata carries metadata alone", () => {
  assert.deepEqual(toPartialObjectMetadataList([{ metadata: { name: "a" }, spec: 1 }], { resourceVersion: "5" }), {
    kind: "PartialObjectMetadataList",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion: "5" },
    items: [{ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "a" } }],
  });
});

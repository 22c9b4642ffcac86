import assert from "node:assert/strict";
import test, { describe } from "node:test";
import { generateMachineConfig, generateSecretsBundle, patchMachineConfig } from "@talos-operator/talos";
import { createSeededRandom } from "../testing/seeded-random.ts";
import { createTokenKeys } from "../testing/token-keys.ts";
import { buildMachine } from "../datacenter/machines.ts";
import { nodeObjectOf } from "../workload/node-object.ts";
import type { MachineInput } from "./inputs.ts";
import type { Machine } from "./machine.ts";
import { nextDue, step } from "./step.ts";
import { instantTimings } from "./timings.ts";

const start = Date.UTC(2026, 0, 1);
const keys = createTokenKeys();
const random = createSeededRandom("refusals");
const secrets = await generateSecretsBundle({ contract: "1.13", clock: { now: () => start }, random, keys });
const identity = await keys.createAuthority({ kind: "ed25519", notBefore: start });

function config(role: "controlplane" | "worker", ...patches: readonly object[]): string {
  const text = generateMachineConfig({
    role,
    clusterName: "test",
    endpoint: "https://10.0.0.100:6443",
    contract: "1.13",
    kubernetesVersion: "1.36.1",
    secrets,
    install: { disk: "/dev/sda" },
  });
  return patches.length === 0
    ? text
    : patchMachineConfig(
        text,
        patches.map((patch) => JSON.stringify(patch)),
        { contract: "1.13" },
      );
}

/** A machine that takes these configurations one after another. */
function after(texts: readonly string[], spec: { readonly moreAddresses?: readonly string[] } = {}): Machine {
  let machine = buildMachine({ address: "10.0.0.1", ...spec }, random);
  let now = start;
  const take = (input: MachineInput): void => {
    const result = step(machine, input, { now, timings: instantTimings });
    machine = result.machine;
    for (const output of result.outputs) {
      if (output.kind === "issue-identity") take({ kind: "identity", which: output.which, identity, names: ["10.0.0.1"] });
      if (output.kind === "found-etcd") take({ kind: "etcd-founded", cluster: "k-1", memberId: "00000000000000aa" });
      if (output.kind === "etcd-changed" && machine.etcd.isChecked) take({ kind: "etcd-health", isHealthy: true });
    }
  };
  const settle = (): void => {
    for (let due = nextDue(machine); due !== undefined; due = nextDue(machine)) {
      now = Math.max(now, due);
      take({ kind: "timers" });
    }
    now += 1_000;
  };
  const [first = "", ...more] = texts;
  for (const input of [{ kind: "power-on" }, { kind: "apply", text: first, how: "live", tryMs: 0 }, { kind: "bootstrap" }] as const) {
    take(input);
    settle();
  }
  for (const text of more) {
    take({ kind: "apply", text, how: "live", tryMs: 0 });
    settle();
  }
  return machine;
}

const serves = (machine: Machine): boolean => machine.kubernetes.hasStaticPods;
const exempt = {
  cluster: { apiServer: { admissionControl: [{ name: "PodSecurity", configuration: { exemptions: { namespaces: ["kube-system"] } } }] } },
};
const v6First = { cluster: { network: { serviceSubnets: ["fd40:77:2::/112"] } } };

describe("kube-apiserver", () => {
  test("starts with what is generated", () => assert.ok(serves(after([config("controlplane")]))));
  for (const [name, patch] of [
    ["a namespace that is exempt twice", exempt],
    [
      "an authorizer twice",
      {
        cluster: {
          apiServer: {
            authorizationConfig: [
              { type: "RBAC", name: "a" },
              { type: "RBAC", name: "b" },
            ],
          },
        },
      },
    ],
    ["an unknown level of audit", { cluster: { apiServer: { auditPolicy: { rules: [{ level: "All" }] } } } }],
  ] as const) {
    test(`does not start with ${name}`, () => assert.ok(!serves(after([config("controlplane", patch)]))));
    test(`ends with ${name}, and starts again without`, () => {
      assert.ok(!serves(after([config("controlplane"), config("controlplane", patch)])));
      assert.ok(serves(after([config("controlplane", patch), config("controlplane")])));
    });
  }
  test("starts only where the machine has an address of the family of its first service network", () => {
    const text = config("controlplane", v6First).replace(/- 10\.96\.0\.0\/12\n\s+- (fd40\S+)/, "- $1");
    assert.ok(!serves(after([text])));
    assert.ok(serves(after([text], { moreAddresses: ["2001:db8::1"] })));
  });
});

test("a kubelet does not run with a label that it may not set, and runs without", () => {
  const labelled = config("worker", { machine: { kubelet: { extraArgs: { "node-labels": "node-role.kubernetes.io/worker=" } } } });
  assert.equal(after([labelled]).services["kubelet"]?.state, "Waiting");
  assert.equal(after([labelled, config("worker")]).services["kubelet"]?.state, "Running");
});

describe("labels and taints of a Node", () => {
  const of = (role: "controlplane" | "worker", machine: object): Record<string, unknown> => {
    const { metadata, spec } = nodeObjectOf(after([config(role, { machine })]), start) as never as {
      metadata: { labels: Record<string, string> };
      spec: { taints: readonly { key: string }[] };
    };
    const isOwn = (label: string): boolean => label === "rack" || label.startsWith("node-role.kubernetes.io/w");
    return { labels: Object.keys(metadata.labels).filter(isOwn), taints: spec.taints.map(({ key }) => key).filter((key) => key === "gpu") };
  };
  test("a worker's arrive", () => assert.deepEqual(of("worker", { nodeLabels: { rack: "a" } }), { labels: ["rack"], taints: [] }));
  test("none of a worker's arrives beside one that a kubelet may not set", () =>
    assert.deepEqual(of("worker", { nodeLabels: { rack: "a", "node-role.kubernetes.io/worker": "" } }), { labels: [], taints: [] }));
  test("none of a worker's arrives beside a taint", () =>
    assert.deepEqual(of("worker", { nodeLabels: { rack: "a" }, nodeTaints: { gpu: "NoSchedule" } }), { labels: [], taints: [] }));
  test("a control plane's all arrive", () =>
    assert.deepEqual(
      of("controlplane", { nodeLabels: { rack: "a", "node-role.kubernetes.io/worker": "" }, nodeTaints: { gpu: "NoSchedule" } }),
      { labels: ["node-role.kubernetes.io/worker", "rack"], taints: ["gpu"] },
    ));
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { controlPlane, worker } from "../testing/builders.ts";
import { specOrMetadataChanged } from "../controllers/shared/predicates.ts";
import { inertFieldsOf } from "./inert-fields.ts";
import { controlPlaneProblems, workerProblems } from "./spec-problems.ts";

function nested(levels: number): object {
  let value: object = { a: 1 };
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

describe("patches that nest without end", () => {
  // An API server refuses from 10,000 levels on.
  for (const levels of [70, 1_000, 9_900])
    it(`are refused at ${levels} levels, on control planes and workers`, () => {
      const machineSpec = { configPatches: [{ machine: { sysctls: nested(levels) } }] };
      const machines = [{ address: "10.0.0.1" }];
      const one = controlPlane(1, { metalSpec: { machines, machineSpec } });
      const pool = worker(1);
      const deepPool = { ...pool, spec: { ...pool.spec, metalSpec: { machines: [{ address: "10.0.1.1" }], machineSpec } } } as typeof pool;
      for (const problems of [controlPlaneProblems(one, [], {}), workerProblems(deepPool, controlPlane(1), [], {})]) {
        assert.deepEqual(
          problems.map((problem) => problem.reason),
          ["InvalidConfig"],
        );
        assert.match(problems[0]?.message ?? "", /nest|maxDepth/);
      }
      assert.ok(specOrMetadataChanged({ type: "updated", previous: controlPlane(1), object: one }));
    });
});

describe("a patch of which no config can be made", () => {
  const path = { machine: 5 };
  const messages = (over: Parameters<typeof controlPlane>[1]): readonly string[] =>
    controlPlaneProblems(controlPlane(5, over), [], {}).map(({ field, message }) => `${field}: ${message}`);
  const machines = [1, 2, 3, 4, 5].map((index) => ({ address: `10.0.0.${index}` }));
  it("is told once at the entry of the pool that has it", () => {
    const fine = { machine: { sysctls: { "vm.swappiness": "1" } } };
    const [first, ...others] = messages({ metalSpec: { machines, machineSpec: { configPatches: [fine, path] } } });
    assert.deepEqual(others, []);
    assert.match(first ?? "", /^spec\.metalSpec\.machineSpec\.configPatches\[1\]: (?!configPatches)/);
    assert.doesNotMatch(first ?? "", /alike/);
  });
  it("is told with the machines that it concerns where each of them has it", () => {
    const each = machines.map((machine) => ({ ...machine, configPatches: [path] }));
    const [first, ...others] = messages({ metalSpec: { machines: each, machineSpec: {} } });
    assert.deepEqual(others, []);
    assert.match(first ?? "", /^spec\.metalSpec\.machines\[0\]\.configPatches\[0\]: /);
    assert.match(first ?? "", / \(alike: spec\.metalSpec\.machines\[1\]\.configPatches\[0\], \S+, \S+ and 1 more\)$/);
  });
  it("is told with its machine where one machine has it", () => {
    const [first, ...others] = messages({
      metalSpec: { machines: machines.with(2, { ...machines[2]!, configPatches: [path] } as (typeof machines)[number]), machineSpec: {} },
    });
    assert.deepEqual(others, []);
    assert.match(first ?? "", /^spec\.metalSpec\.machines\[2\]\.configPatches\[0\]: /);
    assert.doesNotMatch(first ?? "", /alike/);
  });
});

describe("a patch for the place that a newer contract has elsewhere", () => {
  const machineSpec = { configPatches: [{ machine: { nodeLabels: { "example.org/rack": "a" } } }] };
  const controlPlaneOf = (): TalosControlPlane =>
    controlPlane(1, { version: "v1.14.0", metalSpec: { machines: [{ address: "10.0.0.1" }], machineSpec } });
  // Answers are kept for each of these.
  const options = {};
  const reasons = (contract: string | undefined): readonly string[] =>
    controlPlaneProblems(controlPlaneOf(), [], options, undefined, contract).map(({ reason }) => reason);

  it("is judged by the contract of the pool, also where the same spec was judged by another before", () => {
    assert.deepEqual([reasons(undefined), reasons("1.13"), reasons("1.14")], [["InvalidConfig"], [], ["InvalidConfig"]]);
  });
});

describe("names", () => {
  const named = <T extends { readonly metadata: object }>(object: T, name: string): T => ({
    ...object,
    metadata: { ...object.metadata, name },
  });
  it("that leave no room for those of Secrets and machines are refused, and all others taken", () => {
    const problemsOf = (name: string) => [
      ...controlPlaneProblems(named(controlPlane(1), name), [], {}),
      ...workerProblems(named(worker(1), name), undefined, [], {}),
    ];
    assert.deepEqual(problemsOf("n".repeat(200)), []);
    assert.deepEqual(
      problemsOf("n".repeat(201)).map(({ field, remedy }) => `${field}: ${remedy}`),
      Array.from({ length: 2 }, () => "metadata.name: Choose a name of at most 200 characters"),
    );
  });
});

describe("the answer about an object", () => {
  const options = {};
  const one = controlPlane(1, { metalSpec: { machines: [{ address: "10.0.0.1" }] } });
  const there = (address: string) => [{ field: "spec.metalSpec.machines[0].address", address, object: "TalosWorker/other" }];

  it("is found once while nothing that it depends on changes", () => {
    assert.equal(controlPlaneProblems(one, there("10.0.9.9"), options), controlPlaneProblems(one, there("10.0.9.9"), options));
    const pool = worker(1);
    assert.equal(workerProblems(pool, one, [], options), workerProblems(pool, one, [], options));
  });

  it("is that of the same spec, whatever else was written to the object, and of that spec alone", () => {
    const pool = worker(1);
    const withStatus = <T extends object>(object: T): T => ({ ...structuredClone(object), status: { state: "Pending" } });
    const problems = workerProblems(pool, one, there("10.0.9.9"), options);
    assert.equal(workerProblems(withStatus(pool), withStatus(one), there("10.0.9.9"), options), problems);
    assert.notEqual(workerProblems(withStatus(pool), withStatus(one), there("10.0.8.8"), options), problems);
    const taken = withStatus(pool).spec?.metalSpec?.machines?.[0]?.address ?? "";
    assert.deepEqual(
      workerProblems(withStatus(pool), withStatus(one), there(taken), options).map(({ reason }) => reason),
      ["DuplicateAddress"],
    );
    const other = controlPlane(1, { metalSpec: { machines: [{ address: taken }] } });
    assert.notDeepEqual(workerProblems(withStatus(pool), other, there("10.0.9.9"), options), problems);
    assert.notEqual(workerProblems(withStatus(pool), withStatus(one), there("10.0.9.9"), { ...options }), problems);
  });

  it("is found anew when another object takes its address, and when that goes", () => {
    const reasons = (address: string) => controlPlaneProblems(one, there(address), options).map(({ reason }) => reason);
    assert.deepEqual(reasons("10.0.9.9"), []);
    assert.deepEqual(reasons("10.0.0.1"), ["DuplicateAddress"]);
    assert.deepEqual(reasons("10.0.9.9"), []);
  });

  it("is found anew when its control plane or the registries that it may use change", () => {
    const pool = worker(1);
    const taken = pool.spec?.metalSpec?.machines?.[0]?.address ?? "";
    assert.deepEqual(workerProblems(pool, one, [], options), []);
    const grown = controlPlane(1, { metalSpec: { machines: [{ address: taken }] } });
    assert.deepEqual(
      workerProblems(pool, grown, [], options).map(({ reason }) => reason),
      ["DuplicateAddress"],
    );
    assert.equal(controlPlaneProblems(one, [], { installerRegistries: ["registry.example"] })[0]?.reason, "InvalidConfig");
    assert.deepEqual(controlPlaneProblems(one, [], options), []);
  });
});

describe("a field of control planes alone", () => {
  const told = (pool: TalosControlPlane | TalosWorker) => {
    const metalSpec = { ...pool.spec?.metalSpec, machineSpec: { allowSchedulingOnControlPlanes: true } };
    return inertFieldsOf({ ...pool, spec: { ...pool.spec, metalSpec } } as typeof pool);
  };
  it("acts on a control plane, and is told on a worker pool", () =>
    assert.deepEqual(
      [told(controlPlane()), told(worker())],
      [[], ["spec.metalSpec.machineSpec.allowSchedulingOnControlPlanes (of control planes only)"]],
    ));
});

describe("a limit of machines that may be down", () => {
  const told = (maxUnavailable: number | string) => {
    const pool = worker(1);
    const spec = { ...pool.spec, rolloutStrategy: { type: "RollingUpdate" as const, rollingUpdate: { maxUnavailable } } };
    return inertFieldsOf({ ...pool, spec } as typeof pool).filter((field) => field.includes("maxUnavailable"));
  };
  for (const limit of [1, 7, "2", "25%", "100%"]) it(`is taken as ${limit}`, () => assert.deepEqual(told(limit), []));
  for (const limit of [0, -3, "0%", "abc", "", "1.5", "-5%"])
    it(`that makes no sense is told: ${JSON.stringify(limit)}`, () => assert.match(told(limit)[0] ?? "", /taken as 1/));
});

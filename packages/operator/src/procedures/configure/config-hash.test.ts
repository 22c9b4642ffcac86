import assert from "node:assert/strict";
import { test } from "node:test";
import { controlPlane } from "../../testing/builders.ts";
import { configHashOf } from "./config-hash.ts";
import { machinesOf } from "../../spec/declared.ts";
import type { DeclaredMachine } from "../../model/machine.ts";

const [machine] = machinesOf(controlPlane(1)) as readonly [DeclaredMachine];
const spec = {
  clusterDomain: "cluster.local",
  podCIDR: ["10.244.0.0/16"],
  serviceCIDR: ["10.96.0.0/12"],
  cni: { name: "flannel" },
} as const;
const of = (machineSpec: DeclaredMachine["machineSpec"]): string => configHashOf({ ...machine, machineSpec }, controlPlane(1, spec).spec);

test("config hash: stands in records of clusters that run; another one would roll out every cluster when the operator is upgraded", () => {
  assert.equal(of({ installDisk: "/dev/sda" }), "bd98754aedd97b6f");
  assert.equal(of({ configPatches: [{ machine: { nodeLabels: { a: "b" } } }], airGap: true }), "f70bd1db0921cef0");
});

test("config hash: what matters for the installation only, versions and the order of keys say nothing", () => {
  const plain = of({});
  assert.equal(of({ installDisk: "/dev/sdb", wipe: true, image: "example.org/installer:v1" }), plain);
  assert.equal(
    configHashOf({ ...machine, machineSpec: {}, version: "v1.99.0" }, controlPlane(1, { ...spec, kubeVersion: "v9.9.9" }).spec),
    plain,
  );
  assert.equal(of({ registries: { a: 1, b: 2 } }), of({ registries: { b: 2, a: 1 } }));
  assert.notEqual(of({ airGap: true }), plain);
});

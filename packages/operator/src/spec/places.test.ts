import assert from "node:assert/strict";
import { test } from "node:test";
import { validateAddresses } from "@talos-operator/api";
import { controlPlane } from "../testing/builders.ts";
import { addressesElsewhere, nameFor } from "./places.ts";

const pool = controlPlane(1);
const { namespace = "", name } = pool.metadata;

test("an object of the same namespace is named with its field", () => {
  assert.equal(nameFor(namespace, pool), `TalosControlPlane ${namespace}/${name}`);
  const [there] = addressesElsewhere(pool, namespace);
  assert.deepEqual([there?.object, there?.field], [`TalosControlPlane ${namespace}/${name}`, "spec.metalSpec.machines[0].address"]);
});

test("of an object of another namespace nothing but the kind is named", () => {
  for (const from of ["strangers", undefined]) {
    assert.equal(nameFor(from, pool), "a TalosControlPlane in another namespace");
    const others = addressesElsewhere(pool, from);
    const address = others[0]?.address ?? "";
    const [finding] = validateAddresses([{ object: "TalosWorker/own", field: "spec.own", address }], { others });
    assert.equal(finding?.message, `"${address}" is also at a TalosControlPlane in another namespace`);
  }
});

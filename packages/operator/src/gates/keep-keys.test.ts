import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../assess/assess.ts";
import { keepKeys } from "./keep-keys.ts";
import { controlPlane, observed } from "../testing/builders.ts";
import type { Observed } from "../model/observation.ts";

/** A control plane of one machine whose reference is not resolved, without keys and without a record. */
function unresolved(endpoint: string | undefined): Observed {
  const pool = controlPlane(1);
  const seen = observed({
    controlPlane: { ...pool, spec: { ...pool.spec, endpoint } as NonNullable<typeof pool.spec> },
    bundle: { kind: "absent" },
    machineObjects: [],
  });
  const problem = { reason: "ReferenceNotFound", message: "There is no Host alpha." } as const;
  return { ...seen, machines: seen.machines.map((machine) => ({ ...machine, declared: { ...machine.declared, problem } })) };
}

test("no keys are made before the endpoint of a cluster is known: it is the address of a machine that has none yet", () => {
  const verdict = keepKeys.decide(assess(unresolved(undefined)));
  assert.deepEqual(verdict?.actions, []);
  assert.match(
    verdict?.waiting?.message ?? "",
    /There is no Host alpha\. Without spec\.endpoint its address becomes the cluster's endpoint/,
  );
});

test("a named endpoint waits for no machine: the keys are made", () => {
  const verdict = keepKeys.decide(assess(unresolved("https://10.0.0.100:6443")));
  assert.deepEqual(
    verdict?.actions.map(({ kind }) => kind),
    ["CreateBundle"],
  );
});

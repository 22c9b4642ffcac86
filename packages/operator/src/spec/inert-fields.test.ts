import assert from "node:assert/strict";
import { test } from "node:test";
import { controlPlane, worker } from "../testing/builders.ts";
import { inertFieldsOf } from "./inert-fields.ts";

const limited = (maxUnavailable: number | string) => ({ rolloutStrategy: { rollingUpdate: { maxUnavailable } } });
const above = /maxUnavailable: \S+ \(taken as 1; control planes are disturbed one at a time\)/;

for (const [limit, count, isTold] of [
  [1, 3, false],
  [2, 3, true],
  ["25%", 3, false],
  ["50%", 5, true],
  [3, 1, true],
] as const)
  test(`maxUnavailable ${limit} of ${count} control planes is ${isTold ? "taken as 1, and told" : "as it is"}`, () => {
    const told = inertFieldsOf(controlPlane(count, limited(limit))).join();
    assert.equal(above.test(told), isTold, told);
  });

test("workers go by it", () => {
  const pool = worker(3);
  assert.deepEqual(inertFieldsOf({ ...pool, spec: { ...pool.spec, ...limited(3) } as NonNullable<typeof pool.spec> }), []);
});

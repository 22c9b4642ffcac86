import assert from "node:assert/strict";
import { test } from "node:test";

import { machineApiFacts } from "./api-facts.ts";
import type { MachineApiFacts } from "./api-facts.ts";

/** The first minor of which the fact holds, or the last of which it still holds. */
const SINCE: readonly (readonly [string, number, (facts: MachineApiFacts) => boolean])[] = [
  ["keeps data over an upgrade", 8, (facts) => !facts.isUpgradeWiping],
  ["upgrades in steps", 13, (facts) => facts.upgrade === "in-steps"],
];
for (const [what, since, holds] of SINCE) {
  test(`Talos ${what} from 1.${since}`, () => {
    for (let minor = 6; minor <= 15; minor += 1) assert.equal(holds(machineApiFacts(`v1.${minor}.3`)), minor >= since, `1.${minor}`);
    assert.equal(holds(machineApiFacts(`v1.${since}.0-alpha.0`)), true);
    assert.equal(holds(machineApiFacts("v2.0.0")), true);
  });
}

test("what is no version has no facts", () => assert.throws(() => machineApiFacts("1.x"), /not a version/));

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { mutants } from "./index.ts";
import { play, staleEdits } from "./adapters/play.ts";
import { required } from "./required.ts";
import { readTable } from "./table.ts";

describe("planted faults", () => {
  it("have names of their own, and stand for what is known", () => {
    assert.equal(new Set(mutants.map(({ name }) => name)).size, mutants.length);
    for (const { name, stands = [] } of mutants) for (const id of stands) assert.ok(id in required, `${name} stands for ${id}`);
  });

  it("fit the source as it is now", () => {
    assert.deepEqual(
      mutants.flatMap((mutant) => staleEdits(mutant).map((stale) => `${mutant.name}: ${stale}`)),
      [],
    );
  });

  it("are all in the page, and none of them went unnoticed when it was last played", () => {
    const page = readTable(readFileSync(new URL("../../../../docs/reference/mutants.md", import.meta.url), "utf8"));
    assert.deepEqual([...page.keys()].toSorted(), mutants.map(({ name }) => name).toSorted());
    assert.deepEqual(
      [...page].filter(([, said]) => said === "not noticed"),
      [],
    );
  });

  for (const name of ["bundle-owned", "without-a-uuid"])
    it(`are noticed: ${name}`, async () => {
      const mutant = mutants.find((one) => one.name === name);
      assert.ok(mutant !== undefined);
      const outcome = await play(mutant);
      assert.ok(outcome.isCaught, outcome.detail);
    });
});
